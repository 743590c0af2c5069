"""The cultural flattening score: a case by hand, a brute-force oracle, intervals and the test by chance."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import ttest_1samp

from polyculture.instruments.probe.flattening import flattening, groups_of_pairs, judge
from polyculture.instruments.probe.halves import halves, student
from polyculture.instruments.probe.occurrences import Occurrences
from polyculture.metrics.inference.arrays import Integers
from tests.instruments.arm_worlds import PAIR_WORLDS, WORLDS, ArmWorld, pairs_tried, tried

BY_HAND = np.array([[4, 3, 0], [0, 1, 3], [2, 2, 3]])  # items x cultures; 6 occurrences of each culture


def brute_force(counts: Integers) -> dict[tuple[int, int], tuple[float, float]]:
    """F and the total of t of each pair, by the words of the definition."""
    items, cultures = counts.shape
    volume = [sum(int(counts[k][y]) for k in range(items)) for y in range(cultures)]
    contribution = {}
    for k, y in product(range(items), range(cultures)):
        everywhere = sum(int(n) for n in counts[k])
        expected = volume[y] * everywhere / sum(volume)
        more = int(counts[k][y]) * sum(volume) > volume[y] * everywhere
        contribution[k, y] = (counts[k][y] - expected) ** 2 / expected if more else 0.0
    return {
        (t, s): (
            sum(contribution[k, t] for k in range(items) if contribution[k, s] != 0),
            sum(contribution[k, t] for k in range(items)),
        )
        for t, s in product(range(cultures), repeat=2)
        if t != s
    }


def test_a_case_by_hand() -> None:
    found = flattening(BY_HAND)
    assert found.score[0, 1] == pytest.approx(25 / 21)
    assert found.score[1, 0] == pytest.approx(4 / 21)
    assert found.score[0, 2] == found.score[2, 0] == found.score[1, 2] == found.score[2, 1] == 0
    assert found.total == pytest.approx([25 / 21, 4 / 21, 25 / 12 + 4 / 21])
    assert found.share[0, 1] == pytest.approx(1.0)
    assert math.isnan(found.score[0, 0])


def test_one_occurrence_each_in_two_of_fourteen_cultures() -> None:
    """5.1 of nothing."""
    counts = np.vstack([np.full(14, 9), np.eye(1, 14) + np.eye(1, 14, 1), 1 - np.eye(1, 14) - np.eye(1, 14, 1)])
    counts = counts.astype(np.int64)
    assert flattening(counts).score[0, 1] == pytest.approx(5.142857)


@pytest.mark.parametrize("counts", [BY_HAND[:, :2], np.array([[1, 1, 0], [2, 1, 0]])])
def test_fewer_than_three_cultures_are_refused(counts: Integers) -> None:
    with pytest.raises(ValueError, match="at least 3 cultures"):
        flattening(counts)


matrices = st.tuples(st.integers(1, 6), st.integers(3, 5)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 5))
)


@settings(max_examples=30, deadline=None)
@given(matrices.filter(lambda counts: bool(counts.sum(0).all())))
def test_the_function_is_the_definition(counts: Integers) -> None:
    found = flattening(counts)
    for (t, s), (score, total) in brute_force(counts).items():
        assert found.score[t, s] == pytest.approx(score, abs=1e-9)
        assert found.total[t] == pytest.approx(total, abs=1e-9)
        share = found.share[t, s]
        assert math.isnan(share) if total == 0 else share == pytest.approx(score / total)


def world(chance: np.random.Generator, borrowed: float, questions: int = 50, cultures: int = 4) -> Any:
    """Draws studies in which the first culture borrows from the second."""
    draw = ArmWorld(1, borrowed, "noise", questions, cultures, items=40, arm_items=1).draw(chance)
    return lambda: draw()[0]


@pytest.mark.parametrize("where", ["equal cultures; 60", "one leans by half; 12"])
def test_intervals_hold_the_score_of_other_questions(where: str) -> None:
    """Draws with replacement held 100 % of F of equal cultures and 84 % of their shares; `bench.coverage` has all."""
    held = pairs_tried(PAIR_WORLDS[where], 32, resamples=49, worlds=2)
    assert not held.withheld.any()
    assert (held.covered >= 0.87).all()
    assert held.covered[0] <= 0.985


def test_chance_alone_has_no_small_p_and_borrowing_has() -> None:
    chance = np.random.default_rng(5)
    alike = world(chance, 0.0, cultures=3)
    same = [judge(_relabelled(alike(), chance), resamples=99, seed=n).p[0, 1] for n in range(40)]
    assert np.mean(np.array(same) <= 0.05) <= 0.16
    assert 0.3 < np.mean(same) < 0.7
    borrowing = judge(world(chance, 0.9)(), resamples=99)
    assert borrowing.p[0, 1] == 0.01
    assert borrowing.by_chance[0, 1] < borrowing.found.score[0, 1]


def _relabelled(data: Occurrences, chance: np.random.Generator) -> Occurrences:
    """The same with cultures that mean nothing: permuted within each question."""
    order = np.stack([chance.permutation(data.cultures) for _ in range(int(data.question.max()) + 1)])
    return Occurrences(data.question, order[data.question, data.culture], data.item, data.count, data.cultures)


def test_a_few_questions_have_no_interval() -> None:
    found = judge(world(np.random.default_rng(2), 0.5, questions=11)(), resamples=19)
    assert np.isnan(found.score_interval.low).all()
    assert np.isnan(found.share_interval.high).all()
    assert found.score_interval.lacking[0].tolist() == [None, *["fewer than 12 questions"] * 3]
    assert 0.05 <= found.p[0, 1] <= 1.0


def test_what_no_half_can_change_has_no_interval() -> None:
    """The first two cultures share items, the third none with anybody: its F is 0 in every half, and says nothing."""
    chance = np.random.default_rng(4)
    question, culture = (part.ravel() for part in np.meshgrid(np.arange(20), np.arange(3), indexing="ij"))
    item = np.where(culture == 2, 50 + question, chance.integers(8, size=60))
    found = judge(Occurrences(question, culture, item, np.ones(60, np.int64), 3), resamples=49)
    for t, s in ((0, 2), (2, 0), (1, 2), (2, 1)):
        assert found.found.score[t, s] == 0
        assert math.isnan(found.score_interval.low[t, s])
        assert math.isnan(found.share_interval.high[t, s])
        assert found.score_interval.lacking[t, s] == "the same in all halves"
    assert found.score_interval.low[0, 1] < found.found.score[0, 1] < found.score_interval.high[0, 1]
    assert found.score_interval.lacking[0, 1] is None


def test_halves_that_lack_a_culture_give_no_interval() -> None:
    """Eight cultures have items in one question each: hardly a half of the questions has all of them."""
    question = np.array([*range(20), *range(20), *range(8)])
    culture = np.array([0] * 20 + [1] * 20 + [*range(2, 10)])
    item = np.array([*range(20), *range(20), *[0] * 8])
    found = judge(Occurrences(question, culture, item, np.ones(48, np.int64), 10), resamples=19)
    assert found.score_interval.lacking[0, 1] == "halves of the questions miss a culture"
    assert np.isnan(found.score_interval.low).all()


def test_halves_of_questions() -> None:
    """Halves draw no question twice; of a sum, their limits are those of Student's mean."""
    chance = np.random.default_rng(3)
    for questions, larger in ((12, 6), (13, 7)):
        drawn = [next(halves(questions, chance)) for _ in range(3)]
        assert {(int(one.sum()), int(one.max())) for one in drawn} == {(larger, 1)}
    values = chance.normal(3, 2, 13)
    means = np.array([[values[half == 1].mean()] for half, _ in zip(halves(13, chance), range(4000), strict=False)])
    low, high = student(np.array([values.mean()]), means, 13)
    known = ttest_1samp(values, 0).confidence_interval(0.95)
    assert (low[0], high[0]) == pytest.approx(tuple(known), abs=0.1)
    for alike in (0.0, 0.1, 1e6 / 3):
        assert all(np.isnan(end).all() for end in student(np.array([alike]), np.full((9, 1), alike), 12))


