"""Open answers against those of people: exact match, token F1, and BLEnD's soft match."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from polyculture.instruments.questions.reading.open_answers import matches
from polyculture.instruments.questions.rules.opened import open_set


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
        ("১৯৫২", ["১৯৫২"], "bn", 1, 1),  # accepted answers are spelled as texts are
        ("1952", ["১৯৫২"], "bn", 1, 1),
        ("الشاي", ["الشاي"], "ar", 1, 1),
        ("کتاب", ["كتاب"], "fa", 1, 1),
    ],
)
def test_exact_match_and_f1(said: str, answers: list[str], language: str, exact: float, f1: float) -> None:
    found = matches(said, answers, [], language)
    assert (found["exact"], found["f1"]) == pytest.approx((exact, f1))


@pytest.mark.parametrize(
    ("said", "soft", "weighted"),
    [
        ("They eat rice and noodles.", 1, 1),
        ("Mostly noodles", 1, 0.25),
        ("a t shirt", 1, 0.5),
        ("bread", 0, 0),
    ],
)
def test_soft_match_weighs_by_the_people_who_gave_the_answer(said: str, soft: float, weighted: float) -> None:
    found = matches(said, ["rice", "noodle", "T-shirt"], [4, 1, 2], "en")
    assert (found["soft"], found["weighted"]) == (soft, weighted)


def test_without_weights_all_answers_weigh_alike_and_characters_in_another_order_are_another_word() -> None:
    assert matches("noodle", ["rice", "noodle"], [], "en")["weighted"] == 1
    assert matches("饭和米", ["米饭"], [1], "zh")["soft"] == 0


@pytest.mark.parametrize(
    ("said", "answer", "soft"),
    [("The answer is 2.", "2", 1), ("12", "2", 0), ("2.5", "2", 0), ("1,200", "200", 0), ("২টি", "২", 1),
     ("২০২", "২", 0), ("at 14:00", "14:00", 1), ("2, 3", "2", 1), ("green tea", "tea", 1)],
)  # fmt: skip
def test_a_number_within_a_longer_one_is_another_number(said: str, answer: str, soft: float) -> None:
    assert matches(said, [answer], [], "bn")["soft"] == soft


def test_soft_matches_of_blends_own_answers_are_those_by_hand(shared_data: Path) -> None:
    """An accepted answer stands in the text, or all its words do; the heaviest over the heaviest of all (SEM-B, -W)."""
    random = Random(1)
    every_country = open_set("blend-short", shared_data / "blend").questions
    assert len(every_country) == 5167
    asked = [one for one in every_country if one.facets["country"] == "ET"]
    assert len(asked) == 472
    every = [answer for one in asked for answer in one.answers if answer.isalpha()]
    for one in asked:
        said = random.choice([random.choice(every), f"{random.choice(one.answers)} {random.choice(every)}"])
        heard = [
            weight for answer, weight in zip(one.answers, one.weights, strict=True)
            if answer.lower() in said.lower() or {*answer.lower().split()} <= {*said.lower().split()}
        ]  # fmt: skip
        found = matches(said, one.answers, one.weights, "am")
        assert (found["soft"], found["weighted"]) == (bool(heard), max(heard, default=0) / max(one.weights)), said
