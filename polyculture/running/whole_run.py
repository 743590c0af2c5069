"""All stages of a run, or those of some jobs, beside other processes that do the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyculture.cache.run_folder import Job
from polyculture.cache.worker import Work
from polyculture.console import say
from polyculture.instruments.contract import Study
from polyculture.running.at_work import AtWork, left_to
from polyculture.running.instrument_calls import InstrumentCall
from polyculture.running.pipeline import Pipeline
from polyculture.running.studies import Share, ask_all, whole


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


def do_part(parts: RunParts, jobs: Sequence[Job], share: Share) -> None:
    """Does some jobs; linking, measuring and reporting are left to the whole run."""
    parts.work(jobs, share)


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
            pipeline.measure()
            return pipeline.report()


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