@pytest.mark.parametrize(
    "where", ["equal cultures, noise; 12 questions", "one leans by half, the same items; 25 questions"]
)
def test_intervals_of_arms_hold_the_truth(where: str) -> None:
    """Draws with replacement hold 100 % of cultures that are equal; `bench.coverage --only arms` has all worlds."""
    held = tried(WORLDS[where], 40, resamples=49, worlds=1)
    assert not held.withheld.any()
    assert (held.covered >= 0.8).all()  # forty studies tell a share of 95 % to within 7 points


def test_groups_of_pairs_are_the_mean_of_their_scores() -> None:
    """The first culture leans on the second: its pairs have more F than the others', in the data and in its halves."""
    data = world(np.random.default_rng(6), 0.9, questions=40)()
    first = np.zeros((4, 4), dtype=bool)
    first[0, 1:] = True
    others = ~first & ~np.eye(4, dtype=bool)
    one, other, apart = groups_of_pairs(data, {"lean": (first, others)}, 40, 99, 1)["lean"]
    score = flattening(data.counted()).score
    assert (one, other) == pytest.approx((score[0, 1:].mean(), score[others].mean()))
    assert apart.value == pytest.approx(one - other)
    assert apart.low < apart.value < apart.high
    assert (apart.low > 0) == ((apart.p or 1) < 0.05)
    *_, few = groups_of_pairs(data, {"lean": (first, others)}, 11, 99, 1)["lean"]
    assert (few.low, few.lacking) == (None, "fewer than 12 questions")
