"""Stages of an experiment, each as `polyculture run --only` does it, in this process; and runs without reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from polyculture.cache.store.run_folder import RunFolder
from polyculture.experiment.jobs import JobSelection
from polyculture.experiment.workspace import Workspace
from polyculture.running.call_list import check_able, check_calls, texts_in_file
from polyculture.running.executor import begin
from polyculture.running.opening import open_workspace
from polyculture.running.start import run_stage
from polyculture.running.texts import TextsCall


def texts_of(of: Workspace) -> list[TextsCall]:
    """The calls of an experiment that asks for texts alone."""
    return texts_in_file(of)


def check(of: Workspace) -> None:
    """What `plan` and `run` check of texts first. Raises as they do."""
    check_able(texts_of(of))
    check_calls(texts_of(of))


def prepare(of: Workspace, *, accept_changes: bool = False) -> Workspace:
    """Makes an experiment's texts the run's current ones, as `run` does before it asks. Raises as `check`."""
    check_able(texts_of(of))
    for call in texts_of(of):
        begin(call, lambda _level, _line: None, accept_changes=accept_changes)
    return of


def do_stages(file: Path, *stages: str, accept_changes: bool = False) -> Workspace:
    """Does stages in order; returns the experiment as it is then. Raises as `run_stage`."""
    for stage in stages:
        run_stage(open_workspace(file), stage, JobSelection(), accept_changes=accept_changes)
        accept_changes = False
    return open_workspace(file)


@contextmanager
def without_report() -> Iterator[None]:
    """Runs in this process end without writing a report, which takes more than half of the time of a small one: for
    tests of what is asked and stored."""

    def leave_out(run: RunFolder, *_: object) -> Path:
        return run.report

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("polyculture.reports.report.write_report", leave_out)
        yield
