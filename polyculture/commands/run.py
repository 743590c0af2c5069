"""`polyculture run`: all stages, from prompts to the report."""

from __future__ import annotations

import typer

from polyculture.options import AcceptChanges, ExperimentFile, JobShare, OnlyLanguage, OnlyModel, OnlyTopic, Runs


def run(
    experiment: ExperimentFile,
    runs: Runs = None,
    job: JobShare = None,
    model: OnlyModel = None,
    language: OnlyLanguage = None,
    topic: OnlyTopic = None,
    accept_changes: AcceptChanges = False,
) -> None:
    """Do all that is left: generate, extract, link, measure, report. Running it again resumes.

    With a choice of jobs, only their responses and mentions are made; link, measure and report need all jobs, and
    come with the next `polyculture run` without a choice. A job that another process works on is left to it: the
    command says who holds it since when, does the others, and ends with exit code 3.
    """
    from polyculture.pipeline import Pipeline
    from polyculture.workspace import choose_jobs, open_workspace

    workspace = open_workspace(experiment, runs)
    chosen = choose_jobs(workspace, job=job, model=model, language=language, topic=topic)
    pipeline = Pipeline.prepare(workspace, accept_changes=accept_changes)
    pipeline.generate(chosen)
    pipeline.extract(chosen)
    if chosen == workspace.jobs and not pipeline.held:
        pipeline.link()
        pipeline.measure()
        typer.echo(f"Report: {pipeline.report()}")
    pipeline.finish()
