"""Runs an experiment from Python, as `polyculture run` does."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from polyculture.api.handle import Run
from polyculture.api.opening import runs_folder
from polyculture.cache.errors import ExperimentError
from polyculture.cache.work.faults import RetryFailed
from polyculture.console import shown
from polyculture.experiment.file import Experiment
from polyculture.experiment.jobs import JobSelection
from polyculture.experiment.workspace import Workspace
from polyculture.running.given import workspace_of
from polyculture.running.opening import open_workspace
from polyculture.running.start import run_experiment


def run(
    experiment: Path | str | Experiment | Mapping[str, Any],
    *,
    runs: Path | str | None = None,
    job: str | None = None,
    model: str | None = None,
    language: str | None = None,
    topic: str | None = None,
    accept_changes: bool = False,
    retry_failed: bool | str = False,
    progress: bool = False,
) -> Run:
    """Does all work that is left of an experiment, as `polyculture run` does, and returns its open `Run`.

    The work is to generate, extract, link, measure and write the report. If you call the function again, it resumes. It
    takes the same locks as the command line, so you can use both at the same time.

    - `experiment` is the path of a file, a dictionary with the keys of such a file, or an `Experiment`. Relative paths
      in the last two are relative to the current folder, and their run is stored in `runs/` there.
    - `runs` is the folder that contains the runs; the default is the environment variable `POLYCULTURE_RUNS`, or
      `runs/` next to the file.
    - `job` (`'3/16'` is the third of 16 shares), `model`, `language` and `topic` do only a part of the work.
    - `accept_changes` generates again what a changed experiment makes stale. Without it, such a change is refused.
    - `retry_failed` retries permanent failures: all of them (`True`), or those whose kind or message you name.
    - `progress` shows the messages and progress bars of the command line on standard error. The loggers below
      `polyculture` get the messages in any case.

    Raises subclasses of `PolycultureError`. All work that was done until then is kept:

    - `ExperimentError`: the experiment cannot be run as it is written.
    - `ChangedExperimentError`: the experiment no longer fits what is stored.
    - `IncompleteError`: some of the work failed.
    - `JobHeldError`: you asked for a part, and another process works on its jobs. A whole run waits for them instead.
    - `BudgetError`: the next request might exceed `max_cost`.
    """
    retry = None if retry_failed is False else RetryFailed("" if retry_failed is True else retry_failed)
    with shown() if progress else nullcontext():
        workspace = _workspace(experiment, runs)
        part = JobSelection(job, model, language, topic)
        run_experiment(workspace, part, accept_changes=accept_changes, retry=retry).check()
    return Run(workspace)


def _workspace(experiment: object, runs: Path | str | None) -> Workspace:
    folder = runs_folder(runs)
    if isinstance(experiment, str | Path):
        return open_workspace(Path(experiment).expanduser(), folder)
    if isinstance(experiment, Experiment | Mapping):
        return workspace_of(experiment, folder)
    what = f"a {type(experiment).__name__} is no experiment"
    raise ExperimentError(what, remedy="Give a file's path, a dictionary of its keys, or a polyculture.Experiment.")
