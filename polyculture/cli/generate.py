"""`polyculture generate`: prompts to responses."""

from __future__ import annotations

from polyculture.cli.options import (
    AcceptChanges,
    ExperimentFile,
    JobShare,
    OnlyLanguage,
    OnlyModel,
    OnlyTopic,
    RetryCommand,
    RetryOption,
    Runs,
)
from polyculture.cli.options import retry_failed as retry_failed_of
from polyculture.experiment.workspace import choose_jobs, open_workspace
from polyculture.running.pipeline import Pipeline

COMMAND = RetryCommand


def generate(
    experiment: ExperimentFile,
    runs: Runs = None,
    job: JobShare = None,
    model: OnlyModel = None,
    language: OnlyLanguage = None,
    topic: OnlyTopic = None,
    accept_changes: AcceptChanges = False,
    retry_failed: RetryOption = None,
) -> None:
    """Sample the missing responses."""
    workspace = open_workspace(experiment, runs)
    chosen = choose_jobs(workspace, job=job, model=model, language=language, topic=topic)
    pipeline = Pipeline.prepare(workspace, accept_changes=accept_changes)
    pipeline.retry = retry_failed_of(retry_failed)
    pipeline.generate(chosen)
    pipeline.finish()
