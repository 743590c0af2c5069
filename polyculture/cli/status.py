"""`polyculture status`: the progress of a run."""

from __future__ import annotations

from typing import Annotated

import typer

from polyculture.cli.options import ExperimentFile, Format, OutputFile, OutputFormat, Runs


def status(
    experiment: ExperimentFile,
    runs: Runs = None,
    live: Annotated[
        bool, typer.Option("--live", help="Show it anew every two seconds, until nothing is left.")
    ] = False,
    jobs: Annotated[
        bool,
        typer.Option("--jobs", help="A line per job, however many there are; else a large run is summed up by model."),
    ] = False,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
) -> None:
    """Print what is done, running, failed and left, per stage and job.

    A run of more than 12 jobs is summed up in a line per model; --jobs lists all.

    Reads only: it works before the first run, while others write, and on a full disk. As CSV or JSON it is a row per
    job and stage.
    """
    from polyculture.cli.status_table import print_standing, watch_standing, write_standing
    from polyculture.experiment.workspace import open_workspace, warn_of_changes

    workspace = open_workspace(experiment, runs)
    if live:
        watch_standing(workspace, jobs)
        return
    warn_of_changes(workspace)
    if format is Format.TABLE and output is None:
        print_standing(workspace, jobs)
    else:
        write_standing(workspace, format, output)
