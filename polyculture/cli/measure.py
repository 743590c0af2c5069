"""`polyculture measure`: computes the metrics with their uncertainty."""

from __future__ import annotations

from polyculture.cli.options import ExperimentFile, OfSelection, Runs, StoreSelection
from polyculture.cli.tables import print_metrics
from polyculture.experiment.workspace import open_workspace, record_facts, warn_of_changes
from polyculture.running.results import measure_run


def measure(experiment: ExperimentFile, selection: OfSelection = StoreSelection.ALL, runs: Runs = None) -> None:
    """Compute the four metrics and their intervals from the store.

    They are printed per model and language.
    """
    workspace = open_workspace(experiment, runs)
    record_facts(workspace)
    warn_of_changes(workspace)
    measure_run(workspace.run, workspace.catalog, selection)
    print_metrics(workspace, selection)
