"""Takes the texts of a file into a run's responses: once each, whatever is killed in between.

A text's id is a hash of its file's name, its cell and its own key (else its words, and how often they came before), so
that the same row has the same id in each attempt. Responses are written first and the row of the file last: an import
that was killed is repeated, and skips what is there.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import JobHeldError, StoreError, UserError
from polyculture.cache.files import store_faults
from polyculture.cache.identity import content_id, file_sha256
from polyculture.cache.layout import Table
from polyculture.cache.outcome import Outcome, Progress, throttled
from polyculture.cache.parquet import objects_to_table, read_rows, write_parquet
from polyculture.cache.run_folder import Job, RunFolder, unfinished_import
from polyculture.cache.schema import (
    IMPORT_FAILURES,
    IMPORTED_FILES,
    IMPORTED_PROMPTS,
    PROMPTS,
    PUBLISHED_LINKS,
    RESPONSES,
    ImportedFile,
    ImportedPrompt,
    ImportFailure,
    Prompt,
    PublishedLink,
    Response,
)
from polyculture.cache.shards import JobShards, committed_parts
from polyculture.generate.detection import Detection, detect
from polyculture.generate.engines.answer import read_text
from polyculture.generate.engines.imported import PREFIX
from polyculture.generate.refusals import is_refusal
from polyculture.generate.request import imported_request_id
from polyculture.imports.items import by_text
from polyculture.imports.mapping import Columns
from polyculture.imports.published import Published
from polyculture.imports.readers.makieval import shards_of
from polyculture.imports.record import BadRow, Reader, Record
from polyculture.imports.text import NO_SEED, ImportedText, NoTextError, TextReader

WORDING = "imported"  # of all imported prompts: nobody knows which of them ask the same
FLUSH_ROWS = 20_000  # responses held in memory before they are written
KEPT_FAILURES = 100_000  # of one file, as rows; the count is of all


@dataclass(frozen=True, slots=True)
class Taken:
    """The outcome of an import."""

    file: ImportedFile
    reasons: Counter[str]  # why rows were not taken
    before: bool = False  # the same file had been imported: nothing was done
    unread_seeds: int = 0  # texts whose seed is no whole number: it is NULL, and the text's note says it
    versions: bool = False  # taken as a later version of a file of this name
    gone: int = 0  # texts of an earlier version of the file that are no longer in it, and stay


@dataclass
class _Known:
    """What the run has of imported texts."""

    ids: set[str] = field(default_factory=set)
    texts: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)  # by model, prompt_id, language, topic
    prompts: dict[str, Prompt] = field(default_factory=dict)
    by_import: Counter[str] = field(default_factory=Counter)  # texts by import_id


def take_file(
    run: RunFolder,
    path: Path,
    reader: Reader,
    columns: Columns,
    catalog: Catalog,
    progress: Progress,
    *,
    inputs: Path | None = None,
    add: bool = False,
) -> Taken:
    """Takes a file's texts into a run. A file that is there already is not read again.

    Raises `UserError` where the same file was imported by another mapping, where a file of this name was imported with
    another content and `add` does not say to take what is new, or where no row can be taken. Raises `JobHeldError`
    where another import into the run is at work.
    """
    with store_faults(run.root):
        run.root.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(run.root / ".import.lock", timeout=0):
            return _take(run, path, reader, columns, catalog, progress, inputs, add)
    except Timeout as fault:
        raise JobHeldError(f"{run.root}: another import is at work") from fault


def _take(
    run: RunFolder,
    path: Path,
    reader: Reader,
    columns: Columns,
    catalog: Catalog,
    progress: Progress,
    inputs: Path | None,
    add: bool,
) -> Taken:
    sha256 = digest_of(path)
    files = [ImportedFile(**row) for row in _rows(run, IMPORTED_FILES)]
    same = next((file for file in files if file.sha256 == sha256), None)
    if same is not None:
        if not _taken_alike(same, reader, columns):
            what = f"was imported on {same.imported_at} by another mapping; nothing is taken by this one"
            remedy = "Import it into an experiment of its own: --as OTHER.toml."
            raise UserError(what, where=path, remedy=remedy)
        return Taken(same, Counter(), before=True)
    earlier = [file for file in files if file.file == path.name]
    if earlier and not add:
        what = f"has changed since a file of this name was imported on {earlier[-1].imported_at}"
        remedy = (
            "If it is another file, rename one of the files; if it is a later version, take what is new in it: --add."
        )
        raise UserError(what, where=path, remedy=remedy)
    known = _known(run)
    taking, report = _Taking(run, path.name, sha256[:16], catalog, known), throttled(progress)
    rows = reader.read(path, inputs)
    taking.published = Published(run, catalog) if reader.items else None
    for row in by_text(rows, columns) if reader.items else rows:
        taking.take(row, columns)
        report(Outcome(taking.texts + taking.known_texts, taking.reasons.total(), taking.known_texts))
    if not taking.texts and not taking.known_texts:
        most = taking.reasons.most_common(1)
        why = f": of {taking.rows} rows, {most[0][1]} because {most[0][0]}" if most else ": it has no rows"
        raise UserError(f"no text can be taken{why}", where=path, remedy="See docs/importing.md.")
    taking.flush()
    done = ImportedFile(
        import_id=sha256[:16],
        file=path.name,
        sha256=sha256,
        imported_at=datetime.now(UTC).isoformat(timespec="seconds"),
        format=reader.name,
        columns=json.dumps(columns.stored, ensure_ascii=False),
        rows=taking.rows,
        texts=taking.texts + taking.resumed,
        known=taking.known_texts - taking.resumed,
        failed=taking.reasons.total(),
    )
    _write_tables(run, known, taking, [*files, done])
    gone = sum(known.by_import[file.import_id] for file in earlier) - done.known if earlier else 0
    return Taken(done, taking.reasons, unread_seeds=taking.unread_seeds, versions=bool(earlier), gone=gone)


def _taken_alike(file: ImportedFile, reader: Reader, columns: Columns) -> bool:
    """Whether a file was read by this format and mapping."""
    return file.format == reader.name and bool(json.loads(file.columns) == columns.stored)


class _Taking:
    """The rows of one file on their way into a run."""

    def __init__(self, run: RunFolder, name: str, import_id: str, catalog: Catalog, known: _Known) -> None:
        self._run, self._name, self._import_id = run, name, import_id
        self._catalog, self._known = catalog, known
        self._reader = TextReader(catalog)
        self._waiting: dict[Job, list[Response]] = {}
        self._held = 0
        self._repeats = Counter[str]()
        self._seen: set[str] = set()
        self.failures: list[ImportFailure] = []
        self.reasons = Counter[str]()
        self.rows = self.texts = self.known_texts = self.unread_seeds = 0
        self.published: Published | None = None  # the items of the texts, where the file says them
        self.resumed = known.by_import[import_id]  # of an import of this very file that was killed

    def take(self, row: Record | BadRow, columns: Columns) -> None:
        """Takes one row: a response, one that is there already, or a failure with its reason."""
        self.rows += 1
        if isinstance(row, BadRow):
            self._refuse(row)
            return
        try:
            text = self._reader.read(columns.read(row))
            response_id = self._id(text)
        except NoTextError as fault:
            self._refuse(BadRow(row.row, str(fault.args[0]), fault.args[1]))
            return
        prompt = self._prompt(text)
        job = Job(text.model, text.language, text.topic)
        known = response_id in self._known.ids
        response = None if known else self._response(text, prompt, response_id, row.row)
        if self.published is not None:
            # The file's items are looked for in what counts: the text without reasoning and markers.
            said = text if response is None else replace(text, text=response.text or "")
            sample = None if response is None else response.sample
            for bad in self.published.take(row, said, prompt, response_id, job, sample):
                self._refuse(bad)
        if response is None:
            self.known_texts += 1
            return
        self._known.ids.add(response_id)
        self.texts += 1
        self.unread_seeds += f"seed: {NO_SEED}" in (text.note or "")
        self._waiting.setdefault(job, []).append(response)
        self._held += 1
        if self._held >= FLUSH_ROWS:
            self.flush()

    def flush(self) -> None:
        """Writes what waits, a part per job."""
        with store_faults(self._run.root):
            unfinished_import(self._run).write_text(self._name, encoding="utf-8")
        if self.published is not None:
            self.published.flush()
        for job, responses in self._waiting.items():
            with JobShards(self._run, job, [RESPONSES]) as shards:
                shards.append_part({RESPONSES.name: objects_to_table(RESPONSES, responses)})
        self._waiting, self._held = {}, 0

    def _refuse(self, row: BadRow) -> None:
        self.reasons[row.reason] += 1
        if len(self.failures) < KEPT_FAILURES:
            self.failures.append(ImportFailure(self._import_id, self._name, row.row, row.reason, row.value))

    def _id(self, text: ImportedText) -> str:
        cell = (self._name, text.model, text.language, text.topic, text.label, text.country, text.prompt)
        if text.key is None:
            words = content_id(*cell, text.text)
            self._repeats[words] += 1
            return content_id("imported", words, self._repeats[words])
        key, text_id = content_id(*cell, "key", text.key), content_id("imported", *cell, "key", text.key, text.text)
        if key in self._seen:
            raise NoTextError("its id was there before, in the same file", text.key[:80])
        self._seen.add(key)
        return text_id

    def _response(self, text: ImportedText, prompt: Prompt, response_id: str, row: str) -> Response:
        place = (text.model, prompt.prompt_id, text.language, text.topic)
        number = self._known.texts[place]
        self._known.texts[place] += 1
        answer = read_text(text.text, text.finish_reason)
        said = answer.text
        detected = Detection() if said is None else detect(said, self._catalog.language(text.language), self._catalog)
        return Response(
            response_id=response_id,
            request_id=imported_request_id(text.model, prompt.prompt_id),
            prompt_id=prompt.prompt_id,
            model=text.model,
            language=text.language,
            topic=text.topic,
            condition=text.condition,
            country=text.country,
            sample=number,
            seed=text.seed,
            status="failed" if said is None else "ok",
            text=said,
            error=answer.error,
            retryable=None if said is not None else False,
            finish_reason=text.finish_reason,
            ending=answer.ending,
            reasoning=answer.reasoning,
            prompt_tokens=text.prompt_tokens,
            completion_tokens=text.completion_tokens,
            detected_language=detected.language,
            language_confidence=detected.confidence,
            script=detected.script,
            script_share=detected.script_share,
            model_version=None,
            refused=None if said is None else is_refusal(said, text.language),
            note="; ".join(filter(None, (text.note, answer.note))) or None,
            origin=f"{self._import_id}:{row}",
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
    parts = [f"{one.relative_to(path).as_posix()} {file_sha256(one)}" for one in shards_of(path)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _known(run: RunFolder) -> _Known:
    known = _Known(prompts={row["prompt_id"]: Prompt(**row) for row in _rows(run, PROMPTS)})
    for part in committed_parts(run, RESPONSES):
        columns = ("response_id", "model", "prompt_id", "language", "topic", "origin")
        rows = read_rows(part, RESPONSES, columns)
        values = (rows[name].to_pylist() for name in columns)
        for response_id, model, prompt_id, language, topic, origin in zip(*values, strict=True):
            if origin is None or not model.startswith(PREFIX):
                what = "holds generated texts: imported ones need an experiment of their own"
                raise StoreError(what, where=run.root, remedy="Name another file with --as.")
            known.ids.add(response_id)
            known.texts[model, prompt_id, language, topic] += 1
            known.by_import[origin.partition(":")[0]] += 1
    return known


def _write_tables(run: RunFolder, known: _Known, taking: _Taking, files: list[ImportedFile]) -> None:
    counts = [
        ImportedPrompt(model, prompt_id, language, topic, texts)
        for (model, prompt_id, language, topic), texts in sorted(known.texts.items())
    ]
    failures = [ImportFailure(**row) for row in _rows(run, IMPORT_FAILURES)]
    write_parquet(objects_to_table(PROMPTS, list(known.prompts.values())), run.table(PROMPTS.name))
    write_parquet(objects_to_table(IMPORTED_PROMPTS, counts), run.table(IMPORTED_PROMPTS.name))
    refused = [one for one in failures if one.import_id != files[-1].import_id] + taking.failures
    write_parquet(objects_to_table(IMPORT_FAILURES, refused), run.table(IMPORT_FAILURES.name))
    if taking.published is not None:
        links = [PublishedLink(**row) for row in _rows(run, PUBLISHED_LINKS)]
        mine = taking.published.links(files[-1].import_id)
        counted = {_meaning(link) for link in mine}
        same = {file.import_id for file in files if file.file == files[-1].file}  # earlier versions, counted again
        links = [link for link in links if link.import_id not in same or _meaning(link) not in counted] + mine
        write_parquet(objects_to_table(PUBLISHED_LINKS, links), run.table(PUBLISHED_LINKS.name))
    write_parquet(objects_to_table(IMPORTED_FILES, files), run.table(IMPORTED_FILES.name))
    unfinished_import(run).unlink(missing_ok=True)


def _meaning(link: PublishedLink) -> tuple[str, ...]:
    return link.language, link.topic, link.kind, link.surface, link.qid


def _rows(run: RunFolder, table: Table[Any]) -> Iterator[dict[str, Any]]:
    path = run.table(table.name)
    return iter(read_rows(path, table).to_pylist() if path.exists() else [])
