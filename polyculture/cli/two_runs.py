"""`compare --baseline`: opens this run and another one, and says what a reader of their difference must know."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.cache.database import connect
from polyculture.cache.errors import ExperimentError
from polyculture.cache.layout import MAIN
from polyculture.cache.manifest import require_run
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.console import say
from polyculture.experiment.workspace import Workspace, open_workspace
from polyculture.metrics import KEPT
from polyculture.metrics.comparison.runs import RunNumbers, RunSides, lay_out_runs, paired_models
from polyculture.running.layout import store_layout
from polyculture.running.sides import Asked

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

    from polyculture.metrics.comparison.compare import Sides


@dataclass(frozen=True)
class ComparedRuns:
    """The numbers of two runs on a connection, their sides, and why some are not decided."""

    connection: duckdb.DuckDBPyConnection
    sides: Sides
    withheld: Mapping[str, str]


def compared_runs(
    workspace: Workspace, baseline: Path, runs: Path | None, asked: Asked, selection: str = MAIN
) -> ComparedRuns:
    """This run beside the one of `baseline`. Raises a `UserError` where there is none, or no model to pair."""
    if asked.native or asked.rest or asked.group:
        what = "--baseline compares this run with another one, and goes with none of --native, --rest and --group"
        raise ExperimentError(what, remedy="Leave one of them out.")
    other = run_of(baseline, runs)
    if other.root.resolve() == workspace.run.root.resolve():
        what = f"{baseline} is this run itself"
        raise ExperimentError(what, remedy="Name the experiment file of another run, or its folder.")
    models = paired_models(require_run(workspace.run), require_run(other), asked.a, asked.b)
    mine, theirs = numbers_of(workspace.run, selection), numbers_of(other, selection)
    if mine.name == theirs.name:
        mine, theirs = replace(mine, name=str(workspace.run.root)), replace(theirs, name=str(other.root))
    connection = connect()
    runs_sides = lay_out_runs(connection, mine, theirs, models)
    _tell(runs_sides)
    return ComparedRuns(connection, runs_sides.sides, runs_sides.withheld)


def run_of(path: Path, runs: Path | None) -> RunFolder:
    """The run of an experiment file, or of a run's folder."""
    return RunFolder(path) if path.is_dir() else open_workspace(path, runs).run


def numbers_of(run: RunFolder, selection: str = MAIN) -> RunNumbers:
    """The numbers of a run's cells. Raises `StoreError` where it holds none."""
    manifest = require_run(run)
    with open_store(run, store_layout(), KEPT, selection) as store:
        return RunNumbers.of(store, run.root.name, manifest)


def _tell(runs_sides: RunSides) -> None:
    pairs = [one if one == other else f"{one} with {other}" for one, other in runs_sides.models]
    say(f"a: this run ({runs_sides.sides.a}); b: the baseline ({runs_sides.sides.b}); compared: {', '.join(pairs)}")
    if runs_sides.other_prompts:
        cells = "cell is" if runs_sides.other_prompts == 1 else "cells are"
        say(f"{runs_sides.other_prompts} {cells} left out: the two runs asked it with other prompts")
    for doubt in runs_sides.doubts:
        say(doubt)
    for metric, reason in runs_sides.withheld.items():
        say(f"{metric or 'all metrics'}: {reason}; a difference may come from that")
