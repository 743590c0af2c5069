"""Answers of extractors in unusual forms, in 18 languages: what they list is read, with its names, or asked for again.

`unusual_answers.jsonl` is ours. A case is an answer about a text, and the [text, kind, name, english] of each mention
that it lists, or "unusable". `arguable` says why another reading would be right, too; where an answer is read otherwise
than its writer wanted, `today` says how, and `why`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.extract.answer import CUT_SHORT, ECHOED, UnusableAnswerError, read_answer

FOOD = read_catalog().topic("food")
FILE = Path(__file__).with_name("unusual_answers.jsonl")
CASES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
SHARED = Path(__file__).parents[3] / "shared/data/cases/answers/extractor.jsonl"


def listed(case: dict[str, Any]) -> list[list[str | None]] | str:
    try:
        read = read_answer(case["answer"], FOOD.kinds, case.get("ending", "whole"))
    except UnusableAnswerError:
        return "unusable"
    return [[one.text, one.kind, one.name, one.english] for one in read.entities]


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_a_mention_is_read_whole_or_asked_for_again(case: dict[str, Any]) -> None:
    found = listed(case)
    wanted = case.get("today", case["expect"])
    assert found == wanted or sorted(map(str, found)) == sorted(map(str, wanted))


@pytest.mark.skipif(not SHARED.exists(), reason=f"needs {SHARED.name} of the shared data")
def test_the_shared_cases() -> None:
    cases = [json.loads(line) for line in SHARED.read_text(encoding="utf-8").splitlines()]
    for case in cases:
        found = listed(case)
        assert (found if isinstance(found, str) else [[row[0], *row[2:]] for row in found]) == case["expect"], case


@pytest.mark.parametrize("case", [case for case in CASES if case["case"].startswith("the echoed form,")])
def test_an_echoed_form_is_not_read_as_a_text_that_names_nothing(case: dict[str, Any]) -> None:
    with pytest.raises(UnusableAnswerError, match=ECHOED):
        read_answer(case["answer"], FOOD.kinds, "whole")


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["ending"] == "cut" and case.get("today", case["expect"]) != "unusable"],
    ids=lambda case: case["case"],
)
def test_what_a_limit_cut_says_so(case: dict[str, Any]) -> None:
    read = read_answer(case["answer"], FOOD.kinds, "cut")
    assert (read.cut, CUT_SHORT in (read.note or "")) == (True, True)


def test_a_word_for_no_name_that_is_the_mention_itself_is_a_name() -> None:
    raw = '{"mentions": [{"text": "Nada", "kind": "title", "name": "Nada", "english": "nada"}]}'
    (one,) = read_answer(raw, read_catalog().topic("book").kinds, "whole").entities
    assert (one.name, one.english) == ("Nada", "nada")
