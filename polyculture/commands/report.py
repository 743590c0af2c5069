"""`polyculture report`: numbers to one HTML file."""

from __future__ import annotations

import typer

from polyculture.options import ExperimentFile, Runs


def report(experiment: ExperimentFile, runs: Runs = None) -> None:
    """Write report.html from what is in the store."""
    from polyculture.pipeline import measure_run, report_run
    from polyculture.workspace import open_workspace, require_run, warn_of_changes

    workspace = open_workspace(experiment, runs)
    require_run(workspace.run)
    warn_of_changes(workspace)
    measure_run(workspace.run)
    typer.echo(f"Report: {report_run(workspace.run, workspace.catalog)}")
