"""Questions with several right options: of which one is to be picked, or all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from polyculture.cache.errors import DataSetError
from polyculture.instruments.questions.rules.opened import SHELF, open_set
from tests.polyculture.test_command_line import polyculture
from tests.stored import rows

RUN = "ask-soups"
RULES = """
name = "soups"
title = "Soups of some countries"
licence = "ours"
kind = "choice"
language = "en"
numbers = ["several"]
read_as = ["several"]
[[questions]]
files = "soups.csv"
id = "{no}"
text = "question"
options = ["a", "b", "c", "d"]
right = { column = "key", as = "letter", separator = "," }
[prompts]
label = "1"
option = "{label}. {option}"
templates = { en = "{question}\\nPick all that fit, by their numbers.\\n{options}" }
"""
ONE = RULES.replace('["several"]\nread', '["accuracy"]\nread').replace('read_as = ["several"]', "")
TABLE = """no,question,a,b,c,d,key
1,Which are from Japan?,miso,ramen,borscht,goulash,"A,B"
2,Which is hot?,miso,gazpacho,okroshka,tarator,A
"""
SCORES = "SELECT metric, estimate FROM question_scores WHERE part = 'all' AND prompt IS NULL"


def given(folder: Path, rules: str, answers: list[tuple[str, str]]) -> dict[str, float]:
    """The numbers of answers to questions 1 and 2."""
    (folder / "soups.toml").write_text(rules, encoding="utf-8")
    (folder / "soups.csv").write_text(TABLE, encoding="utf-8")
    said = [{"id": no, "response": text, "sample": place} for place, (no, text) in enumerate(answers)]
    (folder / "said.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in said), encoding="utf-8")
    done = polyculture("import", "said.jsonl", "--set", "soups.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    return dict(rows(folder, SCORES, RUN))


@pytest.mark.parametrize(
    ("answer", "all_right", "overlap"),
    [
        ("1, 2", 1, 1),
        ("2 and 1", 1, 1),
        ("1. miso, 2. ramen", 1, 1),
        ("1", 0, 2 / 3),
        ("1, 2, 3", 0, 4 / 5),
        ("3", 0, 0),
        ("I do not like soup.", None, None),
    ],
)
def test_all_right_options_and_no_other_make_an_answer_right(
    answer: str, all_right: float | None, overlap: float | None, tmp_path: Path
) -> None:
    found = given(tmp_path, RULES, [("1", answer)])
    assert (found["all_right"], found["overlap"]) == pytest.approx((all_right, overlap))


def test_an_answer_that_cannot_be_read_is_not_right(tmp_path: Path) -> None:
    found = given(tmp_path, RULES, [("1", "1, 2"), ("1", "soup!"), ("2", "1"), ("2", "2")])
    assert (found["all_right"], found["overlap"]) == (0.5, 0.5)
    assert found["out_of_choice_ratio"] == 0.25


def test_where_one_is_to_be_picked_any_of_the_right_ones_is_right(tmp_path: Path) -> None:
    found = given(tmp_path, ONE, [("1", "1"), ("1", "2"), ("1", "3"), ("2", "4")])
    assert found["accuracy"] == 0.5
    assert found["chance"] == pytest.approx((3 * 2 / 4 + 1 / 4) / 4)


@pytest.mark.parametrize(
    ("key", "separator"), [('["A", "B"]', ","), ("A,B", ","), ("A, B", ","), ("A;B", ";"), ("AB", "")]
)
def test_the_right_ones_are_a_list_or_letters(key: str, separator: str, tmp_path: Path) -> None:
    cell = '"' + key.replace('"', '""') + '"'
    rules = RULES.replace('separator = ","', f'separator = "{separator}"')
    (tmp_path / "soups.toml").write_text(rules, encoding="utf-8")
    (tmp_path / "soups.csv").write_text(TABLE.replace('"A,B"', cell), encoding="utf-8")
    assert open_set(str(tmp_path / "soups.toml")).questions[0].right == (0, 1)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('numbers = ["several"]', 'numbers = ["accuracy"]', "several"),
        ('numbers = ["several"]', 'numbers = ["several", "accuracy"]', "accuracy"),
        ('read_as = ["several"]', "", "read_as"),
        ('label = "1"', "", "label"),
        ("templates = ", "unknown = []\n# ", "templates"),
    ],
)
def test_rules_that_ask_for_one_and_read_several_are_refused(old: str, new: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "soups.toml"
    file.write_text(RULES.replace(old, new), encoding="utf-8")
    with pytest.raises(DataSetError) as fault:
        SHELF.read(file)
    assert told in str(fault.value)
