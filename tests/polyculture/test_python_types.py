"""What a user's own type checker sees of the interface."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.polyculture.test_command_line import ROOT

PROGRAM = """
from pathlib import Path

import pandas as pd
import pyarrow as pa

import polyculture

run: polyculture.Run = polyculture.open(Path("exp.toml"))
frame: pd.DataFrame = run.table("granularity", language="ja", country=None)
rows: pa.Table = run.arrow("granularity", "right_language")
report: Path = run.report()
names: list[str] = run.tables
again: polyculture.Run = polyculture.run({"name": "small"}, accept_changes=True)
try:
    run.compare("ja", "en", by=["model"], targets=["others"])
except polyculture.UserError as fault:
    remedy: str | None = fault.remedy
    line: str = fault.what
"""
WRONG = """
import polyculture

polyculture.open(3)
polyculture.run("exp.toml", accept=True)
polyculture.opne("exp.toml")
polyculture.open("exp.toml").compare("ja", "en", targets=["pages"])
"""


@pytest.mark.slow
def test_a_strict_type_checker_accepts_what_is_right_and_refuses_what_is_not(tmp_path: Path) -> None:
    for name, text in (("right.py", PROGRAM), ("wrong.py", WRONG)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    words = [sys.executable, "-m", "mypy", "--strict", str(tmp_path / "right.py"), str(tmp_path / "wrong.py")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    said = done.stdout.splitlines()
    assert [line for line in said if "right.py" in line] == [], done.stdout
    wrong = {int(line.split(":")[1]) for line in said if "wrong.py" in line and "error" in line}
    assert wrong == {4, 5, 6, 7}, done.stdout
