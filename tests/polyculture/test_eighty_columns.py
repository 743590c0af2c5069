"""What `status` and `plan` print of a large experiment: few lines, and no wider than a terminal of 80 columns."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from polyculture.cli.tables import print_table
from tests.polyculture.test_command_line import polyculture
from tests.polyculture.test_console import on_a_terminal

MODELS = [f"mock:a-model-of-the-study-{number}" for number in range(7)]


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    file = tmp_path / "exp.toml"
    file.write_text(
        f'name = "large"\npreset = "makieval"\nmodels = {MODELS}\n[sampling]\nn = 500\n[extract]\nwith = "gazetteer"\n'
        '[link]\nsnapshot = "starter"\n',
        encoding="utf-8",
    )
    return file


def on_eighty_columns(file: Path, *command: str) -> list[str]:
    program = f"""
import os, sys
os.chdir({str(file.parent)!r})
sys.argv = ["polyculture", *{list(command)!r}, "exp.toml"]
from polyculture.__main__ import main
main()
"""
    return [line.rstrip() for line in on_a_terminal(program).replace("\n\n", "\n").splitlines()]


def test_the_status_of_a_large_run_is_a_page(experiment: Path) -> None:
    lines = on_eighty_columns(experiment, "status")
    assert len(lines) <= 26, lines  # a line per stage and model, and the sums; the folder of a test has a long name
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert all(f"{model} " in text for model in MODELS)
    assert text.count("0 of 78 done") == 14
    assert text.count("858,000 left") == 14
    assert "polyculture status exp.toml --jobs" in text
    everything = polyculture("status", experiment, "--jobs", cwd=experiment.parent)
    assert everything.stdout.count("zh-tw") == 2 * 7 * 6  # each job in both stages


def test_a_plan_fits_eighty_columns_and_cuts_no_name(experiment: Path) -> None:
    """Of a model that was priced, 'openai:...' was left."""
    small = 'languages = ["en"]\ntopics = ["food"]\ncountries = ["JP"]'
    experiment.write_text(
        experiment.read_text(encoding="utf-8").replace('preset = "makieval"', small), encoding="utf-8"
    )
    lines = on_eighty_columns(experiment, "plan", "--details")
    tables = "\n".join(lines).split("─\n")[1:]
    rows = [row for table in tables for row in table.partition("\n\n")[0].splitlines()]
    assert len(rows) > 20
    assert max(map(len, rows)) <= 80, rows
    told = "\n".join(lines)
    assert "tokens in" in told
    assert "…" not in told
    assert all(told.count(model) >= 3 for model in MODELS)  # in both tables, and among those whose tokens are counted


def test_models_that_are_paths_are_shown_by_their_ends_and_told_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    """A path of 90 characters took the whole width of a terminal, and all other columns broke."""
    paths = [f"llamacpp:/home/somebody/models/{size}/quantised/of-2026/Qwen2.5-Instruct-Q4_K_M.gguf" for size in "ab"]
    models = [*paths, "openai:org/a-very-long-name-of-a-model-GGUF-Q4_K_M"]
    cells = [models[0], f"{models[1]}\n[1]", f"less {models[2]} (ja)"]  # with a mark, and in a sentence
    print_table(("model", paths[0]), [(one, 1) for one in cells], f"a: {paths[0]}")
    table, _, legend = capsys.readouterr().out.partition("\nllamacpp:…/a/")
    assert all(model not in table for model in paths)
    assert all(f" is {model}\n" in legend for model in paths)
    assert len(table.splitlines()) < 20, table


def test_a_table_is_as_wide_as_a_dumb_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rich takes each of them to be of 80 columns: a table that was laid out for 140 was never finished."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "140")
    words = [f"{letter * 9} " * 3 for letter in "abcdefghij"]
    print_table([word[:9] for word in words], [words])
    rows = screen.getvalue().splitlines()
    assert max(map(len, rows)) in range(100, 141)
    assert all(word.split()[0] in screen.getvalue() for word in words)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True
