"""Do the 95 % intervals cover the truth? Simulated models whose true numbers are known, a few hundred data sets each.

The worlds are those of `response_worlds.py`; `bench/coverage.py` has all of them, with more data sets.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from polyculture.metrics.intervals.assemblage import Assemblage, diversity_estimate
from polyculture.metrics.intervals.at_coverage import coverage_in
from polyculture.metrics.intervals.coverage import coverage_estimate
from polyculture.metrics.intervals.diversity_estimators import companions
from polyculture.metrics.intervals.estimate import Estimate, difference, mean
from polyculture.metrics.intervals.overlap import Overlaps, overlap
from tests.metrics.response_worlds import (
    GAINS,
    PAIRS,
    PLAIN,
    SHARES,
    UNEQUAL,
    chosen,
    pair_of,
    poisson,
    popular,
    ratio_of,
    zipf,
)
from tests.metrics.wording_worlds import PLACES, Run, over_samples, over_wordings

DATA_SETS = 300
TRUTH = 400  # data sets whose mean is taken for the truth where it has no formula
LEAST = 0.9  # of 300 data sets; fewer than 91.2 % are covered in one of a thousand where 95 % should be


def coverage(truth: float, draw: Callable[[], Estimate | None]) -> float:
    """The share of data sets whose interval covers the truth; data sets without a number do not count."""
    found = [estimate.limits(-math.inf, math.inf) for _ in range(DATA_SETS) if (estimate := draw()) is not None]
    assert len(found) > DATA_SETS * 0.9
    return sum(low is not None and high is not None and low <= truth <= high for low, high in found) / len(found)


def share_of(name: str) -> float:
    top, bottom = SHARES[name](np.random.default_rng(1), 300_000)
    return float(top.sum() / bottom.sum())


@pytest.mark.parametrize("responses", [20, 100])
@pytest.mark.parametrize(
    "name",
    [
        "cv 0.7, share 0.02, alike 0.3",
        "lists, share 0.93, alike 1.0",
        "Pareto, share 0.5, alike 0.0",
        "97 % one of share 0.1, 3 % six of 0.6",
        "short of share 0.95, lists of 0.3",
        "Pareto, long of share 0.9, short of 0.02",
        "a tenth: eight mentions of share 0.9",
    ],
)
def test_granularity_and_specificity(name: str, responses: int) -> None:
    random = np.random.default_rng([responses, len(name)])
    assert coverage(share_of(name), lambda: ratio_of(SHARES[name], random, responses)) >= LEAST


@pytest.mark.parametrize("responses", [60, 500])
@pytest.mark.parametrize("name", ["four mentions, share 0.5, alike 0.0", "cv 0.7, share 0.5, alike 0.0"])
def test_shares_of_ordinary_responses_have_no_wider_intervals_than_they_need(name: str, responses: int) -> None:
    random = np.random.default_rng([responses, len(name)])
    assert LEAST <= coverage(0.5, lambda: ratio_of(SHARES[name], random, responses)) <= 0.99


@pytest.mark.parametrize("name", GAINS)
def test_specificity_gain(name: str) -> None:
    random = np.random.default_rng(7)
    one, other = GAINS[name]
    (top, bottom), (less, of) = (side(np.random.default_rng(1), 300_000) for side in (one, other))

    def draw() -> Estimate | None:
        sides = [ratio_of(side, random, 60) for side in (one, other)]
        return difference(*sides) if sides[0] and sides[1] else None

    assert coverage(float(top.sum() / bottom.sum() - less.sum() / of.sum()), draw) >= LEAST


def test_a_mean_of_cells() -> None:
    random = np.random.default_rng(8)
    names = [name for name in SHARES if name.startswith("lists, share")]

    def draw() -> Estimate | None:
        cells = [ratio_of(SHARES[name], random, 60) for name in names]
        return mean([cell for cell in cells if cell]) if all(cells) else None

    assert coverage(float(np.mean([share_of(name) for name in names])), draw) >= LEAST


@pytest.mark.parametrize("name", ["lists, flat", "Pareto lengths, Zipf 1", "a tenth names eight others"])
def test_diversity_and_companions_of_responses_of_unequal_length(name: str) -> None:
    random = np.random.default_rng([5, len(name)])
    cells = [UNEQUAL[name].draw(random, 100) for _ in range(DATA_SETS)]
    found = [companions(cell, 50) | {"diversity": diversity_estimate(cell)} for cell in cells]
    for metric in ("diversity", "hill_1", "hill_2", "rarefied"):
        truth = float(np.mean([one[metric].value for one in found]))
        estimates = iter([one[metric] for one in found])
        assert coverage(truth, lambda estimates=estimates: next(estimates)) >= LEAST, metric


def test_the_mean_diversity_of_cells_that_have_no_interval_each() -> None:
    random = np.random.default_rng(6)
    draws = [[UNEQUAL["lists, Zipf 1"].draw(random, 10) for _ in range(5)] for _ in range(DATA_SETS)]
    assert diversity_estimate(draws[0][0]).withheld()
    truth = float(np.mean([len(cell.items) for some in draws for cell in some]))
    found = iter([mean(map(diversity_estimate, some)) for some in draws])
    assert coverage(truth, lambda: next(found)) >= LEAST


@pytest.mark.parametrize("responses", [50, 200])
@pytest.mark.parametrize("name", PLAIN)
def test_diversity(name: str, responses: int) -> None:
    random = np.random.default_rng([responses, len(name)])
    truth = float(np.mean([len(PLAIN[name].draw(random, responses).items) for _ in range(TRUTH)]))
    assert LEAST <= coverage(truth, lambda: diversity_estimate(PLAIN[name].draw(random, responses))) <= 0.999


@pytest.mark.parametrize("name", PLAIN)
def test_what_can_be_compared_between_cells_of_different_size(name: str) -> None:
    random = np.random.default_rng([5, len(name)])
    chances = PLAIN[name].chances(random)
    cells = [PLAIN[name].draw(random, 200) for _ in range(DATA_SETS)]
    found = [companions(cell, 100, coverage_in(cells[0].incidence, 100)) for cell in cells]
    for metric in ("hill_1", "hill_2", "rarefied", "at_coverage"):
        truth = float(np.mean([one[metric].value for one in found]))
        estimates = iter([one[metric] for one in found])
        assert coverage(truth, lambda estimates=estimates: next(estimates)) >= LEAST, metric
    for drawn in (cells, [PLAIN[name].draw(random, 30) for _ in range(DATA_SETS)]):
        assert LEAST <= np.mean([covered_share(cell, chances) for cell in drawn]) <= 0.999


def covered_share(cell: Assemblage, chances: np.ndarray) -> bool:
    """Do the limits of coverage hold the share that the cell's items cover?"""
    estimate = coverage_estimate(cell.incidence)
    below, above = estimate.distances(2.0)
    share = float(chances[cell.items].sum() / chances.sum())
    return bool(estimate.value - below <= share <= estimate.value + above)


