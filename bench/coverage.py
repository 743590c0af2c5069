"""How often the 95 % intervals cover the truth, per metric, in simulated models whose true numbers are known.

    python -m bench.coverage [--data-sets 1000] [--only consensus]
    python -m bench.coverage --data-sets 10000 --only comparison

The worlds are those of `tests/metrics/test_coverage.py`: items with Zipf's popularity (`independent`), many items as
good as equally popular (`flat`), responses that name whole bundles of items (`bundled`); and four or eight items in
all (`few`, `some`). Where the truth has no formula it is the mean over as many other data sets; of coverage it is the
share that the responses did cover. Fixed coverages are those of a half of the responses, and of half as many again.
The worlds of `comparison` are those of `tests/metrics/comparison_worlds.py`. In them nothing differs on average: a
third number is the share of data sets with p <= 0.05.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from polyculture.metrics.intervals.assemblage import Assemblage
from polyculture.metrics.intervals.at_coverage import coverage_in, items_at_coverage
from polyculture.metrics.intervals.diversity_estimators import companions, items_in
from polyculture.metrics.intervals.estimate import Estimate, difference, mean, scaled
from polyculture.metrics.intervals.overlap import Overlaps, overlap
from polyculture.metrics.intervals.ratio import ratio_estimate
from tests.metrics.comparison_worlds import BEYOND, tried
from tests.metrics.comparison_worlds import WORLDS as COMPARED
from tests.metrics.test_coverage import UNEQUAL, WORLDS, Random, World, responses_with, unequal_world, world

SIZES = (10, 30, 200)
MODELS = {
    **WORLDS,
    "few": {"items": 4, "slope": 2.0, "each": 1.5},
    "some": {"items": 8, "slope": 1.0, "each": 1.5},
}
CELLS = 5  # in a mean
SMALLEST = ("--data-sets", "2")
COMPARISON = "comparison"


class Case(NamedTuple):
    """The data sets of one metric in one world; None where a data set has no such number."""

    metric: str
    where: str
    found: list[Estimate | None]
    truth: float | list[float]  # of all data sets, or of each


def main() -> None:
    """Prints a line per metric and world, as soon as it is known: the share covered, and that of intervals withheld."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-sets", type=int, default=1_000)
    parser.add_argument("--only", choices=[*PARTS, COMPARISON], nargs="*", default=[*PARTS, COMPARISON])
    asked = parser.parse_args()
    if COMPARISON in asked.only:
        compared(asked.data_sets)
    for name in asked.only:
        if name == COMPARISON:
            continue
        for case in PARTS[name](asked.data_sets):
            sys.stdout.write(f"{case.metric:28} {case.where:38} {covered(case):6.1%} {withheld(case):8.1%}\n")
            sys.stdout.flush()


def compared(count: int) -> None:
    """Prints a line per world in which two sides are compared."""
    for where, draw in {**COMPARED, **BEYOND}.items():
        found = tried(draw, count)
        sys.stdout.write(
            f"{COMPARISON:28} {where:50} {found.covered:6.1%} {found.withheld:8.1%} {found.rejected:6.1%}\n"
        )
        sys.stdout.flush()


def shares(count: int) -> Iterator[Case]:
    """Granularity and specificity: a cell, and the mean of several."""
    for responses in (20, 60, 500):
        for share in (0.02, 0.1, 0.5, 0.93):
            random = np.random.default_rng([1, responses, int(share * 100)])
            draws = [responses_with(random, responses, share, 0.3) for _ in range(count)]
            yield Case("granularity, specificity", f"{responses} responses, share {share}", draws, share)
    for several in ((0.1, 0.3, 0.5, 0.8, 0.9), (0.02,) * 19):
        random = np.random.default_rng([8, len(several)])
        means = [mean_of(responses_with(random, 20, share, 0.3) for share in several) for _ in range(count)]
        where = f"{len(several)} cells of 20, shares {min(several)} to {max(several)}"
        yield Case("granularity, a mean", where, means, float(np.mean(several)))


