"""Which rows of a run are current, and what a changed experiment file or command makes stale.

This is what the front door does with an instrument's `Validity` (`instruments/contract.py`), and with that of the
texts. A call proposes a manifest and tables that say which rows are current. `make_valid` writes them. Where a model
would have to make rows again that are current in the last run, nothing is asked unless that is accepted.

Rows of other settings stay on disk, out of every view, and are current again when the settings come back. More samples,
models, languages, prompts or questions make no row stale; neither do fewer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.cache.errors import ChangedExperimentError
from polyculture.cache.files import store_faults
from polyculture.cache.identity import content_id
from polyculture.cache.locks import Lock
from polyculture.cache.log import get_logger
from polyculture.cache.store.layout import Layout, Table
from polyculture.cache.store.manifest import Manifest, read_manifest, require_run, write_manifest
from polyculture.cache.store.parquet import is_stored, read_rows
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import EXTRACTIONS, PROMPTS, RESPONSES, TEXT_STAGES
from polyculture.cache.store.store import open_store
from polyculture.cache.work.worker import Step, Work, models_of, unanswered
from polyculture.generate.engines import ENGINES
from polyculture.generate.engines.models import Models
from polyculture.instruments.contract import Validity
from polyculture.running.layout import layout_of

if TYPE_CHECKING:
    import pyarrow as pa

    from polyculture.cache.store.store import Store
    from polyculture.experiment.workspace import Workspace

_log = get_logger(__name__)

PRESENT_LOCK = ".present.lock"  # of whoever changes what is the run's present
READER = "reader "  # how the keys of readers begin among what is asked: to read answers again asks nobody
Place = tuple[str, ...]  # a table, and a job by the columns that the table has of it
Rows = Counter[Place]
_DECIDING = ("models", "extractor", "extractor_ids", "reader_id", "asked", "setups")  # of a manifest: which rows count
_SAMPLING_TOPS_UP = "n"  # more samples are added to the existing ones
_ADDRESS = "base_url"  # of a server, in a setup
_WORDING = "prompt"  # among the settings of what is asked: a hash of words
_SHOWN = 3  # of what is asked, in a line
_STAGE_OF = {"sample": "generate", "extract": "extract"}  # of the uses of models: whose rows texts are

_JOB = ("model", "language", "topic")
_CURRENT = "SELECT {columns}, count(*) FROM {view} WHERE status = 'ok' GROUP BY ALL"
# Texts by cell, for their prompts may be more or fewer: which requests have an answer, and which have none.
_ANSWERED = """
SELECT model, language, topic, condition, country, count(DISTINCT request_id), count(*)
FROM responses WHERE status = 'ok' GROUP BY ALL
"""
_WAITING = """
SELECT w.model, p.language, p.topic, p.condition, p.country
FROM wanted_responses AS w INNER JOIN prompts AS p USING (prompt_id)
WHERE w.request_id NOT IN (SELECT request_id FROM responses WHERE status = 'ok') GROUP BY ALL
"""


class _NotSet:
    def __repr__(self) -> str:
        return "not set"


_NOT_SET = _NotSet()


@dataclass(frozen=True, slots=True)
class Change:
    """One setting that differs from the last run's, and the stage of texts whose rows it makes stale."""

    setting: str
    before: Any
    now: Any
    stage: str = ""  # 'generate' | 'extract' | 'link'; empty of an instrument
    line: str = ""  # what is said of it, where two values would say less

    def __str__(self) -> str:
        return self.line or f"{self.setting} was {self.before!r} and is now {self.now!r}"


@dataclass(frozen=True)
class Proposal:
    """What a call would make the run's present."""

    workspace: Workspace
    manifest: Callable[[Manifest | None], Manifest]  # from the last run's, the one that says which rows are current
    validity: Validity
    steps: Sequence[Step[Any, Models]]
    whole: Callable[[Manifest | None], bool]  # whether the experiment's prompts and requests are renewed, too

    def compared(self, before: Manifest | None) -> Comparison:
        """The proposal beside the last run."""
        now, run = self.manifest(before), self.workspace.run
        texts = self.workspace.text_tables(now) if self.whole(before) else {}
        proposed = {**texts, **self.validity.tables()}
        tables = {table: rows for table, rows in proposed.items() if not is_stored(rows, run.table(table.name))}
        return Comparison(self, before, now if before is None else now.following(before), tables)


