"""Takes the texts of a file into a run's responses: once each, whatever is killed in between.

A text's id is a hash of its file's name, its cell and its own key (else its words, and how often they came before), so
that the same row has the same id in each attempt. They are written beside the run and moved in as a whole
(`imports.incoming`).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import StoreError, UserError
from polyculture.cache.files import store_faults
from polyculture.cache.identity import content_id, file_sha256
from polyculture.cache.locks import Lock
from polyculture.cache.store.inventory import LostPart, remedy_of_part, require_table
from polyculture.cache.store.layout import Table
from polyculture.cache.store.parquet import objects_to_table, read_rows, write_parquet
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import (
    EXTRACTIONS,
    IMPORT_FAILURES,
    IMPORTED_FILES,
    IMPORTED_PROMPTS,
    MENTIONS,
    PROMPTS,
    PUBLISHED_ITEMS,
    RESPONSES,
    ImportedFile,
    ImportedPrompt,
    ImportFailure,
    Prompt,
    Response,
)
from polyculture.cache.store.shards import JobShards, committed_parts
from polyculture.cache.text.sanitize import CUT_WORDS
from polyculture.cache.work.outcome import Outcome, Progress, throttled
from polyculture.generate.engines.answer import completed
from polyculture.generate.engines.imported import PREFIX
from polyculture.generate.request import imported_request_id
from polyculture.generate.response import response_row
from polyculture.imports.incoming import Seal, finish_incoming, new_incoming, seal_incoming, unreadable
from polyculture.imports.items import PublishedItems
from polyculture.imports.mapping import Columns
from polyculture.imports.shapes import ShapedFile
from polyculture.imports.survey import check, survey, texts_of
from polyculture.imports.text import NO_SEED, ImportedText
from polyculture.sources.files import data_files
from polyculture.sources.record import BadRow, Record

WORDING = "imported"  # of all imported prompts: nobody knows which of them ask the same
FLUSH_ROWS = 20_000  # responses held in memory before they are written
KEPT_FAILURES = 100_000  # of one file, as rows; the count is of all
Again = Callable[[str], bool]
_MADE = {table.name: table for table in (MENTIONS, EXTRACTIONS, RESPONSES)}  # their parts may be a model's


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """The outcome of an import."""

    file: ImportedFile
    reasons: Counter[str]  # why rows were not taken
    columns: Columns | None = None  # by which it was read; None where the same file had been imported: nothing was done
    unread_seeds: int = 0  # texts whose seed is no whole number: it is NULL, and the text's note says it
    empty: int = 0  # texts of no letter: answers that name nothing
    broken: int = 0  # answers without a text, which failed
    cut: int = 0  # texts that lost words behind the end of their turn
    replaced: int = 0  # texts of an earlier import that this one replaces
    types: frozenset[str] = frozenset()  # of items, as the file names them
    mended: Sequence[LostPart] = ()  # parts of the run that could not be read, whose rows were made again


@dataclass
class _StoredTexts:
    """What the run has of imported texts."""

    texts: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)  # by model, prompt_id, language, topic
    prompts: dict[str, Prompt] = field(default_factory=dict)


def take_file(
    run: RunFolder,
    source: ShapedFile,
    columns: Columns,
    catalog: Catalog,
    progress: Progress,
    *,
    again: Again = lambda _: False,
    skip_rows: bool = False,
) -> ImportOutcome:
    """Takes a file's texts into a run. Of a file that is there already by the same columns nothing is taken, unless its
    rows cannot be read: then they are made again, with the ids that they had.

    `again` is told what is there of the file already, and says whether to take it anew in place of that.
    Raises `UserError` where it is not, and where rows cannot be taken and `skip_rows` does not say to leave them.
    Raises `JobHeldError` where another import into the run is at work.
    """
    with store_faults(run.root):
        run.root.mkdir(parents=True, exist_ok=True)
    with ExitStack() as locked:
        with store_faults(run.root):
            locked.enter_context(Lock(run.root / ".import.lock", f"the lock of imports into {run.root}"))
        finish_incoming(run)
        return _take(run, source, columns, catalog, progress, again, skip_rows)


def _take(
    run: RunFolder,
    source: ShapedFile,
    columns: Columns,
    catalog: Catalog,
    progress: Progress,
    again: Again,
    skip_rows: bool,
) -> ImportOutcome:
    path, sha256 = source.path, digest_of(source.path)
    found = survey(source, columns, catalog)
    columns = found.columns
    for table in (IMPORTED_FILES, PROMPTS):
        require_table(run, table.name)
    files = [ImportedFile(**row) for row in _rows(run, IMPORTED_FILES)]
    same = next((file for file in files if file.sha256 == sha256), None)
    earlier = [file for file in files if file.file == path.name or file.sha256 == sha256]
    unchanged = same is not None and same.format == source.format and json.loads(same.columns) == columns.stored
    broken = unreadable(run)
    mended = [part for part in broken.values() if part.source in {file.file for file in earlier}]
    there = ""
    if same is not None and not unchanged:
        there = f"was imported on {same.imported_at} by other columns; texts: {same.texts}"
    elif earlier and same is None:
        there = f"has changed since it was imported on {earlier[-1].imported_at}; texts then: {earlier[-1].texts}"
    elif same is not None and not mended:
        return ImportOutcome(same, Counter())
    if there and mended:
        there += f"; of these, {mended[0].path} {mended[0].what}"
    replace_it = bool(there) and again(there)
    check(found, path, skip_rows)
    if there and not replace_it:
        remedy = "Take it anew in place of that: --replace. If it is another file, rename one of the two."
        raise UserError(there, where=path, remedy=remedy)
    _check_parts(run, broken.values(), mended)
    kept = [file for file in files if file not in earlier]
    incoming = new_incoming(run)
    try:
        taken = _written(run, incoming, source, columns, catalog, progress, sha256, kept, earlier, broken.keys())
    finally:
        finish_incoming(run)
    return replace(taken, mended=mended)


def _check_parts(run: RunFolder, broken: Collection[LostPart], mended: Sequence[LostPart]) -> None:
    """Raises `StoreError` where other rows of the run cannot be read, so that nobody knows how many texts a prompt has.

    Rows of several files may be lost at once, and each of them is imported again by a command of its own: where one of
    them is mended, those of other files are no error. Raises it, too, where a part to be made again is in another
    folder, which is not ours.
    """
    for part in broken:
        is_others = part.source is not None and not mended
        if is_others or (part.source is None and part.damage is not None):
            remedy = remedy_of_part(_MADE[part.table], part.source, is_there=part.path.exists())
            raise StoreError(part.what, where=part.path, remedy=remedy)
    for part in mended:
        folder = part.path.parent.resolve()
        if not folder.is_relative_to(run.root.resolve()):
            what = f"is a link to {folder}, out of the run's folder"
            raise StoreError(what, where=part.path.parent, remedy="Move the folder itself to this place.")


def _written(
    run: RunFolder,
    incoming: RunFolder,
    source: ShapedFile,
    columns: Columns,
    catalog: Catalog,
    progress: Progress,
    sha256: str,
    kept: Sequence[ImportedFile],
    replaced: Sequence[ImportedFile],
    unread: Collection[Path],
) -> ImportOutcome:
    """Writes the texts of a file into `incoming`, and seals it.

    `kept` are the other imports; `unread` are parts of the run that cannot be read.
    """
    path, ids = source.path, [file.import_id for file in kept] if replaced else None
    known = _known(run, ids, unread)
    taking, report = _IncomingRows(incoming, path.name, sha256[:16], catalog, known), throttled(progress)
    taking.published = PublishedItems(incoming, catalog, sha256[:16]) if columns.items else None
    for one in texts_of(source, columns, catalog):
        taking.take(one)
        report(Outcome(taking.texts, taking.reasons.total()))
    taking.flush()
    done = ImportedFile(
        import_id=sha256[:16],
        file=path.name,
        sha256=sha256,
        imported_at=datetime.now(UTC).isoformat(timespec="seconds"),
        format=source.format,
        columns=json.dumps(columns.stored, ensure_ascii=False),
        rows=taking.rows,
        texts=taking.texts,
        failed=taking.reasons.total(),
    )
    _write_tables(run, incoming, known, taking, [*kept, done])
    seal_incoming(run, Seal(path.name, ids, [file.file for file in replaced]))
    return ImportOutcome(done, taking.reasons, columns, taking.unread_seeds, taking.empty, taking.broken, taking.cut,
                 sum(file.texts for file in replaced),
                 taking.published.types if taking.published else frozenset())  # fmt: skip


@dataclass(frozen=True, slots=True)
class _PendingText:
    """A text that is not yet a row."""

    text: ImportedText
    prompt: Prompt
    response_id: str
    row: str
    sample: int


class _IncomingRows:
    """The rows of one file on their way into a run."""

    def __init__(self, run: RunFolder, name: str, import_id: str, catalog: Catalog, known: _StoredTexts) -> None:
        self._run, self._name, self._import_id = run, name, import_id
        self._catalog, self._known = catalog, known
        self._waiting: dict[Job, list[_PendingText]] = {}
        self._held = 0
        self._repeats = Counter[str]()
        self.failures: list[ImportFailure] = []
        self.reasons = Counter[str]()
        self.rows = self.texts = self.unread_seeds = self.empty = self.broken = self.cut = 0
        self.published: PublishedItems | None = None  # the items of the texts, where the file says them

    def take(self, one: tuple[Record, ImportedText] | BadRow) -> None:
        """Takes one row: a response, or a failure with its reason."""
        self.rows += 1
        if isinstance(one, BadRow):
            self._refuse(one)
            return
        row, text = one
        response_id = self._id(text)
        prompt = self._prompt(text)
        job = Job(text.model, text.language, text.topic)
        place = (text.model, prompt.prompt_id, text.language, text.topic)
        sample = self._known.texts[place]
        if self.published is not None:
            # The file's items are looked for in what counts: the text without reasoning and markers.
            for bad in self.published.take(row, text, prompt, response_id, job, sample):
                self._refuse(bad)
        self._known.texts[place] += 1
        self.texts += 1
        self.empty += text.answer.text is not None and not text.answer.text.strip()
        self.broken += text.answer.text is None
        self.unread_seeds += f"seed: {NO_SEED}" in (text.note or "")
        self.cut += CUT_WORDS in (text.note or "")
        self._waiting.setdefault(job, []).append(_PendingText(text, prompt, response_id, row.row, sample))
        self._held += 1
        if self._held >= FLUSH_ROWS:
            self.flush()

    def flush(self) -> None:
        """Writes what waits, a part per job."""
        if self.published is not None:
            self.published.flush()
        # One language after the other: what its detection and its refusals need stays in the processor's cache.
        for job, waiting in sorted(self._waiting.items(), key=lambda one: one[0].language):
            responses = [self._response(job, one) for one in waiting]
            with JobShards(self._run, job, [RESPONSES]) as shards:
                shards.append_part({RESPONSES.name: objects_to_table(RESPONSES, responses)})
        self._waiting, self._held = {}, 0

    def _refuse(self, row: BadRow) -> None:
        self.reasons[row.reason] += 1
        if len(self.failures) < KEPT_FAILURES:
            self.failures.append(ImportFailure(self._import_id, self._name, row.row, row.reason, row.value))

    def _id(self, text: ImportedText) -> str:
        if text.key is not None:
            return content_id("imported", self._name, *text.cell, "key", text.key)
        words = content_id(self._name, *text.cell, text.text)
        self._repeats[words] += 1
        return content_id("imported", words, self._repeats[words])

    def _response(self, job: Job, one: _PendingText) -> Response:
        text = one.text
        completion = completed(imported_request_id(text.model, one.prompt.prompt_id), 0, text.answer)
        found = response_row(completion, one.prompt, job, one.sample, text.seed, self._catalog)
        return replace(
            found,
            response_id=one.response_id,
            retryable=None if found.text is not None else False,
            prompt_tokens=text.prompt_tokens,
            completion_tokens=text.completion_tokens,
            purchase=None,
            reasoning_tokens=None,
            note=text.note,
            origin=f"{self._import_id}:{one.row}",
        )

    def _prompt(self, text: ImportedText) -> Prompt:
        cell = (text.language, text.topic, text.condition, text.country)
        prompt_id = content_id(*cell, "imported", text.prompt)
        prompt = self._known.prompts.get(prompt_id)
        if prompt is None:
            prompt = Prompt(prompt_id, *cell, None, text.prompt or "", WORDING)
            self._known.prompts[prompt_id] = prompt
        return prompt


def digest_of(path: Path) -> str:
    """The SHA-256 of a file's bytes; of a folder that of its files' names and bytes."""
    if not path.is_dir():
        return file_sha256(path)
    parts = [f"{one.relative_to(path).as_posix()} {file_sha256(one)}" for one in data_files(path)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _known(run: RunFolder, kept: Sequence[str] | None, unread: Collection[Path]) -> _StoredTexts:
    """What the run has of imported texts, those of the imports `kept` alone; None: all of them. Nothing is known of the
    parts `unread`."""
    known = _StoredTexts(prompts={row["prompt_id"]: Prompt(**row) for row in _rows(run, PROMPTS)})
    for part in committed_parts(run, RESPONSES):
        if part in unread:
            continue
        columns = ("model", "prompt_id", "language", "topic", "origin")
        rows = read_rows(part, RESPONSES, columns)
        values = (rows[name].to_pylist() for name in columns)
        for model, prompt_id, language, topic, origin in zip(*values, strict=True):
            if origin is None or not model.startswith(PREFIX):
                what = "holds generated texts: imported ones need an experiment of their own"
                raise StoreError(what, where=run.root, remedy="Name another file with --as.")
            if kept is not None and origin.partition(":")[0] not in kept:
                continue
            known.texts[model, prompt_id, language, topic] += 1
    return known


def _write_tables(
    run: RunFolder, incoming: RunFolder, known: _StoredTexts, taking: _IncomingRows, files: Sequence[ImportedFile]
) -> None:
    """Writes the tables that take the place of the run's: the prompts of all texts, how many texts each has, ..."""

    def write(table: Table[Any], rows: pa.Table) -> None:
        write_parquet(rows, incoming.table(table.name))

    counts = [
        ImportedPrompt(model, prompt_id, language, topic, texts)
        for (model, prompt_id, language, topic), texts in sorted(known.texts.items())
    ]
    used = {prompt_id for _, prompt_id, _, _ in known.texts}
    prompts = [prompt for prompt in known.prompts.values() if prompt.prompt_id in used]
    write(PROMPTS, objects_to_table(PROMPTS, prompts))
    write(IMPORTED_PROMPTS, objects_to_table(IMPORTED_PROMPTS, counts))
    ids = {file.import_id for file in files[:-1]}
    failures = [failure for row in _rows(run, IMPORT_FAILURES) if (failure := ImportFailure(**row)).import_id in ids]
    write(IMPORT_FAILURES, objects_to_table(IMPORT_FAILURES, failures + taking.failures))
    path = run.table(PUBLISHED_ITEMS.name)
    if taking.published is not None or path.exists():
        mine = objects_to_table(PUBLISHED_ITEMS, taking.published.items if taking.published is not None else [])
        before = read_rows(path, PUBLISHED_ITEMS) if path.exists() else mine.slice(0, 0)
        others = pc.is_in(before["import_id"], pa.array(sorted(ids), pa.string()))
        write(PUBLISHED_ITEMS, pa.concat_tables([before.filter(others), mine]))
    write(IMPORTED_FILES, objects_to_table(IMPORTED_FILES, files))


def _rows(run: RunFolder, table: Table[Any]) -> Iterator[dict[str, Any]]:
    path = run.table(table.name)
    return iter(read_rows(path, table).to_pylist() if path.exists() else [])