def gains(count: int) -> Iterator[Case]:
    """Specificity gain: a difference of two cells, and the mean of several over the same neutral responses."""
    for explicit, neutral in ((0.6, 0.2), (0.15, 0.05), (0.95, 0.9), (0.3, 0.01)):
        for responses in (20, 60):
            random = np.random.default_rng([2, responses, int(explicit * 100)])
            cells = [
                [responses_with(random, responses, share, 0.3) for share in (explicit, neutral)] for _ in range(count)
            ]
            found = [difference(one, other) if one and other else None for one, other in cells]
            yield Case("specificity_gain", f"{responses} responses, {explicit} - {neutral}", found, explicit - neutral)
    for responses in (20, 60):
        random = np.random.default_rng([12, responses])
        explicit_shares, neutral_shares = np.linspace(0.2, 0.8, CELLS), np.array([0.02, 0.05, 0.1, 0.2, 0.3])
        means = []
        for _ in range(count):
            own = mean_of(responses_with(random, responses, share, 0.3) for share in explicit_shares)
            base = scaled(one_of_several(random, responses, neutral_shares), 1 / CELLS)
            means.append(own and difference(own, base))
        truth = float(np.mean(explicit_shares - neutral_shares))
        yield Case("specificity_gain, a mean", f"{CELLS} cells of {responses}, the same neutral", means, truth)


def one_of_several(random: Random, responses: int, several: NDArray[np.float64]) -> Estimate:
    """The summed shares of mentions that belong to each of several countries, from the same responses."""
    mentions = 1 + random.poisson(3, responses)
    chances = random.dirichlet(np.append(several, 1 - several.sum()) / 0.3, responses)
    belong = np.array(
        [random.multinomial(told, chance)[:-1].sum() for told, chance in zip(mentions, chances, strict=True)]
    )
    estimate = ratio_estimate(np.ones(responses), belong.astype(float), mentions.astype(float))
    assert estimate is not None
    return estimate


