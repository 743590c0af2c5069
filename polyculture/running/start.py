"""Runs an experiment: all that is left of it, or of some of its jobs. The command `run` and Python begin here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.faults import RetryFailed
from polyculture.experiment.workspace import Workspace, choose_jobs
from polyculture.running.linking import tell_languages_without_names
from polyculture.running.pipeline import Pipeline
from polyculture.running.studies import calls_in_file, check_able, check_calls, works_share
from polyculture.running.whole_run import Cluster, RunParts, do_part, do_whole


@dataclass(frozen=True, slots=True)
class Part:
    """Which jobs are done: all, those of a model, language or topic, or the K-th of N shares ('K/N')."""

    job: str | None = None
    model: str | None = None
    language: str | None = None
    topic: str | None = None


@dataclass(frozen=True)
class Started:
    """A run whose work is done, as far as it could be; `finish` raises for what is missing."""

    pipeline: Pipeline
    report: Path | None  # None where only a part was done

    def finish(self) -> None:
        """Raises for missing work as `Pipeline.finish`."""
        self.pipeline.finish()


def run_experiment(
    workspace: Workspace,
    part: Part,
    *,
    accept_changes: bool = False,
    retry: RetryFailed | None = None,
    cluster: Cluster | None = None,
) -> Started:
    """Does all that is left of the chosen jobs, and for all of them links, measures and reports. Resumes by itself.

    Raises a `UserError` before anything is asked where the experiment cannot be run, `ChangedExperimentError` where
    answers would have to be made again and that was not accepted, and what `do_whole` raises.
    """
    chosen = choose_jobs(workspace, job=part.job, model=part.model, language=part.language, topic=part.topic)
    calls = calls_in_file(workspace)
    check_able(calls)
    if not accept_changes:
        check_calls(calls)
    pipeline = Pipeline.prepare(workspace, accept_changes=accept_changes)
    pipeline.retry = retry
    tell_languages_without_names(workspace, pipeline.linking.source)
    share = works_share(job=part.job, model=part.model, language=part.language, topic=part.topic)
    parts = RunParts(pipeline, calls, cluster)
    if chosen != workspace.jobs:
        do_part(parts, chosen, share)
        return Started(pipeline, None)
    report = do_whole(parts)
    pipeline.tell_limits()
    return Started(pipeline, report)
