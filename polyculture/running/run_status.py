"""How far a run is: done, running, failed and left, per stage and job. Reads, and writes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyculture.cache.errors import PolycultureError
from polyculture.cache.locks import is_locked
from polyculture.cache.log import get_logger
from polyculture.cache.store.layout import Table
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import TEXT_STAGES
from polyculture.cache.store.shards import JobShards
from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import open_store
from polyculture.cache.work.worker import work_state
from polyculture.experiment.workspace import Workspace
from polyculture.running.layout import layout_of
from polyculture.running.money import money_lines
from polyculture.running.reasons import FrequentReason, frequent_reasons

_log = get_logger(__name__)

DATA = Path(__file__).parent
FAILED = -2  # the column of `run_status.sql`, before those to retry


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job in a stage. Done, failed and left add up to `total`."""

    stage: str
    job: Job
    total: int
    done: int
    failed: int
    retryable: int  # of those failed: the next run tries them again
    running: bool  # a process works on it now

    @property
    def left(self) -> int:
        return max(self.total - self.done - self.failed, 0)

    @property
    def open(self) -> bool:
        """Whether another run would have something to do."""
        return self.left + self.retryable > 0


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A whole run: its jobs stage by stage, in the experiment's order, and the stages that take all jobs at once."""

    jobs: tuple[JobStatus, ...]
    surfaces_linked: int
    surfaces_left: int
    reported: bool
    reasons: tuple[FrequentReason, ...] = ()  # why answers are missing
    money: tuple[str, ...] = ()  # what was spent, and where prices are wrong, a line each


Counts = Mapping[tuple[str, Job], Counter[str]]


def run_status(workspace: Workspace) -> RunStatus:
    """How far the experiment's run is, before its first run and while others write, too."""
    counts, linked, unlinked, reasons, money = _read(workspace)
    jobs = (*_job_statuses(workspace, counts), *_of_instruments(workspace))
    return RunStatus(jobs, linked, unlinked, workspace.run.report.exists(), reasons, money)


def _job_statuses(workspace: Workspace, counts: Counts) -> Iterator[JobStatus]:
    for job in workspace.jobs:
        asked = workspace.texts_of(job)
        for stage, table in TEXT_STAGES.items():
            count = counts.get((stage, job), Counter()) + _in_journal(workspace.run, job, table)
            running = is_locked(workspace.run.shards(table.name, job) / ".lock")
            yield JobStatus(stage, job, asked, count["done"], count["failed"], count["retryable"], running)
            # A response that failed has nothing to extract.
            sampled = workspace.experiment.extract.sample is not None
            failed = counts.get(("unread", job), Counter())["failed"] if sampled else count["failed"]
            asked = workspace.extracted_of(job) - failed


def _of_instruments(workspace: Workspace) -> Iterator[JobStatus]:
    """The jobs of instruments, requested by the file or by commands. Opens no model."""
    if not workspace.experiment.instruments and not workspace.run.instruments.exists():
        return
    from polyculture.running.call_list import calls_of_run  # here: it loads the instruments

    for asked in calls_of_run(workspace):
        try:
            works = list(asked.works())
        except PolycultureError as fault:
            _log.warning(f"{asked.command}: nobody knows how far it is: {fault}")
            continue
        for step, work in works:
            state = work_state(workspace.run, step, work)
            failed = state.outcome.failed + len(state.retry_transient)
            running = is_locked(workspace.run.shards(step.tables[-1].name, work.job) / ".lock")
            done = state.outcome.done
            yield JobStatus(asked.stage(step), work.job, work.size, done, failed, len(state.retry_transient), running)


def _read(workspace: Workspace) -> tuple[Counts, int, int, tuple[FrequentReason, ...], tuple[str, ...]]:
    run, before = workspace.run, workspace.before
    if before is None:
        return {}, 0, 0, (), ()
    of_jobs, of_links = read_sql(DATA, "run_status"), read_sql(DATA, "links_status")
    with open_store(run, layout_of(run), manifest=before) as store:
        rows = store.sql(of_jobs).fetchall()
        reasons = frequent_reasons(store) if any(row[FAILED] for row in rows) else ()
        linked, unlinked = store.sql(of_links).fetchall()[0]
        money = money_lines(store)
    counts = {(stage, Job(*job)): Counter(done=done, failed=failed, retryable=retryable)
              for stage, *job, done, failed, retryable in rows}  # fmt: skip
    return counts, linked, unlinked, reasons, money


def _in_journal(run: RunFolder, job: Job, table: Table[Any]) -> Counter[str]:
    """Rows that a running or killed process has not moved into a part yet."""
    rows = [row for record in JobShards(run, job, [table]).read_journal() for row in record[table.name]]
    return Counter(name for row in rows for name in _states(row))


def _states(row: Mapping[str, Any]) -> Sequence[str]:
    if row["status"] in ("ok", "unusable"):  # the latter is asked again
        return ("done",) if row["status"] == "ok" else ()
    return ("failed",) if row["retryable"] is False else ("failed", "retryable")
