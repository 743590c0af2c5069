"""Types agree everywhere: mypy, as `make lint` runs it, in a process beside the other tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy", reason="mypy is not installed")


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_types_agree() -> None:
    words = ["-m", "mypy", "-p", "polyculture", "-m", "tests.polyculture.typed_use"]
    done = subprocess.run([sys.executable, *words], cwd=Path(__file__).parents[1], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
