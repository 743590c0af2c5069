"""The Cultural Bias Score against all pairs, its intervals against a known truth, CAMeL's protocol."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.cache.identity import content_id
from polyculture.instruments.cbs.averages import averaged_draws, tally
from polyculture.instruments.cbs.camel_draws import CamelDraws
from polyculture.instruments.cbs.score_matrix import ScoreMatrix
from polyculture.instruments.cbs.uncertainty import compare, placements
from polyculture.metrics.inference.arrays import Floats
from tests.instruments.bias_worlds import bias

# Few distinct values, so that ties are common; NaN is an entity without a likelihood.
LIKELIHOODS = st.lists(st.one_of(st.integers(-3, 3).map(float), st.just(float("nan")), st.floats(-50, 0)), max_size=30)


def all_pairs(native: Floats, western: Floats) -> tuple[float, float] | None:
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

    def drawn(names: tuple[str, ...], row: Floats, draw: int) -> list[float]:
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
    assert found.runs == pytest.approx(runs)
    assert len({*runs}) == 4
    assert (found.mean, found.deviation) == (pytest.approx(np.mean(runs)), pytest.approx(np.std(runs, ddof=1)))
    every = averaged_draws(tallies, "contexts", CamelDraws(5, 20, 1))
    assert every.deviation is None  # twenty are all there are
