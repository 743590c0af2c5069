"""`polyculture run`: all stages, from prompts to the report, or one of them."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

import typer

from polyculture.cache.store.manifest import require_run
from polyculture.cli.declared import print_metrics, print_tables
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
from polyculture.cluster.connection import NEW_CLUSTER
from polyculture.cluster.run import RayCluster
from polyculture.experiment.jobs import JobSelection
from polyculture.experiment.workspace import Workspace
from polyculture.running.call_list import MEASURE
from polyculture.running.linking import LINK
from polyculture.running.opening import open_workspace
from polyculture.running.results import tell_limits
from polyculture.running.start import FinishedRun, run_experiment, run_measure, run_stage


def run(
    experiment: ExperimentFile,
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            metavar="STEP",
            help="Only this step: `generate`, `extract`, `link`, `measure`, or a step of an instrument, as `ask`; "
            "without the report.",
        ),
    ] = None,
    runs: Runs = None,
    job: JobShare = None,
    model: OnlyModel = None,
    language: OnlyLanguage = None,
    topic: OnlyTopic = None,
    accept_changes: AcceptChanges = False,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="[ADDRESS]",
            help="Work on a Ray cluster: a new one, or the one at ADDRESS (docs/clusters.md says how, with its token).",
        ),
    ] = None,
    gpus: Annotated[
        float | None,
        typer.Option(min=0, help="With --ray: GPUs of each model replica. Default: 1 where the engine needs one."),
    ] = None,
    replicas: Annotated[
        int | None, typer.Option(min=1, help="With --ray: replicas of each model at most. Default: what fits.")
    ] = None,
    retry_failed: RetryOption = None,
) -> None:
    """Do all that is left: generate, extract, link, measure, report. Running it again resumes.

    The instruments of the file are asked after its texts. A file without languages, topics and countries has only
    instruments.

    If you choose some of the jobs, the command only generates and extracts their texts. The next `polyculture run`
    without such a choice links, measures and writes the report, which needs all jobs. A job that another process works
    on is left to that process: the command prints which process it is, does the other jobs, and ends with exit code 3.

    A stage stops itself if one fault occurs for eight different prompts in a row; other models go on. The last line
    says why and what you can do, and the exit code is 6. After you have repaired the fault, run the same command again.

    With --only, no other step is done. If you name an unknown step, the command lists the steps of the experiment.
    `--only measure` computes all numbers of the run again, and prints those of its texts, or of its instruments if it
    has no texts.

    With --ray, a cluster works on the jobs, and each replica of the model has one job at a time. All machines must see
    the folder of the run. If a worker or a machine is lost, another one does its job.
    """
    part, retry = JobSelection(job, model, language, topic), retry_failed_of(retry_failed)
    if only is not None and ray is not None:
        raise typer.BadParameter("--ray does all stages of a job: leave out --only, or --ray")
    if only in (LINK, MEASURE) and part != JobSelection():
        raise typer.BadParameter(f"--only {only} is of all jobs: leave out --job, --model, --language and --topic")
    workspace = open_workspace(experiment, runs)
    if only == MEASURE:
        studies = run_measure(workspace)
        if workspace.jobs:
            print_metrics(workspace)
        else:
            print_tables(workspace, studies)
        return
    if only is not None:
        run_stage(workspace, only, part, accept_changes=accept_changes, retry=retry)
        return
    executor = None if ray is None else RayCluster(ray, gpus, replicas)
    finished = run_experiment(workspace, part, accept_changes=accept_changes, retry=retry, executor=executor)
    finish_run(workspace, finished, next_command(workspace))


def finish_run(workspace: Workspace, finished: FinishedRun, then: str) -> None:
    """Says what makes a run's texts doubtful; of a whole run, its numbers and report before, the next command after.

    The numbers are those of its texts; without texts, the tables of its instruments.

    Raises for missing work as `FinishedRun.check`: then the error says what comes next.
    """
    if (report := finished.report) is not None:
        if workspace.jobs:
            print_metrics(workspace)
        else:
            print_tables(workspace, finished.studies)
        tell_limits(require_run(workspace.run), f"{report.name}#before")
        typer.echo(f"Report: {report}")
    finished.check()
    if report is not None:
        typer.echo(f"Next: {then}")


def next_command(workspace: Workspace) -> str:
    """What is asked of numbers first: whether two models or languages differ; of one alone, to look at its texts."""
    experiment, file = workspace.experiment, shlex.quote(str(workspace.file))
    by_any = {code for model in experiment.models for code in experiment.languages_asked(model)}
    asked = [code for code in experiment.languages if code in by_any]
    sides = next((two for two in (experiment.models, asked) if len(two) > 1), ())
    if sides:
        return f"polyculture compare {file} {' '.join(map(shlex.quote, sides[:2]))}"
    return f"polyculture view {file}"


class RunCommand(RetryCommand):
    """`--ray` may have no value: then a cluster is started on this machine."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--ray" in args:
            after = args.index("--ray") + 1
            if not (after < len(args) and (":" in args[after] or args[after] in ("auto", NEW_CLUSTER))):
                args = [*args[:after], NEW_CLUSTER, *args[after:]]
        return super().parse_args(ctx, args)


COMMAND = RunCommand
