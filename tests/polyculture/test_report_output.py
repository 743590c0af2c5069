"""`polyculture report --output`: the report of a run that one may only read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from polyculture.cache.store.run_folder import RunFolder
from polyculture.metrics.measure import measure
from tests.metrics.compared_runs import specific_with, write_run
from tests.polyculture.test_command_line import one_line, polyculture


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An experiment whose run is measured."""
    chance = {"openai:one": 0.9, "openai:two": 0.1}
    file = write_run(tmp_path, "pilot", specific_with(chance), languages=("de",), topics=("food",))
    measure(RunFolder(tmp_path / "runs" / "pilot"))
    return file


def state(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*")}


def test_a_report_is_written_outside_the_run_and_nothing_into_it(file: Path) -> None:
    before = state(file.parent / "runs" / "pilot")
    done = polyculture("report", file, "--output", "out/mine.html", cwd=file.parent)
    assert done.returncode == 0, done.stderr
    assert "Report: out/mine.html" in done.stdout
    assert "one names specific things more often than two" in (file.parent / "out" / "mine.html").read_text("utf-8")
    assert state(file.parent / "runs" / "pilot") == before
    assert "leave one out" in one_line(polyculture("report", file, "-o", "x.html", "-f", "csv", cwd=file.parent))


def test_a_run_that_one_may_only_read_names_the_option(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The remedy was "Choose another place", and no option did."""
    folder = file.parent / "runs" / "pilot"
    folder.chmod(0o555)
    if os.geteuid() == 0:  # whom no permission stops: as the system answers anybody else
        monkeypatch.setattr("os.access", lambda path, mode: not (Path(path) == folder and mode == os.W_OK))
    try:
        done = polyculture("report", file, cwd=file.parent)
        assert "--output" in one_line(done)
        assert "pilot" in done.stderr
        assert polyculture("report", file, "--output", "mine.html", cwd=file.parent).returncode == 0
    finally:
        folder.chmod(0o755)
