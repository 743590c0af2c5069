"""`polyculture plan --jobs`: a line per job, ready for a Slurm array or GNU parallel."""

from __future__ import annotations

import shlex
from pathlib import Path

import typer

from polyculture.experiment.workspace import Workspace
from polyculture.running.run_status import STAGES, run_status
from polyculture.running.studies import open_works


def print_jobs(workspace: Workspace, experiment: Path, runs: Path | None) -> None:
    """Prints the command of each job that has something left to do. The number of a job stays the same."""
    total = len(workspace.jobs)
    open_jobs = {one.job for one in run_status(workspace).jobs if one.open and one.stage in STAGES}
    open_shares = set(open_works(workspace, total))
    beside = ["--runs", str(runs)] if runs else []
    for number, job in enumerate(workspace.jobs, start=1):
        if job in open_jobs or number in open_shares:
            typer.echo(shlex.join(["polyculture", "run", str(experiment), *beside, "--job", f"{number}/{total}"]))