def of_instrument(
    workspace: Workspace, instrument: str, validity: Validity, steps: Sequence[Step[Any, Models]] = ()
) -> Proposal:
    """The proposal of an instrument: its setups and ids among those of the last run.

    Texts that the run has stay as they are, whatever the experiment file says of them now: `run` asks for these.
    """

    def has_no_texts(before: Manifest | None) -> bool:
        return before is None or not before.topics

    def manifest(before: Manifest | None) -> Manifest:
        base = workspace.manifest(before) if before is None or has_no_texts(before) else before
        if base.models != list(workspace.experiment.models):
            told = workspace.manifest(before)
            setups = {**told.setups, **base.setups}
            facts = {"models": told.models, "prices": told.prices, "model_facts": told.model_facts}
            base = base.model_copy(update={**facts, "setups": setups})
        readers = {f"{READER}{key}": reader for key, reader in validity.readers.items()}
        ids, settings = {**validity.ids, **readers}, dict(validity.settings)
        own = {key: dict(setup) for key, setup in validity.setups.items()}
        changed: dict[str, Any] = {"setups": {**base.setups, **own}}
        if ids:
            changed["asked"] = {**base.asked, instrument: {**base.asked.get(instrument, {}), **ids}}
        if settings:
            known = base.asked_settings.get(instrument, {})
            changed["asked_settings"] = {**base.asked_settings, instrument: {**known, **settings}}
        return base.model_copy(update=changed)

    return Proposal(workspace, manifest, validity, steps, has_no_texts)


@dataclass(frozen=True)
class Comparison:
    """What would be the run's present, beside what is."""

    of: Proposal
    before: Manifest | None
    now: Manifest
    tables: Mapping[Table[Any], pa.Table]  # those that are to be written

    def tell(self) -> None:
        """Says what has changed, and which rows are no longer current for it."""
        for line in self.lines:
            _log.warning(line)

    def check(self) -> None:
        """Raises `ChangedExperimentError` where a model would have to make current rows again."""
        redone = self._redone()
        if redone:
            file = self.of.workspace.file
            stages = {_stage(table) for table in redone}
            changes = [change for change in self.changes if change.stage in stages]
            raise _refusal(file, changes, self.of.validity.reason, _in_words(redone))

    @cached_property
    def lines(self) -> list[str]:
        """What has changed, and which rows are no longer current for it."""
        lost = Counter[str]()
        for place, number in self._lost.items():
            lost[place[0]] += number
        rows = _in_words({table: lost[table.name] for table in self._counted if lost[table.name]})
        changes = [change for change in self.changes if rows or change.stage == "link"]
        reasons = list(map(str, changes)) or ([self.of.validity.reason] if self.of.validity.reason and rows else [])
        if not reasons:
            return []
        what = f"{rows} of the last run are no longer current: they stay on disk, and are current again when that "
        return [f"{'; '.join(reasons)}. {f'{what}comes back' if rows else 'What follows from it is made again'}"]

    @cached_property
    def changes(self) -> list[Change]:
        """The settings that differ and decide which rows are current."""
        if self.before is None:
            return []
        return _changes(self.before, self.now, _reworded(self.of.workspace) if self.of.whole(self.before) else 0)

    @cached_property
    def _lost(self) -> Rows:
        """The answered rows that are current in the last run and would not be."""
        before = self.before
        if before is None or not (self.tables or any(getattr(before, n) != getattr(self.now, n) for n in _DECIDING)):
            return Counter()
        with self._store(before) as store:
            was = _current(store, self._counted)
        if not was:
            return Counter()
        with self._store() as store:
            return was - _current(store, self._counted)

    def _redone(self) -> dict[Table[Any], int]:
        """How many of these rows a model would have to make again, by table.

        What other runs hold, and what this one has on disk of former settings, nobody makes again.
        """
        lost, found = self._lost, Counter[Table[Any]]()
        for table, counted in ((RESPONSES, self._replaced), (EXTRACTIONS, self._read_otherwise)):
            others = Counter({place: number for place, number in lost.items() if place[0] != table.name})
            lost = others + counted() if others.total() < lost.total() else lost
        for step in self.of.steps if lost else ():
            table = step.tables[-1]
            for work in step.works():
                place = table.name, *(getattr(work.job, name) for name in _job_columns(table))
                if lost[place] and _is_costly(work):
                    missing = unanswered(self.of.workspace.run, step, work)[1]
                    number = min(lost[place], sum(len(step.keys(item)) for item in missing))
                    lost[place] -= number
                    found[table] += number
        return {table: number for table, number in found.items() if number}

    def _replaced(self) -> Rows:
        """The texts that others would take the place of, in their cell of topic, condition and country: more or fewer
        prompts, or samples, replace nothing."""
        found: Rows = Counter()
        if self.before is None:
            return found
        with self._store(self.before) as store:
            was = {tuple(cell): (requests, rows) for *cell, requests, rows in store.sql(_ANSWERED).fetchall()}
        with self._store() as store:
            is_now = {tuple(cell): (requests, rows) for *cell, requests, rows in store.sql(_ANSWERED).fetchall()}
            waiting = store.sql(_WAITING).fetchall()
        for cell in filter(was.__contains__, waiting):
            (requests, rows), (requests_now, rows_now) = was[cell], is_now.get(cell, (0, 0))
            if requests_now < requests:
                found[RESPONSES.name, *cell[:3]] += max(rows - rows_now, 0)
        return found

    def _read_otherwise(self) -> Rows:
        """The extractions of texts that are still current. Nobody reads the other texts again."""
        columns = _job_columns(EXTRACTIONS)
        extracted = f"SELECT {', '.join(columns)}, response_id FROM extractions WHERE status = 'ok'"  # noqa: S608  ours
        with self._store(self.before) as store:
            was = store.sql(extracted).fetchall()
        with self._store() as store:
            texts = {text for (text,) in store.sql("SELECT response_id FROM responses").fetchall()}
            still = {row[-1] for row in store.sql(extracted).fetchall()}
        return Counter((EXTRACTIONS.name, *job) for *job, text in was if text in texts and text not in still)

    @cached_property
    def _layout(self) -> Layout:
        """What the run has when it is first looked at: meanwhile other processes may begin more tables."""
        return layout_of(self.of.workspace.run)

    @cached_property
    def _counted(self) -> list[Table[Any]]:
        """The tables of the run whose rows have a state, and are current or not."""
        tables = [table for table in self._layout.tables if table.wanted is not None and "status" in table.columns]
        return [table for table in tables if (self.of.workspace.run.root / table.name).exists()]

    def _store(self, before: Manifest | None = None) -> Store:
        """The run as it is, or as it would be."""
        run = self.of.workspace.run
        rows = {} if before is not None else _by_name(run, self.tables)
        return open_store(run, self._layout, manifest=before or self.now, rows=rows)


