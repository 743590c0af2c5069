"""Forty prompts and answers of many kinds, written before any of them was read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from polyculture.instruments.questions.model import Question
from polyculture.instruments.questions.option_lists import shown_in
from polyculture.instruments.questions.reading.choice import read_choice
from polyculture.sources.left_out import SourceLocation

CASES = [
    json.loads(line) for line in Path(__file__).with_name("layouts.jsonl").read_text(encoding="utf-8").splitlines()
]
UNREAD = (4, 35)  # not read yet: a table with the labels in its head; "Antwort 2 ist richtig."


@pytest.mark.parametrize("number", range(1, len(CASES) + 1))
def test_what_an_answer_picks_is_read_whatever_the_layout(number: int) -> None:
    case: dict[str, Any] = CASES[number - 1]
    options = tuple(case["options"])
    asked = Question("1", "soups", case["language"], "choice", "1", "?", options, ("",) * 4, (2,),
                     SourceLocation("soups.csv", "2"))  # fmt: skip
    seen = shown_in(case["prompt"], asked)
    assert seen is not None
    found = read_choice(case["answer"], seen.texts, seen.labels, None, case["language"])
    read = None if found.place is None else options[seen.order[found.place]]
    assert read == case["expected"] or (read is None and number in UNREAD)
