"""Runs an experiment: all that is left of it, or of some of its jobs. The command `run` and Python begin here."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from polyculture.cache.errors import ChangedExperimentError, JobHeldError
from polyculture.cache.locks import Lock, is_locked
from polyculture.cache.log import get_logger
from polyculture.cache.store.manifest import read_manifest, require_run
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import RESPONSES
from polyculture.cache.store.store import open_store
from polyculture.cache.work.faults import RetryFailed
from polyculture.experiment.jobs import JobSelection, choose_jobs
from polyculture.experiment.prompts import prompt_lines
from polyculture.experiment.workspace import Workspace
from polyculture.instruments.contract import Study
from polyculture.running.call_list import (
    call_of_stage,
    calls_in_file,
    calls_of_run,
    check_able,
    check_asks,
    check_calls,
    entry_of,
    in_turns,
    jobs_of,
    texts_in_file,
)
from polyculture.running.calls import Call, known_calls, read_kept, tell_left_out
from polyculture.running.changes import warn_of_changes
from polyculture.running.executor import CallsOutcome, Executor, Share, ThisProcess, ask, begin, followed, whole
from polyculture.running.layout import store_layout
from polyculture.running.linking import LINK, check_topics, tell_lacking, tell_uncovered_countries
from polyculture.running.outcome import RunOutcome
from polyculture.running.results import measure_run, report_run
from polyculture.running.steps import StepRunner
from polyculture.running.taken_answers import taken_lines
from polyculture.running.texts import doubts, filled_linking, record_versions, without_texts
from polyculture.running.validity import make_valid, record_facts, refuse_redone

_log = get_logger(__name__)

LOOK_EVERY = 1.0  # seconds between two looks whether others still hold a job


@dataclass(frozen=True)
class FinishedRun:
    """What a command came to: the run as it is now, what is missing of it, and the report of a whole run."""

    workspace: Workspace
    outcome: RunOutcome
    report: Path | None = None
    studies: tuple[Study, ...] = ()  # of a whole run: what was asked, in order

    def check(self) -> None:
        """Says what makes the texts doubtful, and raises for missing work as `RunOutcome.check`."""
        for line in doubts(self.workspace):
            _log.warning(line)
        self.outcome.check(self.workspace)


def run_experiment(
    workspace: Workspace,
    part: JobSelection,
    *,
    accept_changes: bool = False,
    retry: RetryFailed | None = None,
    executor: Executor | None = None,
) -> FinishedRun:
    """Does all that is left of the chosen jobs, and for all of them links, measures and reports. Resumes by itself.

    Models are asked by `executor`: without one, in this process.

    Raises a `UserError` before anything is asked where the experiment cannot be run, `ChangedExperimentError` where
    answers would have to be made again and that was not accepted, and what `_do_whole` raises.
    """
    calls = calls_in_file(workspace)
    check_asks(workspace, calls)
    check_able(calls)
    if not accept_changes:
        check_calls(calls)
    part, is_whole = _chosen(workspace, calls, part)
    if not workspace.jobs:
        make_valid(without_texts(workspace), accept_changes=accept_changes)
    for texts in texts_in_file(workspace):
        for line in prompt_lines(workspace.experiment, workspace.catalog, workspace.file):
            _log.info(line)
        check_topics(workspace, texts.linking.source)
        tell_lacking(workspace, texts.linking.source)
        tell_uncovered_countries(workspace, texts.linking.source)
    tell_left_out(calls)
    asking = _RunExecution(
        StepRunner(workspace=workspace, retry=retry), calls, executor or ThisProcess(), accept_changes
    )
    if is_whole:
        return _do_whole(asking)
    # Linking, measuring and reporting are left to the whole run.
    outcome = asking.ask(_share_of(part)).outcome
    _tell_taken(workspace, part.share(workspace.jobs, lambda job: job))
    record_versions(workspace)
    return FinishedRun(workspace, outcome)


def _chosen(workspace: Workspace, calls: Sequence[Call], part: JobSelection) -> tuple[JobSelection, bool]:
    """A part in the experiment's own spelling, and whether it is all of the run. Raises `ExperimentError` for a value
    that no job has."""
    if part == JobSelection():
        return part, True
    jobs = jobs_of(calls)
    part, chosen = choose_jobs(jobs, part, workspace.file)
    return part, chosen == jobs


def _share_of(part: JobSelection) -> Share:
    """The works of a step that are in a part."""
    return lambda works: part.share(works, lambda work: work.job)


def run_stage(
    workspace: Workspace,
    stage: str,
    part: JobSelection,
    *,
    accept_changes: bool = False,
    retry: RetryFailed | None = None,
) -> None:
    """Does what is left of one stage: a step of what the run asks, of the chosen jobs, or 'link' of all texts.

    Raises as `run`, and `ExperimentError` with the stages that there are where this is none of them.
    """
    call, runner = call_of_stage(workspace, stage), StepRunner(workspace=workspace, retry=retry)
    check_able([call])
    for texts in texts_in_file(workspace) if entry_of(call.command) is None else ():
        check_topics(workspace, texts.linking.source)
    if stage == LINK:
        begin(call, _log.log, accept_changes=accept_changes)
        outcome = _link(runner)
    else:
        part, chosen = choose_jobs(call.jobs_of(stage), part, workspace.file)
        share = _share_of(part)
        outcome = ask(runner, [call], ThisProcess(), share, stage=stage, accept_changes=accept_changes).outcome
        _tell_taken(workspace, chosen)
        record_versions(workspace)
    if entry_of(call.command) is None:
        FinishedRun(workspace, outcome).check()
    else:  # nothing was done that could make texts doubtful
        outcome.check(workspace)


def run_measure(workspace: Workspace) -> tuple[Study, ...]:
    """Computes all numbers of a run and their intervals, by what the experiment file says of its models now: those of
    its texts, and of all that instruments asked. Returns the studies of these."""
    record_facts(workspace)
    warn_of_changes(workspace)
    asked = read_kept(workspace)
    turns = in_turns(one for one in calls_of_run(workspace) if (one.whole or one).command in asked)
    studies = list[Study]()
    for calls in turns:
        known, _ = known_calls(calls)
        studies += followed([(call, call.known) for call in known])
        for study in studies:  # what was asked about results is data of measures before it, too
            study.derive()
    if workspace.jobs:
        measure_run(workspace.run, workspace.catalog)
    return tuple(studies)


@dataclass(frozen=True, slots=True)
class _RunExecution:
    """What a run asks models, by an executor."""

    runner: StepRunner
    calls: Sequence[Call]
    executor: Executor
    accept_changes: bool

    def ask(self, share: Share) -> CallsOutcome:
        """Asks what is left of a share of all works. What asks about their results is left to `later`.

        Raises `SystematicFaultError` where steps stopped and left no row to go on with.
        """
        with self.executor:
            first, accept_changes = in_turns(self.calls)[0], self.accept_changes
            answered = ask(self.runner, first, self.executor, share, accept_changes=accept_changes)
        if answered.outcome.stopped and not answered.has_rows(self.runner.workspace):
            FinishedRun(self.runner.workspace, answered.outcome).check()
        return answered

    def later(self) -> CallsOutcome:
        """Asks about the results of calls, once these are measured."""
        later = [call for calls in in_turns(self.calls)[1:] for call in calls]
        if not later:
            return CallsOutcome()
        with self.executor:
            return ask_later(self.runner, later, self.executor, accept_changes=self.accept_changes)

    def ask_held(self, held: Mapping[Job, str]) -> CallsOutcome:
        """Waits until nobody holds the jobs that others held, and does what is left of them."""
        workspace = self.runner.workspace
        _log.info(f"waits for {'1 job' if len(held) == 1 else f'{len(held)} jobs'} that other processes hold")
        folders = [workspace.run.shards(table.name, job) for table in store_layout().tables for job in held]
        while any(is_locked(folder / ".lock") for folder in folders):
            time.sleep(LOOK_EVERY)
        again = replace(self, runner=replace(self.runner, retry=None))  # what was named is asked again once
        return again.ask(lambda works: [work for work in works if work.job in held])


def ask_later(
    runner: StepRunner, calls: Sequence[Call], executor: Executor, *, accept_changes: bool = False
) -> CallsOutcome:
    """Asks calls about the results of others, which are measured now. Nobody could count them before.

    Where a call's answers would have to be made again, because the results are others than before, and that was not
    accepted, it is left out with a line, and what is there stays.
    """
    accepted, refused = list[Call](), list[str]()
    for call in calls:
        try:
            if not accept_changes:
                refuse_redone([call.proposal(call.study()).compared(read_manifest(runner.workspace.run.manifest))])
            accepted.append(call)
        except ChangedExperimentError as fault:
            refused.append(f"{call.title}: not asked: {fault}".rstrip("."))
            _log.warning(refused[-1])
    answered = ask(runner, accepted, executor, accept_changes=True)
    return answered + CallsOutcome(outcome=RunOutcome(missing=tuple(refused)))


def _tell_taken(workspace: Workspace, jobs: Sequence[Job]) -> None:
    """Says how many of the responses of jobs come from runs beside this one, which had asked for the same."""
    if not workspace.experiment.imported:
        for line in taken_lines(workspace.run, jobs):
            _log.info(f"{RESPONSES.stage}: {line}")


def _do_whole(asking: _RunExecution) -> FinishedRun:
    """Does all jobs, links, measures, and writes the report.

    Jobs that other processes hold are waited for: what these leave, as a killed one does, is done here. Raises what
    `RunOutcome.check` raises where a step has stopped meanwhile.
    """
    workspace = asking.runner.workspace
    answered = asking.ask(whole)
    studies, outcome = answered.studies, answered.outcome
    while outcome.held and not outcome.stopped:
        answered = asking.ask_held(outcome.held)
        studies, outcome = answered.studies, outcome.without_held() + answered.outcome
    if outcome.held:
        FinishedRun(workspace, outcome).check()
    _tell_taken(workspace, workspace.jobs)
    record_versions(workspace)
    with _finishing(workspace.run):
        linked = _link(asking.runner)
        for study in studies:
            study.derive()
        later = asking.later()
        if later.studies:
            for study in (*studies, *later.studies):  # what is asked about results is data of measures before it, too
                study.derive()
        if workspace.jobs:
            measure_run(workspace.run, workspace.catalog)
        _measure_stale(workspace, asking.calls)
        report = report_run(workspace.run, workspace.catalog)
    return FinishedRun(workspace, outcome + linked + later.outcome, report, (*studies, *later.studies))


def _measure_stale(workspace: Workspace, calls: Sequence[Call]) -> None:
    """Measures anew what commands other than `calls` asked in this run before, where their numbers are of other data:
    answers of a model that came back to the experiment file are current again, and its section may be gone."""
    with open_store(workspace.run, store_layout()) as store:
        is_stale = bool(store.table("stale_measures").limit(1).fetchall())
    if is_stale:
        asked = {(call.whole or call).command for call in calls}
        known, _ = known_calls(one for one in calls_of_run(workspace) if (one.whole or one).command not in asked)
        for call in known:
            call.known.derive()


def _link(runner: StepRunner) -> RunOutcome:
    """Links all distinct surfaces of the run; before, fills the snapshot with their names where [link] says so."""
    workspace = runner.workspace
    if not workspace.jobs:  # without texts there are no mentions
        return RunOutcome()
    linking = filled_linking(workspace)
    manifest = require_run(workspace.run)
    return runner.work(LINK, 0, lambda _progress: linking.link(manifest))


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
