"""Every shipped set from made-up rows to its numbers: one command, one run."""

from __future__ import annotations

from pathlib import Path

from tests.instruments.questions.made_up_files import write
from tests.instruments.questions.test_command import rows
from tests.instruments.questions.test_shipped_sets import READ
from tests.polyculture.test_command_line import polyculture


def test_all_sets_are_asked_read_and_measured_together(tmp_path: Path) -> None:
    for name in READ:
        folder = tmp_path / "cache" / "data" / name
        folder.mkdir(parents=True)
        write(name, folder)
    (tmp_path / "exp.toml").write_text('name = "all"\nmodels = ["mock:one"]\n', encoding="utf-8")
    done = polyculture("ask", ",".join(READ), "exp.toml", cwd=tmp_path, POLYCULTURE_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    read = rows(tmp_path, "SELECT DISTINCT dataset FROM question_readings WHERE reader <> '-'", "all")
    measured = rows(tmp_path, "SELECT DISTINCT dataset FROM numbers WHERE estimate IS NOT NULL", "all")
    assert sorted(name for (name,) in read) == sorted(READ)
    assert sorted(name for (name,) in measured) == sorted(READ)
    again = polyculture("ask", ",".join(READ), "exp.toml", cwd=tmp_path, POLYCULTURE_CACHE=str(tmp_path / "cache"))
    assert "0 of them before" not in again.stderr
