"""`run --only STEP` does that step alone: what it says and measures is of what it did."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import polyculture.instruments as instruments
from tests.polyculture.test_command_line import polyculture
from tests.stored import rows

QUESTIONS = Path(instruments.__file__).parent / "questions" / "demo"
TEXTS = """
languages = ["ja"]
topics = ["food"]
countries = ["IT", "JP"]
conditions = ["neutral", "explicit"]
[sampling]
n = 6
"""
ASK = '[instruments.ask]\nset = "made-up.toml"\n'
SAME = "word for word"  # a doubt about texts that two models share


def write(folder: Path, texts: str = "") -> Path:
    for name in ("made-up.toml", "made-up.tsv"):
        shutil.copyfile(QUESTIONS / name, folder / name)
    (folder / "answers.toml").write_text('[[answer]]\nprompt = "A:"\ntexts = ["A"]\n', encoding="utf-8")
    models = 'models = ["mock:a", "mock:b"]\n'
    file = folder / "exp.toml"
    text = f'name = "only"\n{models}{texts}{ASK}[options.mock]\nanswers = "answers.toml"\n'
    file.write_text(text, encoding="utf-8")
    return file


def test_a_step_of_an_instrument_says_nothing_of_texts(tmp_path: Path) -> None:
    file = write(tmp_path, TEXTS)
    of_texts = polyculture("run", file, "--only", "generate", cwd=tmp_path)
    assert SAME in of_texts.stderr
    for step in ("ask", "ask read"):
        done = polyculture("run", file, "--only", step, cwd=tmp_path)
        assert "Traceback" not in done.stderr
        assert SAME not in done.stderr


def test_measure_makes_the_numbers_of_all_that_was_asked_and_prints_them(tmp_path: Path) -> None:
    file = write(tmp_path)
    for step in ("ask", "ask read"):
        assert polyculture("run", file, "--only", step, cwd=tmp_path).returncode == 0
    numbers = "SELECT count(*) FROM question_scores WHERE estimate IS NOT NULL"
    measured = polyculture("run", file, "--only", "measure", cwd=tmp_path)
    assert measured.returncode == 0, measured.stderr
    assert rows(tmp_path, numbers, "only")[0][0] > 0
    assert "made-up" in measured.stdout


@pytest.mark.parametrize("words", [("probe", "blnd"), ("probe", "blnd", "--units", "3")])
def test_a_misspelt_set_is_said_before_what_the_model_lacks(tmp_path: Path, words: tuple[str, ...]) -> None:
    refused = polyculture(*words, write(tmp_path), cwd=tmp_path)
    assert refused.returncode == 2
    first, *others = refused.stderr.splitlines()
    assert "'blnd'" in first
    assert "'blend'" in first
    assert any("layers" in line for line in others)