def test_a_plain_bootstrap_of_diversity_would_not_do() -> None:
    random = np.random.default_rng(3)
    responses, popularity = 100, zipf(2000, 1.2)
    truth = float(np.mean([len(PLAIN["independent"].draw(random, responses).items) for _ in range(TRUTH)]))
    covered = 0
    for _ in range(50):
        item = chosen(random, popularity, (responses, 3))
        again = [len(np.unique(item[random.integers(0, responses, responses)])) for _ in range(100)]
        covered += np.quantile(again, 0.025) <= truth <= np.quantile(again, 0.975)
    assert covered / 50 < 0.2


@pytest.mark.parametrize("responses", [(20, 20), (100, 30)])
@pytest.mark.parametrize("name", ["8 items, Zipf 1.0", "lists, 200 items, Zipf 0.0", "cv 0.7, 2000 items, Zipf 1.6"])
def test_consensus(name: str, responses: tuple[int, int]) -> None:
    random = np.random.default_rng([*responses, len(name)])
    one, other = pair_of(name, random)

    def draw() -> Estimate | None:
        pair = overlap(one.draw(random, responses[0]), other.draw(random, responses[1]))
        return pair and pair.estimate()

    values = [estimate.value for _ in range(TRUTH) if (estimate := draw()) is not None]
    assert coverage(float(np.mean(values)), draw) >= LEAST


def test_a_handful_of_items_has_no_consensus_that_an_interval_would_hold_for() -> None:
    random = np.random.default_rng(4)
    for name in ("4 items, Zipf 1.0", "5 items, Zipf 1.0"):
        assert name in PAIRS
        pair = overlap(*(one.draw(random, 500) for one in pair_of(name, random)))
        assert pair is not None
        assert pair.estimate().withheld() == "few items"


def test_the_mean_consensus_of_pairs_that_share_their_languages() -> None:
    random = np.random.default_rng(9)
    models = {language: popular(poisson, zipf(1000, 1.0, 0.5, random)) for language in "abcd"}

    def draw() -> Estimate:
        cells = {language: model.draw(random, 60) for language, model in models.items()}
        pairs = [(a, b, pair) for a in "abcd" for b in "abcd" if a < b and (pair := overlap(cells[a], cells[b]))]
        return Overlaps(pairs).mean()

    truth = float(np.mean([draw().value for _ in range(TRUTH)]))
    assert coverage(truth, draw) >= LEAST


@pytest.mark.parametrize(("metric", "base", "size"), [place for place in PLACES if place[0] != "consensus"])
@pytest.mark.parametrize(
    ("of", "shape"),
    [
        ("wording", "normal"),
        pytest.param("topic and wording", "skewed", marks=pytest.mark.full),
        ("cell", "skewed"),
    ],
)
def test_other_wordings_and_other_samples(metric: str, base: float, size: float, of: str, shape: str) -> None:
    """Three wordings, two names a cell. The truth of the one is of all wordings, that of the other of these prompts."""
    run = Run(metric, of, shape, size, base, wordings=3)
    random = np.random.default_rng([19, len(metric), len(of)])
    prompts = run.effects(random)
    samples = [over_samples(run.draw(random, prompts)) for _ in range(120)]
    others = [over_wordings(metric, run.draw(random, run.effects(random))) for _ in range(180)]
    for found in (samples, others):
        truth = float(np.mean([one.value for one in found if one]))
        limits = [one.limits(-1.0, math.inf) for one in found if one]
        covered = sum(low is not None and high is not None and low <= truth <= high for low, high in limits)
        assert covered / len(limits) >= LEAST
    wide, narrow = (
        float(np.mean([high - low for one in found if one for low, high in [one.limits(-1.0, 1e9)] if high and low]))
        for found in (others, samples)
    )
    assert wide > narrow