def check(proposal: Proposal) -> None:
    """Raises `ChangedExperimentError` where a model would have to make rows again that are current now."""
    proposal.compared(proposal.workspace.before).check()


def make_valid(proposal: Proposal, *, accept_changes: bool) -> Manifest:
    """Makes what a call proposes the run's present, and returns its manifest.

    Rows that are no longer current stay on disk; a line says how many, and why. Raises `ChangedExperimentError`, and
    changes nothing, where a model would have to make rows again and that was not accepted.
    """
    workspace = proposal.workspace
    with store_faults(workspace.run.root):
        workspace.run.root.mkdir(parents=True, exist_ok=True)
    with Lock(workspace.run.root / PRESENT_LOCK, wait=True):  # others may do the same for other models of the run
        before = read_manifest(workspace.run.manifest)
        compared = proposal.compared(before)
        if not accept_changes:
            compared.check()
        _ = compared.lines  # they count the rows of the last run, which is about to end
        workspace.write_tables(compared.tables)
        if before is None or before.models != compared.now.models or proposal.whole(before):
            workspace.write_experiment()
        if compared.now != before:
            write_manifest(compared.now, workspace.run.manifest)
    compared.tell()
    return compared.now


def changed_lines(workspace: Workspace, so: str = "these numbers are of the last run") -> list[str]:
    """A line per change of the experiment file's sampling since the run: its numbers are of what was asked before."""
    before = workspace.before
    if before is None or not before.topics:  # it has no texts
        return []
    changes = _changes(before, workspace.manifest(), _reworded(workspace))
    told = [change for change in changes if change.stage == "generate"]
    return [f"{workspace.file}: {change}; {so}" for change in told]


def warn_of_changes(workspace: Workspace) -> None:
    """Warns where the run has other sampling settings than the experiment file has now."""
    for line in changed_lines(workspace):
        _log.warning(line)


