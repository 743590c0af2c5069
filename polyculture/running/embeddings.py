"""The stages of `polyculture embeddings` in order: represent, measure, draw. They are called here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polyculture.instruments.embeddings
from polyculture.console import say

if TYPE_CHECKING:
    from polyculture.experiment.workspace import Workspace
    from polyculture.instruments.cbs.step import ScoringJob
    from polyculture.running.steps import StepRunner

TABLE = Path(polyculture.instruments.embeddings.__file__).with_name("table.sql")


def represent(runner: StepRunner, jobs: Sequence[ScoringJob], layers: tuple[str, ...]) -> None:
    """Represents what is missing; a model is loaded once, and only if it has something to do."""
    from polyculture.instruments.embeddings.step import RepresentingStep

    runner.run_step(RepresentingStep(jobs, layers), tell_settled=False)


def print_separations(workspace: Workspace) -> None:
    """Computes the separations, and prints them."""
    from polyculture.cli.tables import print_query
    from polyculture.instruments.embeddings.measure import measure_separation

    measure_separation(workspace.run)
    print_query(workspace.run, TABLE, "Davies-Bouldin index: the lower, the further apart")


def write_maps(workspace: Workspace, folder: Path) -> None:
    """Writes an SVG file per map into a folder."""
    from polyculture.cache.files import replacing, store_faults
    from polyculture.instruments.embeddings.entity_map import standalone_maps

    with store_faults(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name, svg in standalone_maps(workspace.run):
        with replacing(folder / f"{name}.svg") as temporary:
            temporary.write_text(svg, encoding="utf-8")
        say(f"Wrote {folder / name}.svg")
