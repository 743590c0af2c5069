"""Answers to multiple-choice questions in 32 languages, each written before anybody had it read.

A case of `cases.jsonl`, which is ours, has the options as shown, the answer, and what it picks: a label, an option
where no labels were shown, or null. `arguable` says why another reading is right, too; `unread` why none is found.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from polyculture.instruments.questions.reading.choice import read_choice

CASES = [json.loads(line) for line in Path(__file__).with_name("cases.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_an_answer_is_read_as_meant_or_not_at_all(case: dict[str, Any]) -> None:
    place = read_choice(case["answer"], case["options"], case["labels"], case["unknown"], case["language"]).place
    found = None if place is None else (case["labels"] or case["options"])[place]
    assert found == (None if "unread" in case else case["expect"])


def test_few_cases_are_known_to_be_unread() -> None:
    assert len({case["language"] for case in CASES}) == 32
    assert sum("unread" in case for case in CASES) == 12
