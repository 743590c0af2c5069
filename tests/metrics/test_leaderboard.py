"""Rank groups: by hand, and in worlds whose models are known."""

from __future__ import annotations

import pytest

from bench.rank_groups import APART, EQUAL, one_group, two_groups
from polyculture.metrics.leaderboard import rank_groups


@pytest.mark.parametrize(
    ("told", "groups"),
    [
        (set(), [1, 1, 1, 1]),
        ({("a", "d")}, [1, 1, 1, 2]),
        ({("a", "c"), ("a", "d")}, [1, 1, 2, 2]),
        ({("b", "d")}, [1, 1, 1, 1]),  # the first of the group decides
        ({("a", "b"), ("b", "d"), ("a", "d")}, [1, 2, 2, 3]),
        ({("a", "b")}, [1, 2, 2, 2]),  # c is not told from b, and no group is entered twice
    ],
)
def test_a_model_joins_the_group_above_unless_it_is_told_from_its_first(
    told: set[tuple[str, str]], groups: list[int]
) -> None:
    assert rank_groups(list("abcd"), told) == groups


def test_no_models_have_no_groups() -> None:
    assert rank_groups([], set()) == []


def test_nine_equal_models_are_one_group() -> None:
    """`bench.rank_groups` says it of 1,000 worlds."""
    assert one_group(EQUAL, 60) >= 0.93


def test_two_models_are_told_apart_as_often_as_the_tests_power_says() -> None:
    found = two_groups(APART, 120)
    assert 0.3 < found.power < 0.9  # else it shows nothing
    assert found.told == pytest.approx(found.power, abs=3 * (found.power * (1 - found.power) / 120) ** 0.5)