def amend_manifest(workspace: Workspace, changes: Mapping[str, Any]) -> Manifest:
    """Changes some fields of the run's manifest, and keeps what others have written there meanwhile."""
    with Lock(workspace.run.root / PRESENT_LOCK, wait=True):
        manifest = require_run(workspace.run)
        amended = manifest.model_copy(update=dict(changes))
        if amended != manifest:
            write_manifest(amended, workspace.run.manifest)
    return amended


def record_facts(workspace: Workspace) -> None:
    """Records what the experiment file says of its models in the run, where it has changed: nothing else does."""
    facts = workspace.experiment.facts_of_models
    if require_run(workspace.run).model_facts != facts:
        amend_manifest(workspace, {"model_facts": facts})


def _refusal(file: Path, changes: Sequence[Change], reason: str, what: str) -> ChangedExperimentError:
    """The error for changes that were not accepted; `what` would have to be made again."""
    told = "; ".join(map(str, changes)) or reason or "other rows are asked for"
    return ChangedExperimentError(
        f"changed since its last run: {told}. To be redone: {what}, and everything that depends on them",
        where=file,
        remedy="Run with --accept-changes, or change the name to keep both; the present rows stay on disk and count "
        f"again when the setting comes back.{_moved(changes)}",
    )


def _moved(changes: Sequence[Change]) -> str:
    """How the same server may move to another address."""
    if not any(change.setting.endswith(f" {_ADDRESS}") for change in changes):
        return ""
    return " If it is the same server at another address, write its former one as `deployment` into the options."


def _changes(before: Manifest, now: Manifest, reworded: int) -> list[Change]:
    """The settings that differ between two manifests of a run and make rows stale, where so many prompts of texts are
    worded otherwise. What only adds rows is not among them.
    """
    changes = [*_of_setups(before, now), *_of_sentences(before, now)]
    if before.sampling:
        changes += _differences("sampling", before.sampling, now.sampling, "generate", besides=_SAMPLING_TOPS_UP)
    if reworded:
        changes += _differences("prompts", before.prompts, now.prompts, "generate")
        line = "1 prompt has another text" if reworded == 1 else f"{reworded} prompts have another text"
        changes.append(Change("prompts", _NOT_SET, reworded, "generate", line))
    changes += _of_extraction(before, now, changes)
    if before.linker_id and before.linker_id != now.linker_id:
        changes += _differences("link", before.linker, now.linker, "link")
    return [*changes, *_of_asked(before, now)]


def _of_setups(before: Manifest, now: Manifest) -> Iterator[Change]:
    """What differs between the setups of a model for a use."""
    for key, setup in now.setups.items():
        use, _, model = key.partition(" ")
        if (known := before.setups.get(key)) is not None:
            yield from _differences(f"{model}: ", known, setup, _STAGE_OF.get(use, ""))


def _of_sentences(before: Manifest, now: Manifest) -> Iterator[Change]:
    """The sentences that stand behind the prompts of some models alone, where they are others."""
    languages = [language for language in before.languages if language in now.languages]
    for model in filter(now.models.__contains__, before.models):
        was, is_now = ({lang: m.appended.get(model, {}).get(lang) for lang in languages} for m in (before, now))
        for language in languages:
            if was[language] != is_now[language]:
                yield Change(
                    f"{model}: answer_in_language", was[language] or _NOT_SET, is_now[language] or _NOT_SET, "generate"
                )
                break


def _of_extraction(before: Manifest, now: Manifest, others: Sequence[Change]) -> list[Change]:
    """What of the extraction differs. What no setting shows, as the text of a prompt or a topic, has its own line."""
    topics = [topic for topic, made in now.extractor_ids.items() if before.extractor_ids.get(topic, made) != made]
    if not topics:
        return []
    changes = _differences("extract", before.extractor, now.extractor, "extract")
    if all(change.setting == "extract.sample" for change in changes) and "extract" not in {c.stage for c in others}:
        line = (
            f"the extractor is asked otherwise about {', '.join(topics)}: another instruction, topic or limit of tokens"
        )
        changes.append(Change("extract of topics", _NOT_SET, topics, "extract", line))
    return changes


