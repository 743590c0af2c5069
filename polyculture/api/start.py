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
    """Does all that is left of an experiment: generate, extract, link, measure, report. Returns its run, open.

    `experiment` is a file's path, the keys of one as a dictionary, or an `Experiment`. The run of the last two is kept
    in `runs/` of the present folder, and so are relative paths in them. Calling it again resumes, and so does
    `polyculture run`: both take the same locks, and refuse the same. `job` ('K/N'), `model`, `language` and `topic` do
    a part. With `accept_changes` what a changed experiment makes stale is made again. `retry_failed` asks again what
    failed for good: all (True), or what failed for a reason. With `progress` the command line's lines and bars are
    shown; the loggers below `polyculture` have the lines in any case.

    Raises `PolycultureError`: `ExperimentError` for an experiment that cannot be run, `ChangedExperimentError` for one
    that no longer fits what is stored, `IncompleteError` where some of the work failed, `JobHeldError` where another
    process holds jobs of a part (a whole run waits for them), `BudgetError` where `max_cost` would be passed. What was
    done until then is kept.
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
