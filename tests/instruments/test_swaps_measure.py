"""Rates of answers about swapped entities: by count, and their intervals by simulation with a known truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from polyculture.instruments.swaps import measure
from polyculture.instruments.swaps.rates import AnswerGroup, SwapScope
from polyculture.instruments.swaps.ratios import SideAnswers, rate, ratio
from tests.instruments.swap_worlds import WORLDS, logistic, tried
from tests.simulated import data_sets, least, most

ENTITIES, DRAWN, DRAWS = 60, 20, 3


def side(rows: list[tuple[float, float, int, int, int]]) -> SideAnswers:
    """Rows of numerator, denominator, context, entity, draw."""
    columns = list(zip(*rows, strict=True))
    numbers = [np.array(column, np.float64) for column in columns[:2]]
    return SideAnswers(*numbers, *(np.array(column, np.int64) for column in columns[2:]))


def test_a_rate_is_the_mean_of_its_draws() -> None:
    found = ratio(side([(1, 1, 0, 0, 0), (0, 1, 1, 1, 0), (1, 1, 0, 2, 1), (1, 1, 1, 1, 1), (1, 1, 1, 0, 1)]))
    assert found.draws == {0: 0.5, 1: 1.0}
    assert found.value == 0.75
    assert found.added.sum() == pytest.approx(0)


def test_a_ratio_of_sums_is_no_mean_of_ratios() -> None:
    found = ratio(side([(2, 2, 0, 0, 0), (0, 6, 1, 1, 0)]))
    assert found.value == 0.25


def test_nothing_to_divide_by_is_no_rate() -> None:
    assert ratio(side([(0, 0, 0, 0, 0)])) is None


def test_where_all_are_right_the_interval_is_that_of_the_scarcer_units() -> None:
    found = ratio(side([(1, 1, context, entity, 0) for context in range(9) for entity in range(4)]))
    assert found is not None
    low, high = rate(found).limits(0, 1)
    assert high == 1.0
    assert 0.2 < low < 0.5  # four entities


def test_a_rate_without_an_interval_has_its_reason() -> None:
    """A table in which all answers are wrong showed nothing for interval and p."""
    columns = {"native": np.ones(4), "draw": np.zeros(4), "times": np.ones(4), "language": np.full(4, "en")}
    columns |= {
        "entity": np.arange(4),
        "wording": np.full(4, "standard"),
        "gold": np.full(4, "e"),
        "answer": np.full(4, ""),
    }
    columns |= {name: np.ones(4) for name in ("ok", "answered", "strict_answered")}
    columns |= {name: np.zeros(4) for name in ("matched", "predicted", "strict", "strict_predicted")}
    whole, part = AnswerGroup("qa", "prompt", "m", "own", ("qa",)), SwapScope("en", "x", "food")
    for contexts, counted, no_estimate, no_interval in (
        ([0, 0, 0, 0], 1, None, "few contexts"),
        ([0, 1, 2, 3], 1, None, None),  # all wrong: Wilson's
        ([0, 1, 2, 3], 0, "no answer counts", None),
    ):
        own = {**columns, "context": np.array(contexts), "answered": np.full(4, counted)}
        first = next(iter(measure._part_numbers(whole, part, own, "")))
        assert (first.metric, first.no_estimate, first.no_interval) == ("accuracy", no_estimate, no_interval)


def test_a_single_context_has_no_interval() -> None:
    found = ratio(side([(entity % 2, 1, 0, entity, 0) for entity in range(8)]))
    assert found is not None
    assert rate(found).limits(0, 1) == (None, None)


@data_sets(60, 150)
@pytest.mark.parametrize("name", ["one language", "4 languages of one sheet; 10 contexts, 10 of 30"])
def test_intervals_cover_the_truth(name: str, count: int) -> None:
    """Languages as independent samples covered 69 to 84 %."""
    found = tried(WORLDS[name], count)
    assert min(found.rate, found.gap, found.models, found.gaps) >= least(count)
    assert found.told <= most(count)


@data_sets(60, 150)
def test_the_size_of_a_difference_without_an_effect_is_what_chance_gives(count: int) -> None:
    """A mean of absolute differences is above 0 whatever the model: Camellia's |dFN| was 6 to 9 with no effect."""
    found = tried(WORLDS["one language"], count)
    assert found.chance == pytest.approx(found.size, rel=1.8 / count**0.5)
    far = tried(replace(WORLDS["one language"], western=0.5), 20)
    assert far.size > 1.5 * far.chance


def test_two_models_are_told_apart_on_the_same_texts() -> None:
    assert tried(WORLDS["two models, a gap of 3 standard errors"], 60).told > 0.7


@pytest.mark.full
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", WORLDS)
def test_intervals_cover_the_truth_in_all_worlds(name: str) -> None:
    found = tried(WORLDS[name], 1_000)
    assert min(found.rate, found.gap, found.models, found.gaps) > 0.92


def labels(random: np.random.Generator, contexts: int, entities: int, draws: int, drawn: int) -> SideAnswers:
    """Macro F1 of three labels: hard and easy contexts and entities; a wrong answer is most often 'positive'."""
    gold = random.integers(0, 3, contexts)
    hard = random.normal(0, 1, contexts)[:, None] + random.normal(0, 0.8, entities)
    right = random.random((contexts, entities)) < logistic(0.7 + hard)
    wrong = (gold[:, None] + 1 + (random.random((contexts, entities)) < 0.7 * (gold[:, None] == 1))) % 3
    said = np.where(right, gold[:, None], wrong)
    picked = random.random((draws, contexts, entities)).argsort(axis=2)[:, :, :drawn]
    draw, context, _ = (part.ravel() for part in np.indices(picked.shape))
    entity = picked.ravel()
    is_gold, is_said = (
        np.stack([one == label for label in range(3)]).astype(float) for one in (gold[context], said[context, entity])
    )
    return SideAnswers(2 * is_gold * is_said, is_gold + is_said, context, entity, draw)


@data_sets(60, 150)
def test_a_mean_of_several_ratios_is_that_of_each_and_its_interval_covers_the_truth(count: int) -> None:
    random = np.random.default_rng(3)
    large = labels(random, 3000, 1500, 1, 300)
    sums = [large.numerators.sum(axis=1), large.denominators.sum(axis=1)]
    expected = float(np.mean(sums[0] / sums[1]))
    found = ratio(large)
    assert found.value == pytest.approx(expected)
    hits = 0
    for _ in range(count):
        own = ratio(labels(random, 30, ENTITIES, DRAWS, DRAWN))
        assert own.added.sum() == pytest.approx(0, abs=1e-9)
        low, high = rate(own).limits(0, 1)
        hits += low <= expected <= high
    assert least(count) <= hits / count
    assert hits < count or count < 150  # some of many miss it: they are no wider than they must be


def test_a_label_that_neither_texts_nor_answers_have_is_in_no_mean() -> None:
    numerators = np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    denominators = np.array([[2.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    ones = np.zeros(2, np.int64)
    found = ratio(SideAnswers(numerators, denominators, np.arange(2), np.arange(2), ones))
    assert found.value == pytest.approx((2 / 3 + 0) / 2)