def _of_asked(before: Manifest, now: Manifest) -> Iterator[Change]:
    """What instruments ask otherwise: each difference once, with what is asked so."""
    places: dict[str, list[str]] = {}
    found: dict[str, Change] = {}
    for instrument, ids in now.asked.items():
        known = before.asked.get(instrument, {})
        for key, asked in ids.items():
            if known.get(key, asked) == asked or key.startswith(READER):
                continue
            was, is_now = (one.asked_settings.get(instrument, {}).get(key, {}) for one in (before, now))
            changes = _differences("", was, is_now, "") if was and is_now else []
            for change in changes or [Change("", _NOT_SET, _NOT_SET, line="it is asked otherwise")]:
                told = "the prompt has another text" if change.setting == _WORDING else str(change)
                found[told] = change
                places.setdefault(told, []).append(key)
    for told, change in found.items():
        keys = places[told]
        more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
        yield Change(change.setting, change.before, change.now, line=f"{', '.join(keys[:_SHOWN])}{more}: {told}")


def _differences(
    section: str, before: Mapping[str, Any], now: Mapping[str, Any], stage: str, besides: str = ""
) -> list[Change]:
    keys = [key for key in {**before, **now} if key != besides]
    values = [(key, before.get(key), now.get(key)) for key in keys]
    head = f"{section}." if section and not section.endswith(" ") else section
    return [
        Change(f"{head}{key}", before.get(key, _NOT_SET), now.get(key, _NOT_SET), stage)
        for key, was, is_now in values
        if content_id(was) != content_id(is_now)
    ]


def _reworded(workspace: Workspace) -> int:
    """The number of prompts whose text took the place of another one since the last run, in their cells."""
    path = workspace.run.table("prompts")
    if not path.exists():
        return 0
    rows = read_rows(path, PROMPTS, ["language", "topic", "condition", "country", "prompt_id"]).to_pylist()
    cells = ("language", "topic", "condition", "country")
    before = _by_cell((tuple(row[key] for key in cells), row["prompt_id"]) for row in rows)
    now = _by_cell(((p.language, p.topic, p.condition, p.country), p.prompt_id) for p in workspace.prompts)
    # Prompts that a cell gains or loses are more or fewer wordings and names: they make no row stale.
    return sum(min(len(old - now[cell]), len(now[cell] - old)) for cell, old in before.items() if cell in now)


def _by_cell(prompts: Iterable[tuple[tuple[str | None, ...], str]]) -> dict[tuple[str | None, ...], set[str]]:
    found: dict[tuple[str | None, ...], set[str]] = {}
    for cell, prompt_id in prompts:
        found.setdefault(cell, set()).add(prompt_id)
    return found


def _is_costly(work: Work[Any]) -> bool:
    """Whether an engine makes the rows of a work: what else makes rows costs nothing."""
    return any(model.partition(":")[0] in ENGINES for model in models_of(work))


def _current(store: Store, tables: Iterable[Table[Any]]) -> Rows:
    """How many rows of each job are current, without failures."""
    found: Rows = Counter()
    for table in tables:
        query = _CURRENT.format(columns=", ".join(_job_columns(table)), view=table.name)
        for *job, number in store.sql(query).fetchall():
            found[table.name, *job] = number
    return found


def _job_columns(table: Table[Any]) -> tuple[str, ...]:
    """The columns of a table that name the job of a row."""
    return tuple(name for name in _JOB if name in table.columns)


def _by_name(run: RunFolder, tables: Mapping[Table[Any], pa.Table]) -> dict[str, pa.Table]:
    """Rows by the name of their table; of one that has a file for each measure with those of the other measures."""
    import pyarrow as pa  # here: it takes as long to load as a whole store

    found: dict[str, list[pa.Table]] = {}
    for table, rows in tables.items():
        name, _, measure = table.name.partition("/")
        others = sorted(set(run.whole_files) - {run.table(one.name) for one in tables}) if measure else []
        beside = [path for path in others if path.parent == run.root / name]
        new = found.setdefault(name, [read_rows(path, table).cast(table.schema) for path in beside])
        new.append(rows)
    return {name: pa.concat_tables(rows) for name, rows in found.items()}


def _stage(table: Table[Any]) -> str:
    """The stage of texts that makes the rows of a table; empty of an instrument's."""
    return next((stage for stage, made in TEXT_STAGES.items() if made is table), "")


def _in_words(rows: Mapping[Table[Any], int]) -> str:
    """How many rows of each unit: '12 scores, 4 answers'; empty where there are none."""
    by_unit = Counter[str]()  # several tables may have one unit
    for table, number in rows.items():
        by_unit[table.unit] += number
    return ", ".join(f"{number} {unit}" for unit, number in by_unit.items() if number)
