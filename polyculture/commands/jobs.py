"""`polyculture jobs`: a line per job, ready for a Slurm array or GNU parallel."""

from __future__ import annotations

import shlex

import typer

from polyculture.options import ExperimentFile, Runs


def jobs(experiment: ExperimentFile, runs: Runs = None) -> None:
    """Print one command per job, for a job array.

    Run them anywhere and in any order, then `polyculture run` once for the rest.
    """
    from polyculture.workspace import open_workspace

    workspace = open_workspace(experiment, runs)
    total = len(workspace.jobs)
    beside = ["--runs", str(runs)] if runs else []
    for number in range(1, total + 1):
        typer.echo(shlex.join(["polyculture", "run", str(experiment), *beside, "--job", f"{number}/{total}"]))
