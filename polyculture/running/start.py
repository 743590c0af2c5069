"""Runs an experiment: all that is left of it, or of some of its jobs. The command `run` and Python begin here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyculture.cache.faults import RetryFailed
from polyculture.cache.layout import MAIN
from polyculture.cache.run_folder import Job
from polyculture.cache.worker import Work
from polyculture.console import say
from polyculture.experiment.jobs import Part, choose_jobs
from polyculture.experiment.workspace import Workspace, record_facts, warn_of_changes
from polyculture.instruments.contract import Study
from polyculture.running.at_work import AtWork, left_to
from polyculture.running.instrument_calls import InstrumentCall
from polyculture.running.linking import tell_languages_without_names, tell_uncovered_countries
from polyculture.running.pipeline import Pipeline
from polyculture.running.results import measure_run, report_run
from polyculture.running.studies import Share, ask_all, calls_in_file, check_able, check_calls, whole


def run_experiment(
    workspace: Workspace,
    part: Part,
    *,
    accept_changes: bool = False,
    retry: RetryFailed | None = None,
    cluster: Cluster | None = None,
) -> tuple[Pipeline, Path | None]:
    """Does all that is left of the chosen jobs, and for all of them links, measures and reports. Resumes by itself.

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
    tell_languages_without_names(workspace, pipeline.linking.source)
    tell_uncovered_countries(workspace, pipeline.linking.source)
    parts = RunParts(pipeline, calls, cluster)
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


def run_measure(workspace: Workspace, selection: str = MAIN) -> None:
    """Computes the metrics of a run and their intervals, by what the experiment file says of its models now."""
    record_facts(workspace)
    warn_of_changes(workspace)
    measure_run(workspace.run, workspace.catalog, selection)


@dataclass(frozen=True, slots=True)
class Cluster:
    """The Ray cluster that jobs are worked on by."""

    address: str
    gpus: float | None = None
    replicas: int | None = None


@dataclass
class RunParts:
    """The stages of a run that ask models: generation, extraction, and the instruments of the experiment file."""

    pipeline: Pipeline
    calls: Sequence[InstrumentCall]
    cluster: Cluster | None = None

    def work(self, jobs: Sequence[Job], share: Share) -> list[Study]:
        """Does what is left of jobs and of a share of the instruments' works. Returns what follows from the latter.

        Raises `SystematicFaultError` where stages stopped and left nothing to go on with.
        """
        if self.cluster is not None:
            from polyculture.cluster.run import run_on_cluster

            where = self.cluster
            return run_on_cluster(
                self.pipeline, jobs, self.calls, share, where.address, gpus=where.gpus, replicas=where.replicas
            )
        self.pipeline.generate(jobs)
        self.pipeline.go_on_with("responses")
        self.pipeline.extract(jobs)
        self.pipeline.go_on_with("extractions")
        return ask_all(self.pipeline, self.calls, share, accept_changes=True)


def do_whole(parts: RunParts) -> Path:
    """Does all jobs, links, measures, and writes the report, whose path it returns.

    Where other processes hold jobs and still work on the whole run, raises `JobHeldError` that names one of them: the
    last of them takes over what is left. Raises what `finish` raises where nobody will.
    """
    pipeline = parts.pipeline
    with AtWork(pipeline.workspace.run) as at_work:
        studies = parts.work(pipeline.workspace.jobs, whole)
        if pipeline.held:
            other = at_work.leaves_to()
            if other is not None:
                _leave(pipeline, other)
            studies = _take_over(parts)
        with at_work.finishing():
            pipeline.link()
            for study in studies:
                study.derive()
            measure_run(pipeline.workspace.run, pipeline.workspace.catalog)
            return report_run(pipeline.workspace.run, pipeline.workspace.catalog)


def _leave(pipeline: Pipeline, other: str) -> None:
    """Ends this process's part: with its own faults, where it has some."""
    left = left_to(other)
    if pipeline.failed or pipeline.missing or pipeline.stopped:
        say(str(left))
        pipeline.finish()
    raise left


def _take_over(parts: RunParts) -> list[Study]:
    """Does the jobs that others held who are gone. Those that a process still holds, which does a part, end the run."""
    pipeline = parts.pipeline
    jobs = frozenset(pipeline.held)
    say(f"{len(jobs)} jobs were held by other processes; this one looks whether they are done")
    pipeline.held.clear()
    pipeline.retry = None  # what was named is asked again once

    def were_held(works: list[Work[Any]]) -> list[Work[Any]]:
        return [work for work in works if work.job in jobs]

    studies = parts.work([job for job in pipeline.workspace.jobs if job in jobs], were_held)
    if pipeline.held:
        pipeline.finish()
    return studies
