"""`polyculture texts`: which regions, or cultures, the texts of an experiment are of."""

from __future__ import annotations

from polyculture.cli.options import (
    ExperimentFile,
    Format,
    OfSelection,
    OutputFile,
    OutputFormat,
    Runs,
    StoreSelection,
)


def texts(
    experiment: ExperimentFile,
    selection: OfSelection = StoreSelection.ALL,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
    runs: Runs = None,
) -> None:
    """Show which share of the texts is of each region, of several (mixed) or of none (neutral).

    A text is of the region that its linked items come from, by Wikidata. Regions are those of the catalogue: with
    regions of your own, such as Arab and Western countries, they are cultures. Refusals and empty texts are counted
    beside.
    """
    from polyculture.cache.manifest import require_run
    from polyculture.cache.store import open_store
    from polyculture.cli.text_tables import show_shares
    from polyculture.experiment.workspace import open_workspace, warn_of_changes
    from polyculture.metrics import KEPT_OF_TEXTS
    from polyculture.metrics.text_regions import region_shares
    from polyculture.running.layout import store_layout

    workspace = open_workspace(experiment, runs)
    require_run(workspace.run)
    warn_of_changes(workspace)
    with open_store(workspace.run, store_layout(), KEPT_OF_TEXTS, selection) as store:
        shares = region_shares(store)
    show_shares(workspace.run, shares, format, output)
