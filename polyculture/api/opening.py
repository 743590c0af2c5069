"""Opens a run for reading: the one that somebody means by its experiment file, or by its folder."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

from polyculture.api.handle import Run
from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import ExperimentError, StoreError
from polyculture.cache.store.manifest import require_run
from polyculture.cache.store.run_folder import RunFolder
from polyculture.experiment.file import Experiment, read_experiment
from polyculture.experiment.workspace import Workspace
from polyculture.running.changes import changed_lines
from polyculture.running.opening import open_workspace

RUNS_VARIABLE = "POLYCULTURE_RUNS"  # of the command line, too


def open(path: Path | str, *, runs: Path | str | None = None) -> Run:
    """Opens the run of an experiment for reading, and returns it as a `Run`. Nothing is written into its folder.

    `path` is an experiment file or the folder of a run. `runs` is the folder that contains the runs; the default is the
    environment variable `POLYCULTURE_RUNS`, or `runs/` next to the file.

    If the file no longer asks for the texts that the run has, a `UserWarning` lists what changed. Raises
    `ExperimentError` if the file is invalid, and `StoreError` if there is no run.
    """
    workspace = find_run(path, runs)
    if workspace.file != workspace.run.experiment:
        for line in changed_lines(workspace):
            warnings.warn(line, UserWarning, stacklevel=2)
    return Run(workspace)


def runs_folder(runs: Path | str | None) -> Path | None:
    """The folder of runs: the one that is given, that of the environment, or None, which is beside the experiment."""
    given = runs or os.environ.get(RUNS_VARIABLE)
    return Path(given).expanduser() if given else None


def find_run(path: Path | str, runs: Path | str | None = None) -> Workspace:
    """The experiment and run of an experiment file, or of a run's folder (its own experiment.toml counts, too).

    Raises `ExperimentError` for an invalid file, and `StoreError` where there is no run.
    """
    place = Path(path).expanduser()
    folder = place if place.is_dir() else place.parent
    if _is_run(folder) and (place.is_dir() or place.name == "experiment.toml"):
        return _of_folder(RunFolder(folder))
    if place.is_dir():
        inside = sorted(str(one) for one in (*place.glob("*.toml"), *place.glob("runs/*")) if _may_be(one))
        remedy = f"Did you mean {' or '.join(inside[:3])}?" if inside else "Name an experiment file or a run's folder."
        raise StoreError("holds no run", where=place, remedy=remedy)
    workspace = open_workspace(place, runs_folder(runs))
    require_run(workspace.run)
    return workspace


def _of_folder(run: RunFolder) -> Workspace:
    """A run without its experiment file: the copy in its folder says what was asked, or else the manifest."""
    manifest = require_run(run)
    if not run.experiment.exists():
        asked: dict[str, Any] = manifest.model_dump(
            include={"models", "languages", "topics", "countries", "conditions"}
        )
        experiment = Experiment.model_construct(**asked, name=manifest.experiment)
        return Workspace(run.experiment, experiment, read_catalog(), run)
    experiment = read_experiment(run.experiment)
    # Where the experiment file stands, by default.
    packs = [run.root.resolve().parent.parent / name for name in experiment.catalog]
    for pack in packs:
        if not pack.is_dir():
            what = f"its experiment has a catalog of its own, and there is no folder {pack}"
            raise ExperimentError(what, where=run.root, remedy="Open the run by its experiment file.")
    return Workspace(run.experiment, experiment, read_catalog(*packs), run)


def _is_run(folder: Path) -> bool:
    return RunFolder(folder).manifest.is_file()


def _may_be(path: Path) -> bool:
    return path.suffix == ".toml" or _is_run(path)
