"""Opens a run for reading."""

from __future__ import annotations

import warnings
from pathlib import Path

from polyculture.api.finding import find_run
from polyculture.api.handle import Run
from polyculture.experiment.workspace import changed_lines


def open(path: Path | str, *, runs: Path | str | None = None) -> Run:
    """The run of an experiment file, or in a run's folder, open for reading; nothing is written there.

    `runs` is the folder of runs, where it is not `runs/` beside the file. Warns where the file asks for other texts now
    than those of the run. Raises `ExperimentError` for an invalid file, and `StoreError` where there is no run.
    """
    workspace = find_run(path, runs)
    if workspace.file != workspace.run.experiment:
        for line in changed_lines(workspace):
            warnings.warn(line, UserWarning, stacklevel=2)
    return Run(workspace)
