"""`polyculture jobs`: a line per job, ready for a Slurm array or GNU parallel."""

from __future__ import annotations

import shlex
from enum import StrEnum
from typing import Annotated

import typer

from polyculture.cli.options import ExperimentFile, Runs
from polyculture.experiment.workspace import open_workspace
from polyculture.running.run_status import STAGES, run_status
from polyculture.running.studies import open_works


class JobCommand(StrEnum):
    """The commands that accept single jobs."""

    RUN = "run"
    GENERATE = "generate"
    EXTRACT = "extract"


def jobs(
    experiment: ExperimentFile,
    runs: Runs = None,
    left: Annotated[bool, typer.Option("--left", help="Only the jobs that have something left to do.")] = False,
    command: Annotated[JobCommand, typer.Option(help="What each line does with its job.")] = JobCommand.RUN,
) -> None:
    """Print one command per job (model, language, topic), for a job array.

    Run them anywhere and in any order, many at once over one file system, then `polyculture run` once for the rest.
    With --left nothing is printed where nothing is left.
    """
    workspace = open_workspace(experiment, runs)
    total = len(workspace.jobs)
    status = run_status(workspace).jobs if left else ()
    open_jobs = {one.job for one in status if one.open and one.stage in STAGES} if left else set(workspace.jobs)
    open_shares = set(open_works(workspace, total)) if left else set()
    beside = ["--runs", str(runs)] if runs else []
    for number, job in enumerate(workspace.jobs, start=1):
        if job in open_jobs or number in open_shares:
            line = shlex.join(["polyculture", command, str(experiment), *beside, "--job", f"{number}/{total}"])
            typer.echo(line)
