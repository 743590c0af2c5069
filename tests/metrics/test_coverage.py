"""Do the 95 % intervals cover the truth? Simulated models whose true numbers are known, several hundred data sets each.

The worlds are what responses are like: items with Zipf's popularity, mentions of one response that agree with each
other, and responses that name whole bundles of items.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from polyculture.metrics.intervals.assemblage import Assemblage, assemblage, diversity_estimate
from polyculture.metrics.intervals.at_coverage import coverage_in
from polyculture.metrics.intervals.coverage import coverage_estimate
from polyculture.metrics.intervals.diversity_estimators import companions
from polyculture.metrics.intervals.estimate import Estimate, difference, mean
from polyculture.metrics.intervals.overlap import Overlaps, overlap
from polyculture.metrics.intervals.ratio import ratio_estimate

DATA_SETS = 300
TRUTH = 500  # data sets whose mean is taken for the truth where it has no formula
Random = np.random.Generator


def coverage(truth: float, draw: Callable[[], Estimate | None]) -> float:
    """The share of data sets whose interval covers the truth; data sets without a number do not count."""
    found = [estimate.limits(-math.inf, math.inf) for _ in range(DATA_SETS) if (estimate := draw()) is not None]
    assert len(found) > DATA_SETS * 0.9
    return sum(low is not None and high is not None and low <= truth <= high for low, high in found) / len(found)


def responses_with(random: Random, responses: int, share: float, alike: float) -> Estimate | None:
    """A ratio over responses whose mentions are of one kind with a chance of their own, more or less `alike`."""
    mentions = random.poisson(3, responses)
    scale = (1 - alike) / alike
    marked = random.binomial(mentions, random.beta(share * scale, (1 - share) * scale, responses))
    told = mentions > 0
    return ratio_estimate(np.ones(told.sum()), marked[told].astype(float), mentions[told].astype(float))


@pytest.mark.parametrize("responses", [20, 500])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.93])
@pytest.mark.parametrize("alike", [0.02, 0.5])
def test_granularity_and_specificity(responses: int, share: float, alike: float) -> None:
    random = np.random.default_rng([responses, int(share * 100), int(alike * 100)])
    assert 0.9 <= coverage(share, lambda: responses_with(random, responses, share, alike)) <= 0.995


@pytest.mark.parametrize(("explicit", "neutral"), [(0.6, 0.2), (0.15, 0.05), (0.95, 0.9)])
def test_specificity_gain(explicit: float, neutral: float) -> None:
    random = np.random.default_rng(7)

    def draw() -> Estimate | None:
        one, other = (responses_with(random, 60, share, 0.3) for share in (explicit, neutral))
        return difference(one, other) if one and other else None

    assert 0.9 <= coverage(explicit - neutral, draw) <= 0.99


def test_a_mean_of_cells() -> None:
    random = np.random.default_rng(8)
    shares = [0.1, 0.3, 0.5, 0.8, 0.9]

    def draw() -> Estimate | None:
        cells = [responses_with(random, 20, share, 0.3) for share in shares]
        return mean([cell for cell in cells if cell]) if all(cells) else None

    assert 0.9 <= coverage(float(np.mean(shares)), draw) <= 0.99


@dataclass(frozen=True)
class World:
    """A model that names items: `each` independent ones a response, and one of `bundles` bundles of four."""

    popularity: NDArray[np.float64]
    each: float
    bundles: NDArray[np.int64]
    lengths: Callable[[Random, int], NDArray[np.int64]] | None = None  # of responses; `each` on average, where None

    def draw(self, random: Random, responses: int) -> Assemblage:
        lengths = self.lengths(random, responses) if self.lengths else random.poisson(self.each, responses)
        response = np.repeat(np.arange(responses), lengths)
        item = random.choice(len(self.popularity), len(response), p=self.popularity)
        if len(self.bundles):
            weights = 1 / np.arange(1, len(self.bundles) + 1)
            named = self.bundles[random.choice(len(self.bundles), responses, p=weights / weights.sum())]
            told = random.random(named.shape) < 0.8
            response = np.concatenate([response, np.nonzero(told)[0]])
            item = np.concatenate([item, named[told]])
        pairs = np.unique(response * len(self.popularity) + item)
        return assemblage(responses, *np.divmod(pairs, len(self.popularity)))


def world(random: Random, items: int, slope: float, each: float, bundles: int = 0, shuffled: float = 0.0) -> World:
    """`shuffled` disturbs the order of popularity: another language's view of the same items."""
    rank = np.argsort(np.argsort(np.log(np.arange(1, items + 1)) + shuffled * random.normal(size=items))) + 1
    popularity = rank**-slope / (rank**-slope).sum()
    drawn = [random.choice(items, 4, replace=False, p=popularity) for _ in range(bundles)]
    return World(popularity, each, np.array(drawn, dtype=np.int64).reshape(bundles, 4))


WORLDS = {
    "independent": {"items": 2000, "slope": 1.2, "each": 3.0},
    "flat": {"items": 400, "slope": 0.2, "each": 1.0},
    "bundled": {"items": 1000, "slope": 0.8, "each": 0.5, "bundles": 300},
}


def lists(random: Random, responses: int) -> NDArray[np.int64]:
    """15 % of responses are lists of 15 items, the others sentences with one or two."""
    return np.where(random.random(responses) < 0.15, 15, random.poisson(1.5, responses))


def pareto(random: Random, responses: int) -> NDArray[np.int64]:
    """Lengths without a variance, of 200 items at most."""
    return np.minimum(random.pareto(1.5, responses) + 1, 200).astype(np.int64)


