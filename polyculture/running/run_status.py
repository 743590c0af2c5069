"""How far a run is: done, running, failed and left, per stage and job. Reads, and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from polyculture.cache.locks import is_locked
from polyculture.cache.log import get_logger
from polyculture.cache.store.run_folder import Job
from polyculture.cache.store.shards import JobShards
from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import open_store
from polyculture.cache.work.worker import WorkCount
from polyculture.experiment.workspace import Workspace
from polyculture.running.call_list import calls_of_run
from polyculture.running.calls import Call, known_calls
from polyculture.running.layout import layout_of
from polyculture.running.money import money_lines
from polyculture.running.reasons import FrequentReason, frequent_reasons

_log = get_logger(__name__)

DATA = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job in a stage."""

    stage: str
    job: Job
    count: WorkCount
    running: bool  # a process works on it now


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A whole run: its jobs stage by stage, in the experiment's order, and the stages that take all jobs at once."""

    jobs: tuple[JobStatus, ...]
    surfaces_linked: int
    surfaces_left: int
    reported: bool
    reasons: tuple[FrequentReason, ...] = ()  # why answers are missing
    money: tuple[str, ...] = ()  # what was spent, and where prices are wrong, a line each


def run_status(workspace: Workspace) -> RunStatus:
    """How far the experiment's run is, before its first run and while others write, too. Opens no model."""
    calls, unknown = known_calls(calls_of_run(workspace))
    for call, fault in unknown:
        _log.warning(f"{call.title}: nobody knows how far it is: {fault}")
    jobs = tuple(one for call in calls for one in _of_call(call))
    status = RunStatus(jobs, 0, 0, workspace.run.report.exists())
    if workspace.before is None:
        return status
    with open_store(workspace.run, layout_of(workspace.run), manifest=workspace.before) as store:
        reasons = frequent_reasons(store) if any(one.count.failed for one in jobs) else ()
        linked, unlinked = store.sql(read_sql(DATA, "links_status")).fetchall()[0]
        money = money_lines(store)
    if money and (waiting := _not_counted(calls)):
        money += (f"{waiting} of the last answers are not in it yet: the next plan or run adds what they cost",)
    return replace(status, surfaces_linked=linked, surfaces_left=unlinked, reasons=reasons, money=money)


def _not_counted(calls: Sequence[Call]) -> int:
    """How many answers of models wait in journals, of a process that works or was killed: no view has them yet."""
    waiting = 0
    for call in calls:
        for step, work in call.works():
            if work.models:
                table = step.tables[-1]
                records = JobShards(call.workspace.run, work.job, step.tables).read_journal()
                waiting += sum(len(record.get(table.name, ())) for record in records)
    return waiting


def _of_call(call: Call) -> Iterator[JobStatus]:
    """The jobs of a call."""
    run = call.workspace.run
    for step, work in call.works():
        running = is_locked(run.shards(step.tables[-1].name, work.job) / ".lock")
        yield JobStatus(call.stage(step), work.job, step.count(run, work), running)
