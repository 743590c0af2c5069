"""Open answers against those of people: exact match, token F1, and BLEnD's soft match."""

from __future__ import annotations

import pytest

from polyculture.instruments.questions.reading.open_answers import match, soft_match
from polyculture.instruments.questions.reading.readers import OpenReader


@pytest.mark.parametrize(
    ("said", "answers", "language", "exact", "f1"),
    [
        ("The noodles.", ["noodles"], "en", 1, 1),
        ("noodle soup", ["soup", "rice"], "en", 0, 2 / 3),
        ("<think>rice?</think>Rice!", ["rice"], "en", 1, 1),
        ('{"answer": "rice"}', ["rice"], "en", 1, 1),
        ("El arroz", ["arroz"], "es", 1, 1),
        ("l'arròs", ["arròs"], "ca", 0, 0),  # one word with its article: as SQuAD's code would have it
        ("김치를", ["김치"], "ko", 0, 4 / 5),
        ("米饭", ["米饭"], "zh", 1, 1),
        ("", ["rice"], "en", 0, 0),
        ("rice", [], "en", 0, 0),
    ],
)
def test_exact_match_and_f1(said: str, answers: list[str], language: str, exact: float, f1: float) -> None:
    assert match(said, answers, language) == pytest.approx((exact, f1))


def test_soft_match_weighs_by_the_people_who_gave_the_answer() -> None:
    answers, weights = ["rice", "noodle", "T-shirt"], [4, 1, 2]
    assert soft_match("They eat rice and noodles.", answers, weights, "en") == (1, 1)
    assert soft_match("Mostly noodles", answers, weights, "en") == (1, 0.25)
    assert soft_match("a t shirt", answers, weights, "en") == (1, 0.5)
    assert soft_match("bread", answers, weights, "en") == (0, 0)
    assert soft_match("noodle", answers, [], "en") == (1, 1)
    assert soft_match("饭和米", ["米饭"], [1], "zh") == (0, 0)  # its characters in another order are another word


def test_readers_of_open_questions_match_each_in_its_own_way() -> None:
    values = {
        name: OpenReader(name).match("white rice", ["rice", "bread"], [1, 2], "en")
        for name in ("exact", "f1", "soft", "weighted")
    }
    assert values == pytest.approx({"exact": 0, "f1": 2 / 3, "soft": 1, "weighted": 0.5})
