"""Ctrl-C while a command is starting: one line, exit code 130, and at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from polyculture.__main__ import INTERRUPTED, STOPPED, _interrupt
from tests.polyculture.test_command_line import EXPERIMENT, ROOT, polyculture

AT_ONCE = 2.0  # seconds of CPU after the signal
# What the process has just imported when Ctrl-C is pressed: the first of its modules, a library of the command line,
# all commands, then what the command itself loads.
MOMENTS = ["polyculture.console", "typer", "polyculture.cli.app", "pydantic", "numpy", "pyarrow.lib", "duckdb"]


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("start") / "exp.toml"
    file.write_text(EXPERIMENT.format(model="llamacpp:smollm2", url="http://127.0.0.1:9/v1"), encoding="utf-8")
    return file


@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_during_the_start(experiment: Path, moment: str) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a child inherits only whether it is ignored
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "polyculture", "status", experiment],
            cwd=experiment.parent,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPROFILEIMPORTTIME": "1"},
        )
    finally:
        signal.signal(signal.SIGINT, before)
    others = _cpu_of_children()
    with process:
        assert process.stderr is not None
        assert any(line.split("|")[-1].strip() == moment for line in process.stderr)
        before_it = _cpu_seconds(process.pid)
        process.send_signal(signal.SIGINT)
        said = [line for line in process.stderr if not line.startswith("import time:")]
    assert said == [f"{STOPPED}\n"]
    # Python ends by the signal itself where it met Ctrl-C within an `exec`, as of a dataclass: 130 to a shell, too.
    assert process.returncode in (INTERRUPTED, -signal.SIGINT)
    assert _cpu_of_children() - others - before_it < AT_ONCE


def _cpu_seconds(process: int) -> float:
    """What a process has used so far."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _cpu_of_children() -> float:
    """What the processes that ended have used."""
    spent = os.times()
    return spent.children_user + spent.children_system


def test_who_ignores_ctrl_c_keeps_that(experiment: Path) -> None:
    """As a shell's background job does; and the command's own handling is back once it is at work."""
    own = signal.getsignal(signal.SIGINT)
    try:
        for handler in (signal.SIG_IGN, signal.default_int_handler):
            signal.signal(signal.SIGINT, handler)
            assert polyculture("status", experiment, cwd=experiment.parent).returncode == 0
            assert signal.getsignal(signal.SIGINT) is (handler if handler is signal.SIG_IGN else _interrupt)
    finally:
        signal.signal(signal.SIGINT, own)
