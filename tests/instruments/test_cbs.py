"""The Cultural Bias Score against all pairs, its intervals against a known truth, CAMeL's protocol."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from polyculture.cache.identity import content_id
from polyculture.instruments.cbs.averages import averaged_draws, tally
from polyculture.instruments.cbs.bias import Numbers, compare, placements
from polyculture.instruments.cbs.camel_draws import CamelDraws
from polyculture.instruments.cbs.score_interval import mean_difference
from polyculture.instruments.cbs.uncertainty import ScoreMatrix, bias, compared, whole
from polyculture.instruments.differences import PairedDifference

# Few distinct values, so that ties are common; NaN is an entity without a likelihood.
LIKELIHOODS = st.lists(st.one_of(st.integers(-3, 3).map(float), st.just(float("nan")), st.floats(-50, 0)), max_size=30)


def difference(one: ScoreMatrix, other: ScoreMatrix) -> PairedDifference:
    return mean_difference([(compared(whole(one), whole(other)), 1)])


def all_pairs(native: Numbers, western: Numbers) -> tuple[float, float] | None:
    pairs = [(a, b) for a in native for b in western if not (np.isnan(a) or np.isnan(b))]
    if not pairs:
        return None
    ties = sum(a == b for a, b in pairs)
    return sum(b > a for a, b in pairs) / len(pairs), ties / len(pairs)


@given(LIKELIHOODS, LIKELIHOODS)
def test_ranks_give_what_all_pairs_give(native: list[float], western: list[float]) -> None:
    one, other = np.array(native), np.array(western)
    found, expected = compare(one, other), all_pairs(one, other)
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert (found.score, found.ties) == pytest.approx(expected)
        assert found.pairs == np.sum(~np.isnan(one)) * np.sum(~np.isnan(other))
        assert (found.tied, found.won) == (
            round(expected[1] * found.pairs),
            sum(b > a for a in one for b in other),
        )


@given(LIKELIHOODS, LIKELIHOODS)
def test_placements_average_to_the_score(native: list[float], western: list[float]) -> None:
    one, other = np.array(native), np.array(western)
    found = compare(one, other)
    if found is not None:
        of_native, of_western = placements(one, other)
        assert np.nanmean(of_native) == pytest.approx(found.score)
        assert np.nanmean(of_western) == pytest.approx(found.score)
        assert (np.isnan(of_native) == np.isnan(one)).all()


@given(LIKELIHOODS, LIKELIHOODS)
def test_the_two_sides_change_places(native: list[float], western: list[float]) -> None:
    one, other = np.array(native), np.array(western)
    found, back = compare(one, other), compare(other, one)
    assert (found is None) == (back is None)
    if found is not None and back is not None:
        assert found.score + back.score + found.ties == pytest.approx(1)


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(2, 6), st.integers(2, 9), st.integers(2, 9))
def test_the_mean_is_that_of_the_contexts(seed: int, contexts: int, native: int, western: int) -> None:
    random = np.random.default_rng(seed)
    panel = ScoreMatrix(
        random.normal(size=(contexts, native)).round(1), random.normal(size=(contexts, western)).round(1)
    )
    panel.native[random.random(panel.native.shape) < 0.2] = np.nan
    scores = [found.score for a, b in zip(panel.native, panel.western, strict=True) if (found := compare(a, b))]
    estimate = bias(panel)
    assert (estimate is None) == (not scores)
    if estimate is not None:
        assert estimate.value == pytest.approx(np.mean(scores))
        low, high = estimate.limits(0, 1)
        assert low is None or high is None or low <= estimate.value <= high


# Contexts, native, Western; mean difference; spread of contexts, native, Western; noise of a single likelihood.
WORLDS = [
    (25, 60, 80, -1.0, 0.5, 1.0, 1.0, 1.0),
    (40, 20, 100, 1.0, 0.5, 1.0, 0.3, 1.0),
    (8, 100, 100, 0.0, 1.5, 0.5, 0.5, 1.0),
]


@pytest.mark.parametrize("world", WORLDS)
def test_intervals_cover_the_truth(world: tuple[int, int, int, float, float, float, float, float]) -> None:
    """400 worlds: a true coverage of 95 % stays within 91.7 to 98.3 % with a probability of 99.7 %."""
    contexts, native, western, shift, of_context, of_native, of_western, noise = world
    truth = norm.cdf(shift / np.sqrt(of_context**2 + of_native**2 + of_western**2 + 2 * noise**2))
    random = np.random.default_rng(7)

    def panel(own: Numbers, other: Numbers, setting: str) -> ScoreMatrix:
        level = random.normal(shift, of_context, (contexts, 1))
        return ScoreMatrix(
            own + random.normal(0, noise, (contexts, native)),
            other + level + random.normal(0, noise, (contexts, western)),
            tuple(f"{setting}{number}" for number in range(contexts)),
        )

    covered = same = 0
    for _ in range(400):
        own, other = random.normal(0, of_native, native), random.normal(0, of_western, western)
        one, two = panel(own, other, "grounded"), panel(own, other, "neutral")
        estimate, paired = bias(one), difference(one, two)
        assert estimate is not None
        low, high = estimate.limits(0, 1)
        assert low is not None
        assert high is not None
        covered += low <= truth <= high
        same += paired.p is not None and paired.p > 0.05
    assert 367 <= covered <= 393
    assert 367 <= same <= 399


def test_pairing_makes_a_difference_visible() -> None:
    """Entities that differ much in probability hide a small effect of the setting, unless they are compared in both."""
    random = np.random.default_rng(3)
    own, other = random.normal(0, 3, 30), random.normal(0, 3, 30)
    grounded = ScoreMatrix(own + random.normal(0, 0.1, (20, 30)), other - 0.5 + random.normal(0, 0.1, (20, 30)))
    neutral = ScoreMatrix(own + random.normal(0, 0.1, (20, 30)), other + random.normal(0, 0.1, (20, 30)))
    paired = difference(grounded, neutral)
    apart = [bias(grounded), bias(neutral)]
    assert paired.p is not None
    assert paired.p < 0.05
    lows, highs = zip(*[estimate.limits(0, 1) for estimate in apart if estimate], strict=True)
    assert lows[1] < highs[0]  # unpaired, the intervals overlap


def test_all_agree_is_no_certainty() -> None:
    estimate = bias(ScoreMatrix(np.full((4, 5), -1.0), np.full((4, 6), -2.0)))
    assert estimate is not None
    low, high = estimate.limits(0, 1)
    assert (estimate.value, low) == (0.0, 0.0)
    assert high is not None
    assert 0.3 < high < 0.9


def test_one_context_has_a_value_and_no_interval() -> None:
    random = np.random.default_rng(1)
    estimate = bias(ScoreMatrix(random.normal(size=(1, 9)), random.normal(size=(1, 9))))
    assert estimate is not None
    assert estimate.limits(0, 1) == (None, None)


def test_an_empty_side_has_no_score() -> None:
    assert bias(ScoreMatrix(np.empty((3, 0)), np.zeros((3, 4)))) is None
    assert tally(ScoreMatrix(np.empty((3, 0)), np.zeros((3, 4)), western_ids=tuple("abcd"))) is None


def test_camels_protocol_is_that_of_brute_force_over_its_draws() -> None:
    random = np.random.default_rng(2)
    drawing = CamelDraws(draws=4, entities=6, seed=3)
    ids = tuple(f"n{number}" for number in range(20)), tuple(f"w{number}" for number in range(15))
    panels = []
    for contexts in (3, 2):
        native, western = (random.normal(size=(contexts, len(side))).round(1) for side in ids)
        native[0, :7] = np.nan  # names of another gender
        panels.append(ScoreMatrix(native, western, native_ids=ids[0], western_ids=ids[1]))

    def drawn(names: tuple[str, ...], row: Numbers, draw: int) -> list[float]:
        there = [(content_id(3, draw, name), value) for name, value in zip(names, row, strict=True)]
        return [value for _, value in sorted(pair for pair in there if not np.isnan(pair[1]))[:6]]

    runs = []
    for draw in range(4):
        scores = []
        for panel in panels:
            for native, western in zip(panel.native, panel.western, strict=True):
                sides = drawn(ids[0], native, draw), drawn(ids[1], western, draw)
                scores.append(np.mean([b > a for a in sides[0] for b in sides[1]]))
        runs.append(float(np.mean(scores)))
    tallies = [found for number, panel in enumerate(panels) if (found := tally(panel, str(number))) is not None]
    found = averaged_draws(tallies, "contexts", drawing)
    assert found is not None
    assert found.runs == pytest.approx(runs)
    assert len({*runs}) == 4
    assert (found.mean, found.deviation) == (pytest.approx(np.mean(runs)), pytest.approx(np.std(runs, ddof=1)))
    every = averaged_draws(tallies, "contexts", CamelDraws(5, 20, 1))
    assert every is not None
    assert every.deviation is None  # twenty are all there are