def items(count: int) -> Iterator[Case]:
    """Diversity and its companions: a cell, and the mean of several."""
    for name, responses in ((name, size) for name in MODELS for size in SIZES):
        random = np.random.default_rng([3, responses, len(name)])
        model = world(random, **MODELS[name])
        cells = [model.draw(random, responses) for _ in range(count * CELLS)]
        others = [model.draw(random, responses) for _ in range(count)]
        for metric, estimate in COMPANIONS.items():
            found = [estimate(cell) for cell in cells]
            truth = float(np.mean([one.value for one in map(estimate, others) if one]))
            yield Case(metric, f"{name}, {responses} responses", found[:count], truth)
            yield Case(f"{metric}, a mean", f"{name}, {CELLS} cells of {responses}", means_of(found), truth)
        for metric, size in (("a half", responses // 2), ("one and a half", responses * 3 // 2)):
            target = float(np.mean([coverage_in(cell.incidence, size) for cell in others if len(cell.items)]))
            if target == 0:  # so few data sets that none repeats an item
                continue
            known = [companions(cell, 1, target).get("at_coverage") for cell in cells]
            truth = float(
                np.mean([items_at_coverage(cell.incidence, target).value for cell in others if len(cell.items)])
            )
            yield Case(f"at a coverage, {metric}", f"{name}, {responses} responses", known[:count], truth)
            yield Case("the same, a mean", f"{name}, {CELLS} cells of {responses}", means_of(known), truth)
        chance = chances(model, random)
        shares = [float(chance[cell.items].sum() / chance.sum()) for cell in cells]
        found = [companions(cell, 1).get("coverage") for cell in cells]
        yield Case("coverage", f"{name}, {responses} responses", found[:count], shares[:count])
        truths = np.reshape(shares, (-1, CELLS)).mean(axis=1).tolist()
        yield Case("coverage, a mean", f"{name}, {CELLS} cells of {responses}", means_of(found), truths)


COMPANIONS: dict[str, Callable[[Assemblage], Estimate | None]] = {
    "diversity": lambda cell: items_in(cell, cell.responses),
    "hill_1": lambda cell: companions(cell, 1).get("hill_1"),
    "hill_2": lambda cell: companions(cell, 1).get("hill_2"),
    "rarefied to a tenth": lambda cell: items_in(cell, cell.responses // 10),
    "rarefied to a half": lambda cell: items_in(cell, cell.responses // 2),
}


def lengths(count: int) -> Iterator[Case]:
    """Diversity where responses are of very unequal length."""
    for name, responses in ((name, size) for name in UNEQUAL for size in (10, 20, 100, 500)):
        random = np.random.default_rng([15, responses, len(name)])
        model = unequal_world(random, name)
        cells = [model.draw(random, responses) for _ in range(2 * count)]
        found: list[Estimate | None] = [items_in(cell, responses) for cell in cells[:count]]
        yield Case("diversity", f"{name}, {responses} responses", found, float(np.mean([len(c.items) for c in cells])))
        yield Case(
            "diversity, a mean",
            f"{name}, {CELLS} cells",
            means_of(found),
            float(np.mean([len(c.items) for c in cells])),
        )


def chances(model: World, random: Random) -> NDArray[np.float64]:
    """The chance of each item to be in a response, from many of them."""
    drawn = model.draw(random, 20_000).incidence
    found = np.zeros(len(model.popularity))
    found[drawn.items] = drawn.counts / drawn.responses
    return found


def pairs(count: int) -> Iterator[Case]:
    """Culture consensus: a pair of languages, and the mean of the pairs of four."""
    for name, sizes in ((name, sizes) for name in MODELS for sizes in ((10, 10), (30, 30), (200, 60))):
        random = np.random.default_rng([4, *sizes, len(name)])
        two = [world(random, **MODELS[name], shuffled=shuffled) for shuffled in (0.0, 0.5)]
        drawn = [
            overlap(*(one.draw(random, size) for one, size in zip(two, sizes, strict=True))) for _ in range(2 * count)
        ]
        known = [pair and pair.estimate() for pair in drawn]
        truth = float(np.mean([one.value for one in known[count:] if one]))
        yield Case("consensus", f"{name}, {sizes[0]} and {sizes[1]} responses", known[:count], truth)
    for name, size in ((name, size) for name in MODELS for size in (10, 30, 60, 200)):
        random = np.random.default_rng([9, size, len(name)])
        models = [world(random, **MODELS[name], shuffled=0.5) for _ in "abcd"]
        of_all, of_one = [], []
        for _ in range(2 * count):
            cells = dict(zip("abcd", (model.draw(random, size) for model in models), strict=True))
            met = [(a, b, pair) for a, b in combinations(cells, 2) if (pair := overlap(cells[a], cells[b]))]
            of_all.append(Overlaps(met).mean())
            of_one.append(Overlaps(met).mean_of("a"))
        for metric, found in (("consensus, all pairs", of_all), ("consensus, of a language", of_one)):
            truth = float(np.mean([one.value for one in found[count:]]))
            yield Case(metric, f"{name}, 4 languages, {size} responses", found[:count], truth)


PARTS: dict[str, Callable[[int], Iterator[Case]]] = {
    "shares": shares,
    "gains": gains,
    "items": items,
    "lengths": lengths,
    "consensus": pairs,
}


def mean_of(parts: Iterator[Estimate | None]) -> Estimate | None:
    """The mean of those that are known."""
    known = [part for part in parts if part is not None]
    return mean(known) if known else None


def means_of(found: list[Estimate | None]) -> list[Estimate | None]:
    """The mean of each `CELLS` of them."""
    return [mean_of(iter(found[start : start + CELLS])) for start in range(0, len(found), CELLS)]


def covered(case: Case) -> float:
    """The share of intervals that hold the truth; data sets without a number or without an interval do not count."""
    truths = case.truth if isinstance(case.truth, list) else [case.truth] * len(case.found)
    given = [(one, truth) for one, truth in zip(case.found, truths, strict=True) if one and not one.withheld()]
    return float(np.mean([inside(estimate, truth) for estimate, truth in given])) if given else math.nan


def withheld(case: Case) -> float:
    """The share of numbers whose interval is withheld."""
    return float(np.mean([one.withheld() is not None for one in case.found if one]))


def inside(estimate: Estimate, truth: float) -> bool:
    low, high = estimate.limits(-math.inf, math.inf)
    return low is not None and high is not None and low <= truth <= high


if __name__ == "__main__":
    main()
