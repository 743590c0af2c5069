"""How often the 95 % intervals cover the truth, per metric, in simulated models whose true numbers are known.

    python -m bench.coverage [--data-sets 1000]

The worlds are those of `tests/test_metrics_coverage.py`: items with Zipf's popularity (`independent`), many items as
good as equally popular (`flat`), and responses that name whole bundles of items (`bundled`). Where the truth has no
formula it is the mean over as many other data sets; of coverage it is the share that the responses did cover.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from metrics.intervals.assemblage import Assemblage
from metrics.intervals.companions import companions, items_in
from metrics.intervals.estimate import Estimate, difference, mean
from metrics.intervals.overlap import mean_overlap, overlap
from tests.test_metrics_coverage import WORLDS, World, responses_with, world

Case = tuple[str, str, float]  # metric, world, share of intervals that cover
SIZES = (30, 200)


def main() -> None:
    """Prints a line per metric and world, as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-sets", type=int, default=1_000)
    count = parser.parse_args().data_sets
    for cases in (shares(count), gains(count), items(count), pairs(count)):
        for metric, where, covered in cases:
            sys.stdout.write(f"{metric:22} {where:42} {covered:6.1%}\n")
            sys.stdout.flush()


def shares(count: int) -> Iterator[Case]:
    """Granularity and specificity: a cell, and the mean of five."""
    for responses in (20, 500):
        for share in (0.1, 0.5, 0.93):
            random = np.random.default_rng([1, responses, int(share * 100)])
            draws = [responses_with(random, responses, share, 0.3) for _ in range(count)]
            yield "granularity, specif.", f"{responses} responses, share {share}", covered(draws, share)
    random, several = np.random.default_rng(8), (0.1, 0.3, 0.5, 0.8, 0.9)
    means = [mean(one for s in several if (one := responses_with(random, 20, s, 0.3))) for _ in range(count)]
    yield "the same, a mean", "5 cells of 20 responses", covered(means, float(np.mean(several)))


def gains(count: int) -> Iterator[Case]:
    """Specificity gain: a difference of two cells."""
    for explicit, neutral in ((0.6, 0.2), (0.15, 0.05), (0.95, 0.9)):
        random = np.random.default_rng([2, int(explicit * 100)])
        cells = [[responses_with(random, 60, share, 0.3) for share in (explicit, neutral)] for _ in range(count)]
        found = [difference(one, other) for one, other in cells if one and other]
        yield "specificity_gain", f"60 responses, {explicit} - {neutral}", covered(found, explicit - neutral)


def items(count: int) -> Iterator[Case]:
    """Diversity and its companions, and the mean of the diversity of three cells."""
    for name, responses in ((name, size) for name in WORLDS for size in SIZES):
        random = np.random.default_rng([3, responses, len(name)])
        model = world(random, **WORLDS[name])
        cells = [model.draw(random, responses) for _ in range(count)]
        for metric, estimate in COMPANIONS.items():
            found = [estimate(cell) for cell in cells]
            others = [estimate(model.draw(random, responses)).value for _ in range(count)]
            yield metric, f"{name}, {responses} responses", covered(found, float(np.mean(others)))
        chance = chances(model, random)
        hits = [inside(companions(cell, 1)["coverage"], chance[cell.items].sum() / chance.sum()) for cell in cells]
        yield "coverage", f"{name}, {responses} responses", float(np.mean(hits))
        threes = [[model.draw(random, responses) for _ in range(3)] for _ in range(count)]
        found = [mean(COMPANIONS["diversity"](cell) for cell in three) for three in threes]
        truth = float(np.mean([len(cell.items) for three in threes for cell in three]))
        yield "diversity, a mean", f"{name}, 3 cells of {responses}", covered(found, truth)


COMPANIONS: dict[str, Callable[[Assemblage], Estimate]] = {
    "diversity": lambda cell: items_in(cell, cell.responses),
    "hill_1": lambda cell: companions(cell, 1)["hill_1"],
    "hill_2": lambda cell: companions(cell, 1)["hill_2"],
    "rarefied to a tenth": lambda cell: items_in(cell, cell.responses // 10),
    "rarefied to a half": lambda cell: items_in(cell, cell.responses // 2),
}


def chances(model: World, random: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The chance of each item to be in a response, from many of them."""
    drawn = model.draw(random, 20_000).incidence
    found = np.zeros(len(model.popularity))
    found[drawn.items] = drawn.counts / drawn.responses
    return found


def pairs(count: int) -> Iterator[Case]:
    """Culture consensus: a pair of languages, and the mean of six pairs."""
    for name, sizes in ((name, sizes) for name in WORLDS for sizes in ((30, 30), (200, 60))):
        random = np.random.default_rng([4, *sizes, len(name)])
        two = [world(random, **WORLDS[name], shuffled=shuffled) for shuffled in (0.0, 0.5)]
        drawn = [
            overlap(*(one.draw(random, size) for one, size in zip(two, sizes, strict=True))) for _ in range(2 * count)
        ]
        known = [pair.estimate() for pair in drawn if pair]
        truth = float(np.mean([one.value for one in known[count:]]))
        yield "consensus", f"{name}, {sizes[0]} and {sizes[1]} responses", covered(known[:count], truth)
    random = np.random.default_rng(9)
    models = {language: world(random, 1000, 1.0, 2.0, shuffled=0.5) for language in "abcd"}
    found = []
    for _ in range(2 * count):
        cells = {language: model.draw(random, 60) for language, model in models.items()}
        met = [(a, b, pair) for a in "abcd" for b in "abcd" if a < b and (pair := overlap(cells[a], cells[b]))]
        found.append(mean_overlap(met))
    truth = float(np.mean([one.value for one in found[count:]]))
    yield "consensus, a mean", "6 pairs of 4 languages, 60 responses", covered(found[:count], truth)


def covered(found: list[Estimate] | list[Estimate | None], truth: float) -> float:
    """The share of intervals that hold the truth; data sets without a number do not count."""
    return float(np.mean([inside(estimate, truth) for estimate in found if estimate is not None]))


def inside(estimate: Estimate, truth: float) -> bool:
    low, high = estimate.limits(-math.inf, math.inf)
    return low is not None and high is not None and low <= truth <= high


if __name__ == "__main__":
    main()
