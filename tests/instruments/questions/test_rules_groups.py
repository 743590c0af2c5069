"""Who a stereotype of BBQ is about, where its groups and its answers call one group by different names."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from polyculture.instruments.questions.rules.groups import Person, categories, plain, targets

TABLES = tomllib.loads(Path(__file__).with_name("groups.toml").read_text(encoding="utf-8"))
EXPECTED = {"first": [0], "second": [1], "neither": [], "both": [0, 1]}
CATEGORIES = ("Age", "Disability_status", "Gender_identity", "Nationality", "Physical_appearance", "Race_ethnicity",
              "Race_x_SES", "Race_x_gender", "Religion", "SES", "Sexual_orientation")  # fmt: skip


def test_every_category_of_bbq_has_its_names() -> None:
    assert {name.casefold() for name in CATEGORIES} <= set(categories())


@pytest.mark.parametrize("case", TABLES["cases"], ids=lambda case: f"{case[0]} {case[1]}")
def test_who_the_stereotype_is_about(case: list[Any]) -> None:
    category, groups, *persons, expected = case
    told = [Person(one[0], one[1], one[-1]) for one in persons]
    assert targets(category, groups, told) == EXPECTED[expected]
    assert targets(category, groups, told[::-1]) == sorted(1 - number for number in EXPECTED[expected])


def test_a_plural_is_its_singular_and_unlike_words_stay_apart() -> None:
    assert [(plural, plain(plural)) for plural, _ in TABLES["plurals"]] == [
        (plural, plain(singular)) for plural, singular in TABLES["plurals"]
    ]
    words = ["man", "woman", "prince", "princess", "person", "child", "Chinese", "Chilean", "wife", "widow", "boy"]
    assert len({plain(word) for word in words}) == len(words)
