"""`polyculture link`: mentions to Wikidata entities."""

from __future__ import annotations

from typing import Annotated

import typer

from polyculture.cli.link_audit import audit
from polyculture.cli.link_show import show
from polyculture.cli.options import STAGE, AcceptChanges, ExperimentFile, Runs, StageGroup

app = typer.Typer(
    cls=StageGroup,
    no_args_is_help=True,
    help="Link the mentions to Wikidata entities: `polyculture link EXPERIMENT`. Or `show` why, or `audit` how well.",
    epilog="polyculture link exp.toml",
)


@app.command(STAGE, hidden=True)
def link(
    experiment: ExperimentFile,
    runs: Runs = None,
    accept_changes: AcceptChanges = False,
    snapshot: Annotated[
        str | None, typer.Option(help="Link with this snapshot, beside the run's links: into `snapshot_links`.")
    ] = None,
) -> None:
    """Link every distinct surface of the run to an entity, or record why there is none."""
    from polyculture.experiment.jobs import Part
    from polyculture.experiment.opening import open_workspace
    from polyculture.running.linking import link_with
    from polyculture.running.start import run_stage

    if snapshot is not None:
        link_with(open_workspace(experiment, runs), snapshot)
        return
    run_stage(open_workspace(experiment, runs), "link", Part(), accept_changes=accept_changes)


app.command(epilog='polyculture link show "กิโมโน" --language th --topic clothing')(show)
app.command(epilog="polyculture link audit gold.tsv --snapshot wikidata-2026-09.duckdb --wrong wrong.csv")(audit)
