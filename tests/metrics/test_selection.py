"""What is picked of many comparisons, and the intervals of what is picked."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from polyculture.metrics.comparison.effect import Effect, paired_effect
from polyculture.metrics.comparison.selection import RATE, select
from tests.metrics.selection_worlds import WORLDS, tried


def effect(distance: float, blocks: int = 40) -> Effect:
    """An effect that is `distance` standard errors from 0."""
    shape = np.linspace(-1, 1, blocks)
    values = shape + distance * shape.std(ddof=1) / np.sqrt(blocks)
    found = paired_effect(values, np.zeros(blocks), np.arange(blocks))
    assert found is not None
    return found


def test_the_interval_of_another_level_is_of_the_same_method() -> None:
    found = effect(5.0)
    assert found.mean is not None
    assert found.at(0.95) == (found.low, found.high)
    assert found.p is not None
    low, high = found.at(1 - found.p) or (0.0, 0.0)
    assert min(abs(low), abs(high)) == pytest.approx(0, abs=1e-9)  # it inverts the test that gave p
    narrower = found.at(0.999) or (0.0, 0.0)
    assert low < narrower[0] < narrower[1] < high


def test_an_interval_ends_where_the_metric_does() -> None:
    found = paired_effect(np.array([1.0] * 17 + [0.2]), np.zeros(18), np.arange(18), farthest=1.0)
    assert found is not None
    assert (found.at(0.9999) or (0, 0))[1] == 1.0


def test_three_at_most_are_picked_one_of_a_kind_and_the_clearest_first() -> None:
    effects = [effect(6.0), effect(9.0), effect(8.0), effect(7.0), effect(0.1)]
    found = select(effects, ["x", "x", "y", "z", "w"])
    assert found.picked == (1, 2, 3)
    assert found.level == pytest.approx(1 - 3 * RATE / 5)
    assert (found.family, found.surviving) == (5, 4)
    assert select(effects, ["x"] * 5).picked == (1,)
    assert select(effects, ["x"] * 5).level == pytest.approx(1 - RATE / 5)


def test_what_is_picked_leaves_out_0_at_its_own_level_and_survives_as_a_family() -> None:
    random = np.random.default_rng(1)
    for _ in range(50):
        effects = [effect(float(random.normal(scale=3))) for _ in range(12)]
        found = select(effects, range(12))
        for at in found.picked:
            assert found.level is not None
            low, high = effects[at].at(found.level) or (0.0, 0.0)
            assert low > 0 or high < 0
        q = stats.false_discovery_control([one.p for one in effects if one.p is not None])
        assert all(q[at] < RATE for at in found.picked)
        assert found.surviving == int((q < RATE).sum())


def test_nothing_is_picked_where_nothing_stands_out_or_nothing_was_tested() -> None:
    found = select([effect(1.0), effect(-1.5), None], "abc")
    assert (found.picked, found.level, found.family) == ((), None, 2)
    assert found.smallest is not None
    assert found.smallest > RATE
    assert select([None], "a").smallest is None
    assert select([], []).family == 0


def test_reports_of_worlds_without_a_difference_show_few_findings_and_intervals_of_others_hold() -> None:
    assert tried(WORLDS["nothing differs"], 60).with_findings <= 0.12
    little = tried(WORLDS["little differs"], 60)
    assert little.shown > 1
    assert little.missed <= 0.08 < little.unwidened  # as 95 % intervals they would miss far more often
