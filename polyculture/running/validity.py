"""Which rows of a run are current, and what a changed experiment file or command makes stale.

This is what the front door does with an instrument's `Validity` (`instruments/contract.py`), and with that of the
texts. A call proposes a manifest and tables that say which rows are current. `make_valid` writes them. Where a model
would have to make rows again that are current in the last run, nothing is asked unless that is accepted.

Rows of other settings stay on disk, out of every view, and are current again when the settings come back. More samples,
models, languages, prompts or questions make no row stale; neither do fewer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from polyculture.cache.errors import ChangedExperimentError
from polyculture.cache.files import store_faults
from polyculture.cache.locks import Lock
from polyculture.cache.log import get_logger
from polyculture.cache.store.layout import Layout, Table
from polyculture.cache.store.linked import LINKS
from polyculture.cache.store.manifest import CurrentId, Manifest, read_manifest, require_run, write_manifest
from polyculture.cache.store.parquet import is_stored, read_rows
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import PROMPTS
from polyculture.cache.store.store import open_store
from polyculture.cache.work.worker import Step, Work, models_of, unanswered
from polyculture.generate.engines import ENGINES
from polyculture.generate.engines.models import Models
from polyculture.instruments.contract import Validity
from polyculture.running.changes import Change, changes_between, made_under, reworded
from polyculture.running.layout import layout_of

if TYPE_CHECKING:
    import pyarrow as pa

    from polyculture.cache.store.store import Store
    from polyculture.experiment.workspace import Workspace

_log = get_logger(__name__)

PRESENT_LOCK = ".present.lock"  # of whoever changes what is the run's present
SlotPlace = tuple[Any, ...]  # a table, a job by the columns that the table has of it, and a slot of the job
SlotRows = Counter[SlotPlace]
_DECIDING = ("models", "asked", "setups")  # of a manifest: which rows count
_ADDRESS = "base_url"  # of a server, in a setup

_JOB = ("model", "language", "topic")
_CURRENT = "SELECT {columns}, count(*) FROM {view} WHERE {which} GROUP BY ALL"


@dataclass(frozen=True)
class Proposal:
    """What a call would make the run's present: an instrument's setups and ids, among those of the last run.

    Texts that the run has stay as they are where an instrument proposes, whatever the experiment file says of them now.
    The texts' own proposal comes with `text_fields`, what else the manifest has of them: then the run has what the file
    says, and what was asked before is no longer current.
    """

    workspace: Workspace
    instrument: str
    validity: Validity
    steps: Sequence[Step[Any, Models]] = ()
    text_fields: Mapping[str, Any] | None = None

    def follows_file(self, before: Manifest | None) -> bool:
        """Whether the manifest says of texts what the experiment file says: it stays as it is where the run has texts
        and an instrument proposes."""
        return self.text_fields is not None or before is None or not before.topics

    def manifest(self, before: Manifest | None) -> Manifest:
        """The manifest after that of the last run, which says which rows are current."""
        base = self.workspace.manifest(before) if before is None or self.follows_file(before) else before
        if base.models != list(self.workspace.experiment.models):
            told = self.workspace.manifest(before)
            facts = {"models": told.models, "prices": told.prices, "model_facts": told.model_facts}
            base = base.model_copy(update={**facts, "setups": {**told.setups, **base.setups}})
        own = {key: dict(setup) for key, setup in self.validity.setups.items()}
        changed: dict[str, Any] = {**(self.text_fields or {}), "setups": {**base.setups, **own}}
        if self.validity.ids:
            known = base.asked.get(self.instrument, ()) if self.text_fields is None else ()
            changed["asked"] = {**base.asked, self.instrument: _asked_now(known, self.validity.ids)}
        return base.model_copy(update=changed)

    def compared(self, before: Manifest | None) -> ValidityChange:
        """The proposal beside the last run."""
        now, run = self.manifest(before), self.workspace.run
        proposed = self.validity.tables()
        tables = {table: rows for table, rows in proposed.items() if not is_stored(rows, run.table(table.name))}
        return ValidityChange(self, before, now if before is None else now.following(before), tables)


def _asked_now(before: Iterable[CurrentId], asked: Iterable[CurrentId]) -> list[CurrentId]:
    """What was asked before and what is asked now: without other prompts of the same, which numbers would mix."""
    now = {one.key: one for one in asked}
    of_prompts = {one.what for one in now.values() if one.prompt}
    kept = {one.key: one for one in before if one.key in now or not (one.prompt and one.what in of_prompts)}
    return list({**kept, **now}.values())


@dataclass(frozen=True)
class ValidityChange:
    """What would be the run's present, beside what is."""

    of: Proposal
    before: Manifest | None
    now: Manifest
    tables: Mapping[Table[Any], pa.Table]  # those that are to be written

    def tell(self) -> None:
        """Says what has changed, and which rows are no longer current for it."""
        for line in self.lines:
            _log.warning(line)

    @cached_property
    def lines(self) -> list[str]:
        """What has changed, and which rows are no longer current for it."""
        lost = Counter[str]()
        for place, number in self._lost.items():
            lost[place[0]] += number
        rows = _in_words({table: lost[table.name] for table in self._counted if lost[table.name]})
        changes = [change for change in self.changes if rows or change.table is LINKS]
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
        other_texts = reworded(self.of.workspace) if PROMPTS in self.tables else 0
        return changes_between(self.before, self.now, other_texts, made_under(self.of.steps))

    @cached_property
    def _lost(self) -> SlotRows:
        """The answered rows that are current in the last run and would not be, by job."""
        return self._lost_of(self._counted) if self._decides else Counter()

    @property
    def _decides(self) -> bool:
        """Whether anything differs that decides which rows are current."""
        before = self.before
        differs = before is not None and any(getattr(before, name) != getattr(self.now, name) for name in _DECIDING)
        return before is not None and (differs or bool(self.tables))

    def _lost_of(
        self, tables: Collection[Table[Any]], slot: Sequence[str] = (), *, of_models: bool = False
    ) -> SlotRows:
        """These rows of some tables, by job and by the columns of a `slot`; with `of_models` those that models made."""
        with self._store(self.before) as store:
            was = _current(store, tables, slot, of_models=of_models)
        if not was:
            return was
        with self._store() as store:
            return was - _current(store, tables, slot, of_models=of_models)

    @cached_property
    def reasons(self) -> list[str]:
        """Why rows would have to be made again: the changes of what loses rows."""
        lost = {table for table, *_ in self._lost} | {table.name for table in self.redone}
        changes = [str(change) for change in self.changes if change.table is None or change.table.name in lost]
        return changes or [self.of.validity.reason or "other rows are asked for"]

    @cached_property
    def redone(self) -> Counter[Table[Any]]:
        """How many rows that would be lost a model would have to make again, by table: others of their slot are asked.

        What was asked for before, too, tops up the run and replaces nothing. What other runs hold, and what this one
        has on disk of former settings, nobody makes again. What no model made, as a gazetteer's rows, has cost nothing.
        """
        lost, found = dict[Table[Any], SlotRows](), Counter[Table[Any]]()
        there = {table.name for table in self._counted} if self._decides else set()
        for step in self.of.steps:
            table = step.tables[-1]
            works = list(filter(_is_costly, step.works())) if table.name in there else []
            if works and table not in lost:
                lost[table] = self._lost_of([table], step.slot, of_models=True)
            rows = lost.get(table, Counter())
            jobs = {place[: len(place) - len(step.slot)] for place in rows}
            asked_before = self._asked_before(step) if jobs else set()
            for work in works:
                job = (table.name, *(getattr(work.job, name) for name in _job_columns(table)))
                if job not in jobs:
                    continue
                for item in unanswered(self.of.workspace.run, step, work)[1]:
                    place = (*job, *(getattr(item, name) for name in step.slot))
                    if rows[place] and not (asked_before and item.request_id in asked_before):
                        number = min(rows[place], len(step.keys(item)))
                        rows[place] -= number
                        found[table] += number
        return found

    def _asked_before(self, step: Step[Any, Any]) -> set[str]:
        """The requests of the last run, where one alone says which rows are current. Without slots nobody needs them:
        what such a step asked for before is asked for still."""
        wanted = step.tables[-1].wanted
        if wanted is None or wanted.alike or not step.slot:
            return set()
        with self._store(self.before) as store:
            return {request for (request,) in store.sql(f"SELECT request_id FROM {wanted.view}").fetchall()}  # noqa: S608  ours

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


