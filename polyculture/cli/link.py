"""`polyculture link`: a run's mentions with another snapshot; why names are linked, and how well."""

from __future__ import annotations

from typing import Annotated

import typer

from polyculture.cli.link_audit import audit
from polyculture.cli.link_show import show
from polyculture.cli.options import STAGE, ExperimentFile, Runs, StageGroup

app = typer.Typer(
    cls=StageGroup,
    no_args_is_help=True,
    help="Link a run with another snapshot, too: `polyculture link EXPERIMENT --snapshot FILE`. Or `show` why a name "
    "is linked, or `audit` how well names are. A run's own links: `polyculture run EXPERIMENT --only link`.",
    epilog="polyculture link exp.toml --snapshot wikidata-2026-12.duckdb",
)


@app.command(STAGE, hidden=True)
def link(
    experiment: ExperimentFile,
    snapshot: Annotated[str, typer.Option(help="Its links stand beside those of the run: in `snapshot_links`.")],
    runs: Runs = None,
) -> None:
    """Link every distinct surface of the run with another snapshot, or record why there is no entity."""
    from polyculture.experiment.opening import open_workspace
    from polyculture.running.linking import link_with

    link_with(open_workspace(experiment, runs), snapshot)


app.command(epilog='polyculture link show "กิโมโน" --language th --topic clothing')(show)
app.command(epilog="polyculture link audit gold.tsv --snapshot wikidata-2026-09.duckdb --wrong wrong.csv")(audit)
