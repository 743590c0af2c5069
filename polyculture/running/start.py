"""Runs an experiment: all that is left of it, or of some of its jobs. The command `run` and Python begin here."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.errors import JobHeldError
from polyculture.cache.locks import Lock, is_locked
from polyculture.cache.log import get_logger
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.work.faults import RetryFailed
from polyculture.experiment.jobs import Part, choose_jobs
from polyculture.experiment.workspace import Workspace, record_facts, warn_of_changes
from polyculture.instruments.contract import Study
from polyculture.running.executor import Executor, ThisProcess
from polyculture.running.instrument_calls import InstrumentCall
from polyculture.running.layout import store_layout
from polyculture.running.linking import tell_lacking, tell_uncovered_countries
from polyculture.running.pipeline import Pipeline
from polyculture.running.results import measure_run, report_run
from polyculture.running.studies import Share, calls_in_file, check_able, check_calls, in_turns, whole

_log = get_logger(__name__)

LOOK_EVERY = 1.0  # seconds between two looks whether others still hold a job


def run_experiment(
    workspace: Workspace,
    part: Part,
    *,
    accept_changes: bool = False,
    retry: RetryFailed | None = None,
    executor: Executor | None = None,
) -> tuple[Pipeline, Path | None]:
    """Does all that is left of the chosen jobs, and for all of them links, measures and reports. Resumes by itself.

    Models are asked by `executor`: without one, in this process.

    Returns what was done, whose `finish` raises for missing work, and the report's path; None where only a part was.

    Raises a `UserError` before anything is asked where the experiment cannot be run, `ChangedExperimentError` where
    answers would have to be made again and that was not accepted, and what `do_whole` raises.
    """
    part, chosen = choose_jobs(workspace, part)
    calls = calls_in_file(workspace)
    check_able(calls)
    if not accept_changes:
        check_calls(calls)
    pipeline = Pipeline.prepare(workspace, accept_changes=accept_changes)
    pipeline.retry = retry
    tell_lacking(workspace, pipeline.linking.source)
    tell_uncovered_countries(workspace, pipeline.linking.source)
    parts = RunParts(pipeline, calls, executor or ThisProcess())
    if chosen != workspace.jobs:
        parts.work(
            chosen, lambda works: part.share(works, lambda work: work.job)
        )  # linking, measuring and reporting are left to the whole run
        return pipeline, None
    return pipeline, do_whole(parts)


def run_stage(
    workspace: Workspace, stage: str, part: Part, *, accept_changes: bool = False, retry: RetryFailed | None = None
) -> None:
    """Does what is left of one stage, 'generate' or 'extract' of the chosen jobs, or 'link' of all. Raises as `run`."""
    part, chosen = choose_jobs(workspace, part)
    pipeline = Pipeline.prepare(workspace, accept_changes=accept_changes)
    pipeline.retry = retry
    if stage == "generate":
        pipeline.generate(chosen)
    elif stage == "extract":
        pipeline.extract(chosen)
    else:
        pipeline.link()
    pipeline.finish()


def run_measure(workspace: Workspace) -> None:
    """Computes the metrics of a run and their intervals, by what the experiment file says of its models now."""
    record_facts(workspace)
    warn_of_changes(workspace)
    measure_run(workspace.run, workspace.catalog)


@dataclass(frozen=True, slots=True)
class RunParts:
    """The stages of a run that ask models: generation, extraction, and the instruments of the experiment file."""

    pipeline: Pipeline
    calls: Sequence[InstrumentCall]
    executor: Executor

    def work(self, jobs: Sequence[Job], share: Share) -> list[Study]:
        """Does what is left of jobs and of a share of the instruments' works. Returns what follows from the latter.

        What asks about their results is left to `later`. Raises `SystematicFaultError` where stages stopped and left
        nothing to go on with.
        """
        return self.executor.work(self.pipeline, jobs, in_turns(self.calls)[0], share)

    def later(self) -> list[Study]:
        """Asks about the results of instruments, once these are measured."""
        turns = in_turns(self.calls)[1:]
        return [study for calls in turns for study in self.executor.work(self.pipeline, (), calls, whole)]


def do_whole(parts: RunParts) -> Path:
    """Does all jobs, links, measures, and writes the report, whose path it returns.

    Jobs that other processes hold are waited for: what these leave, as a killed one does, is done here. Raises what
    `finish` raises where a stage has stopped meanwhile.
    """
    pipeline = parts.pipeline
    studies = parts.work(pipeline.workspace.jobs, whole)
    while pipeline.held and not pipeline.stopped:
        studies = _do_held(parts)
    if pipeline.held:
        pipeline.finish()
    with _finishing(pipeline.workspace.run):
        pipeline.link()
        for study in studies:
            study.derive()
        if later := parts.later():
            for study in (*studies, *later):  # what is asked about results is data of measures before it, too
                study.derive()
        measure_run(pipeline.workspace.run, pipeline.workspace.catalog)
        return report_run(pipeline.workspace.run, pipeline.workspace.catalog)


def _do_held(parts: RunParts) -> list[Study]:
    """Waits until nobody holds the jobs that others held, and does what is left of them."""
    pipeline = parts.pipeline
    jobs = frozenset(pipeline.held)
    _log.info(f"waits for {'1 job' if len(jobs) == 1 else f'{len(jobs)} jobs'} that other processes hold")
    folders = [pipeline.workspace.run.shards(table.name, job) for table in store_layout().tables for job in jobs]
    while any(is_locked(folder / ".lock") for folder in folders):
        time.sleep(LOOK_EVERY)
    pipeline.held.clear()
    pipeline.retry = None  # what was named is asked again once
    return parts.work(
        [job for job in pipeline.workspace.jobs if job in jobs],
        lambda works: [work for work in works if work.job in jobs],
    )


@contextmanager
def _finishing(run: RunFolder) -> Iterator[None]:
    """One process at a time links, measures and reports."""
    lock = Lock(run.root / ".finish.lock", "the run's report")
    try:
        lock.acquire()
    except JobHeldError:
        _log.info("another process links, measures or reports now; this one waits for it")
        lock.acquire(wait=True)
    try:
        yield
    finally:
        lock.release()