def refuse_redone(compared: Iterable[ValidityChange]) -> None:
    """Raises `ChangedExperimentError` where models would have to make current rows again."""
    refused = [one for one in compared if one.redone]
    if not refused:
        return
    told = "; ".join(dict.fromkeys(reason for one in refused for reason in one.reasons))
    redone = sum((one.redone for one in refused), Counter[Table[Any]]())
    raise ChangedExperimentError(
        f"changed since its last run: {told}. To be redone: {_in_words(redone)}, and everything that depends on them",
        where=refused[0].of.workspace.file,
        remedy="Run with --accept-changes, or change the name to keep both; the present rows stay on disk and count "
        "again when what has changed is put back."
        f"{_moved(change for one in refused for change in one.changes)}",
    )


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
            refuse_redone([compared])
        _ = compared.lines  # they count the rows of the last run, which is about to end
        workspace.write_tables(compared.tables)
        if before is None or before.models != compared.now.models or proposal.follows_file(before):
            workspace.write_experiment()
        if compared.now != before:
            write_manifest(compared.now, workspace.run.manifest)
    compared.tell()
    return compared.now


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


def _moved(changes: Iterable[Change]) -> str:
    """How the same server may move to another address."""
    if not any(change.setting.endswith(f" {_ADDRESS}") for change in changes):
        return ""
    return " If it is the same server at another address, write its former one as `deployment` into the options."


def _is_costly(work: Work[Any]) -> bool:
    """Whether an engine makes the rows of a work: what else makes rows costs nothing."""
    return any(model.partition(":")[0] in ENGINES for model in models_of(work))


def _current(
    store: Store, tables: Iterable[Table[Any]], slot: Sequence[str] = (), *, of_models: bool = False
) -> SlotRows:
    """How many rows of each job, and slot, are current, without failures; with `of_models` those that models made."""
    found: SlotRows = Counter()
    for table in tables:
        which = "status = 'ok'" + (f" AND {table.asked} <> ''" if of_models else "")
        query = _CURRENT.format(columns=", ".join((*_job_columns(table), *slot)), view=table.name, which=which)
        for *place, number in store.sql(query).fetchall():
            found[table.name, *place] = number
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


def _in_words(rows: Mapping[Table[Any], int]) -> str:
    """How many rows of each unit: '12 scores, 4 answers'; empty where there are none."""
    by_unit = Counter[str]()  # several tables may have one unit
    for table, number in rows.items():
        by_unit[table.unit] += number
    return ", ".join(f"{number} {_counted(unit, number)}" for unit, number in by_unit.items() if number)


def _counted(unit: str, number: int) -> str:
    """'answers', and 'answer' of one."""
    return unit.removesuffix("s") if number == 1 and " " not in unit else unit
