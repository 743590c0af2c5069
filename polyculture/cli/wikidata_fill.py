"""`polyculture wikidata fill`: a snapshot of what a run's mentions may mean, from the live service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyculture.cli.options import Contact, ExperimentFile, Runs


def fill(
    experiment: ExperimentFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The snapshot to grow or make. Default: [link] snapshot, or NAME-wikidata.duckdb.",
        ),
    ] = None,
    contact: Contact = None,
    runs: Runs = None,
) -> None:
    """Ask the live Wikidata for the names of a run's mentions, and keep the items in a snapshot to link with.

    Each name is searched once, items are fetched by 50. What the snapshot was asked for before is not asked again; the
    same command resumes a fill that failed. With [link] fill = true, `polyculture run` does this before it links.
    """
    from polyculture.cache.manifest import require_run
    from polyculture.console import say
    from polyculture.experiment.opening import open_workspace
    from polyculture.experiment.snapshots import STARTER
    from polyculture.link.stage import current_names
    from polyculture.running.linking import fill_with
    from polyculture.running.wikidata_requests import link_lines, own_file

    workspace = open_workspace(experiment, runs)
    names, named = current_names(workspace.run, require_run(workspace.run)), workspace.experiment.link.snapshot
    out = output or (own_file(workspace) if named == STARTER else workspace.file.parent / named)
    report = fill_with(workspace, names, out, contact)
    if not report.requests:
        say(f"{out}: holds all {len(names):,} names of the run, and nothing was asked")
    if out.resolve() != (workspace.file.parent / named).resolve():
        say(f"  To link with it, write in {experiment}: {link_lines(workspace, out)}")