def uneven(random: Random, responses: int) -> NDArray[np.int64]:
    """Lengths with a coefficient of variation of 0.7."""
    return np.rint(random.gamma(1 / 0.49, 3 * 0.49, responses)).astype(np.int64)


UNEQUAL: dict[str, tuple[dict[str, float], Callable[[Random, int], NDArray[np.int64]]]] = {
    "lists, Zipf 1": ({"items": 2000, "slope": 1.0, "each": 0.0}, lists),
    "lists, Zipf 1.3": ({"items": 500, "slope": 1.3, "each": 0.0}, lists),
    "lists, flat": ({"items": 200, "slope": 0.0, "each": 0.0}, lists),
    "Pareto, Zipf 1.6": ({"items": 2000, "slope": 1.6, "each": 0.0}, pareto),
    "uneven, flat": ({"items": 600, "slope": 0.0, "each": 0.0}, uneven),
    "uneven, Zipf 1": ({"items": 2000, "slope": 1.0, "each": 0.0}, uneven),
}


def unequal_world(random: Random, name: str) -> World:
    popularity, lengths = UNEQUAL[name]
    made = world(random, items=int(popularity["items"]), slope=popularity["slope"], each=0.0)
    return World(made.popularity, 0.0, made.bundles, lengths)


@pytest.mark.parametrize("responses", [20, 100])
@pytest.mark.parametrize("name", UNEQUAL)
def test_diversity_of_responses_of_unequal_length(name: str, responses: int) -> None:
    random = np.random.default_rng([responses, len(name)])
    model = unequal_world(random, name)
    truth = float(np.mean([len(model.draw(random, responses).items) for _ in range(TRUTH)]))
    assert coverage(truth, lambda: diversity_estimate(model.draw(random, responses))) >= 0.91


@pytest.mark.parametrize("responses", [30, 200])
@pytest.mark.parametrize("name", WORLDS)
def test_diversity(name: str, responses: int) -> None:
    random = np.random.default_rng([responses, len(name)])
    model = world(random, **WORLDS[name])
    truth = float(np.mean([len(model.draw(random, responses).items) for _ in range(TRUTH)]))
    assert 0.9 <= coverage(truth, lambda: diversity_estimate(model.draw(random, responses))) <= 0.99


@pytest.mark.parametrize("name", WORLDS)
def test_what_can_be_compared_between_cells_of_different_size(name: str) -> None:
    random = np.random.default_rng([5, len(name)])
    model = world(random, **WORLDS[name])
    chance = model.draw(random, 20_000).incidence
    chances = np.zeros(len(model.popularity))
    chances[chance.items] = chance.counts
    cells = [model.draw(random, 200) for _ in range(DATA_SETS)]
    found = [companions(cell, 100, coverage_in(cells[0].incidence, 100)) for cell in cells]
    for metric in ("hill_1", "hill_2", "rarefied", "at_coverage"):
        truth = float(np.mean([one[metric].value for one in found]))
        estimates = iter([one[metric] for one in found])
        most = 1.0 if metric == "at_coverage" else 0.995  # wide where many items are equally popular
        assert 0.9 <= coverage(truth, lambda estimates=estimates: next(estimates)) <= most, metric
    for drawn in (cells, [model.draw(random, 30) for _ in range(DATA_SETS)]):
        limits = [coverage_estimate(cell.incidence).limits(0, 1) for cell in drawn]
        shares = [chances[cell.items].sum() / chances.sum() for cell in drawn]
        held = [low <= share <= high for (low, high), share in zip(limits, shares, strict=True)]
        assert 0.9 <= np.mean(held) <= 0.99


def test_a_plain_bootstrap_of_diversity_would_not_do() -> None:
    random = np.random.default_rng(3)
    responses = 100
    model = world(random, **WORLDS["independent"])
    truth = float(np.mean([len(model.draw(random, responses).items) for _ in range(TRUTH)]))
    covered = 0
    for _ in range(50):
        item = random.choice(len(model.popularity), (responses, 3), p=model.popularity)
        again = [len(np.unique(item[random.integers(0, responses, responses)])) for _ in range(100)]
        covered += np.quantile(again, 0.025) <= truth <= np.quantile(again, 0.975)
    assert covered / 50 < 0.2


@pytest.mark.parametrize("responses", [(30, 30), (200, 60)])
@pytest.mark.parametrize("name", WORLDS)
def test_consensus(name: str, responses: tuple[int, int]) -> None:
    random = np.random.default_rng([*responses, len(name)])
    one, other = (world(random, **WORLDS[name], shuffled=shuffled) for shuffled in (0.0, 0.5))

    def draw() -> Estimate | None:
        pair = overlap(one.draw(random, responses[0]), other.draw(random, responses[1]))
        return pair and pair.estimate()

    values = [estimate.value for _ in range(TRUTH) if (estimate := draw()) is not None]
    assert 0.9 <= coverage(float(np.mean(values)), draw) <= 0.99


def test_the_mean_consensus_of_pairs_that_share_their_languages() -> None:
    random = np.random.default_rng(9)
    models = {language: world(random, 1000, 1.0, 2.0, shuffled=0.5) for language in "abcd"}

    def draw() -> Estimate:
        cells = {language: model.draw(random, 60) for language, model in models.items()}
        pairs = [(a, b, pair) for a in "abcd" for b in "abcd" if a < b and (pair := overlap(cells[a], cells[b]))]
        return Overlaps(pairs).mean()

    truth = float(np.mean([draw().value for _ in range(TRUTH)]))
    assert 0.9 <= coverage(truth, draw) <= 0.99
