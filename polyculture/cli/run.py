"""`polyculture run`: all stages, from prompts to the report."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from polyculture.cli.options import (
    NEW_CLUSTER,
    AcceptChanges,
    ExperimentFile,
    JobShare,
    OnlyLanguage,
    OnlyModel,
    OnlyTopic,
    Runs,
)


def run(
    experiment: ExperimentFile,
    runs: Runs = None,
    job: JobShare = None,
    model: OnlyModel = None,
    language: OnlyLanguage = None,
    topic: OnlyTopic = None,
    accept_changes: AcceptChanges = False,
    ray: Annotated[
        str | None,
        typer.Option("--ray", metavar="[ADDRESS]", help="Work on a Ray cluster: a new one, or the one at ADDRESS."),
    ] = None,
    gpus: Annotated[
        float | None,
        typer.Option(min=0, help="With --ray: GPUs of each model replica. Default: 1 where the engine needs one."),
    ] = None,
    replicas: Annotated[
        int | None, typer.Option(min=1, help="With --ray: replicas of each model at most. Default: what fits.")
    ] = None,
) -> None:
    """Do all that is left: generate, extract, link, measure, report. Running it again resumes.

    With a choice of jobs, only their responses and mentions are made; link, measure and report need all jobs, and
    come with the next `polyculture run` without a choice. A job that another process works on is left to it: the
    command says who holds it since when, does the others, and ends with exit code 3.

    With --ray the jobs are worked on by a cluster, a replica of the model at a time each; the run's folder must be on
    a file system that all its machines see. A job whose worker or machine is lost is done by another.
    """
    from polyculture.experiment.workspace import choose_jobs, open_workspace
    from polyculture.running.linking import tell_languages_without_names
    from polyculture.running.pipeline import Pipeline
    from polyculture.running.studies import ask, questions_in_file, works_share

    workspace = open_workspace(experiment, runs)
    chosen = choose_jobs(workspace, job=job, model=model, language=language, topic=topic)
    pipeline = Pipeline.prepare(workspace, accept_changes=accept_changes)
    tell_languages_without_names(workspace, pipeline.linking.source)
    share = works_share(job=job, model=model, language=language, topic=topic)
    questions = questions_in_file(workspace)
    if ray is None:
        pipeline.generate(chosen)
        pipeline.extract(chosen)
        studies = [ask(pipeline, asked, share) for asked in questions]
    else:
        from polyculture.cluster.run import run_on_cluster

        studies = run_on_cluster(pipeline, chosen, questions, share, ray, gpus=gpus, replicas=replicas)
    if chosen == workspace.jobs and not pipeline.held:
        pipeline.link()
        for study in studies:
            study.derive()
        pipeline.measure()
        typer.echo(f"Report: {pipeline.report()}")
    pipeline.finish()


class RunCommand(TyperCommand):
    """`--ray` may have no value: then a cluster is started on this machine."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--ray" in args:
            after = args.index("--ray") + 1
            if not (after < len(args) and (":" in args[after] or args[after] in ("auto", NEW_CLUSTER))):
                args = [*args[:after], NEW_CLUSTER, *args[after:]]
        return super().parse_args(ctx, args)
