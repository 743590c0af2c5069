"""How often the 95 % intervals cover the truth, per metric, in simulated models whose true numbers are known.

    python -m bench.coverage [--data-sets 1000] [--only consensus]
    python -m bench.coverage --data-sets 10000 --only comparison
    python -m bench.coverage --data-sets 4000 --only bias

The worlds are those of `tests/metrics/response_worlds.py`. The truth is the mean over as many other data sets. Of a
share, and of a gain, it is that of a million responses; of coverage it is the share that the responses did cover. Fixed
coverages are those of a half of the responses, and of half as many again. The worlds of `dominance` are those of
`tests/metrics/dominance_worlds.py`, those of `choices`, accuracy and bias by multiple choice, those of
`tests/instruments/bbq/template_worlds.py`, those of `wordings` in `tests/metrics/wording_worlds.py`: a line for other
samples of the same prompts, and one for other wordings and names, whose truth is the mean over many draws of both.
Those of
`comparison` are those of `tests/metrics/comparison_worlds.py`. In these nothing
differs on average: a third number is the share of data sets with p <= 0.05. Two more are the shares in which
equivalence is said where the true difference is the margin, and minus the margin. The worlds of `bias`, the Cultural
Bias Score, are those of `tests/instruments/bias_worlds.py`: covered, withheld, with a type that is all 0 or all 1, p
<= 0.05 between settings of the same truth, no p; and those of `tests/instruments/paired_worlds.py`, languages of one
sheet and two models: covered, the median width, models with disjoint intervals; of their difference covered, p <
0.05, the median width. For `components`, the worlds of `tests/metrics/component_worlds.py`: the mean estimate and the
truth, and how often the intervals of a component and of its share cover the truth. For `arms`, the worlds of
`tests/instruments/arm_worlds.py`: a probe and an arm beside it, the difference of F and of shares, and the rank
correlation of pairs of cultures. For `flattening`, those of `tests/instruments/flattening_worlds.py`: F and its share
of all pairs. For `swaps`, those of `tests/instruments/swap_worlds.py`: covered of a side's rate, of the gap of both
sides, of two models and of their gaps, p < 0.05 between the models; the mean size of a difference in counts, and what
chance gives.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from polyculture.instruments.choices.uncertainty import estimate as estimate_choices
from polyculture.metrics.intervals.assemblage import Assemblage
from polyculture.metrics.intervals.at_coverage import coverage_in, items_at_coverage
from polyculture.metrics.intervals.diversity_estimators import companions, items_in
from polyculture.metrics.intervals.dominance import dominance_estimate
from polyculture.metrics.intervals.estimate import Estimate, Sum, difference
from polyculture.metrics.intervals.overlap import Overlap, Overlaps, overlap
from tests.instruments.arm_worlds import WORLDS as ARM_WORLDS
from tests.instruments.arm_worlds import tried as arms_tried
from tests.instruments.bbq.template_worlds import WORLDS as TEMPLATE_WORLDS
from tests.instruments.bias_worlds import WORLDS as BIAS_WORLDS
from tests.instruments.bias_worlds import tried as bias_tried
from tests.instruments.flattening_worlds import WORLDS as FLATTENING_WORLDS
from tests.instruments.flattening_worlds import tried as flattening_tried
from tests.instruments.paired_worlds import WORLDS as PAIRED_WORLDS
from tests.instruments.paired_worlds import tried as paired_tried
from tests.instruments.swap_worlds import WORLDS as SWAP_WORLDS
from tests.instruments.swap_worlds import tried as swaps_tried
from tests.metrics.comparison_worlds import BEYOND, tried, tried_at_edge
from tests.metrics.comparison_worlds import WORLDS as COMPARED
from tests.metrics.component_worlds import WORLDS as COMPONENT_WORLDS
from tests.metrics.component_worlds import told
from tests.metrics.dominance_worlds import WORLDS as DOMINANCE_WORLDS
from tests.metrics.response_worlds import (
    FEW,
    GAINS,
    PAIRS,
    PLAIN,
    SHARES,
    UNEQUAL,
    Random,
    Shares,
    World,
    pair_of,
    popular,
    ratio_of,
    zipf,
)
from tests.metrics.wording_worlds import WORLDS as WORDING_WORLDS
from tests.metrics.wording_worlds import Given, over_samples, over_wordings

SIZES = (10, 20, 100, 500)  # responses of a cell
ITEMS = PLAIN | FEW | UNEQUAL
CELLS = 5  # in a mean
SMALLEST = ("--data-sets", "2")
COMPARISON, BIAS, COMPONENTS, ARMS, FLATTENING = "comparison", "bias", "components", "arms", "flattening"
SWAPS = "swaps"


class Case(NamedTuple):
    """The data sets of one metric in one world; None where a data set has no such number."""

    metric: str
    where: str
    found: Sequence[Estimate | Given | None]
    truth: float | list[float]  # of all data sets, or of each


def main() -> None:
    """Prints a line per metric and world, as soon as it is known: the share covered, and that of intervals withheld."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-sets", type=int, default=1_000)
    parser.add_argument("--only", choices=[*PARTS, *WHOLE], nargs="*", default=[*PARTS, *WHOLE])
    asked = parser.parse_args()
    for name in asked.only:
        if name in WHOLE:
            WHOLE[name](asked.data_sets)
            continue
        for case in PARTS[name](asked.data_sets):
            sys.stdout.write(f"{case.metric:28} {case.where:60} {covered(case):6.1%} {withheld(case):8.1%}\n")
            sys.stdout.flush()


def compared(count: int) -> None:
    """Prints a line per world in which two sides are compared."""
    for where, draw in {**COMPARED, **BEYOND}.items():
        found, edge = tried(draw, count), tried_at_edge(draw, count)
        shares_found = f"{found.covered:6.1%} {found.withheld:8.1%} {found.rejected:6.1%}"
        sys.stdout.write(f"{COMPARISON:28} {where:52} {shares_found} {edge.above:6.1%} {edge.below:6.1%}\n")
        sys.stdout.flush()


def bias_scores(count: int) -> None:
    """Prints a line per world of Cultural Bias Scores."""
    for where, world in BIAS_WORLDS.items():
        found = bias_tried(world, count)
        shares_found = f"{found.covered:6.1%} {found.withheld:8.1%} {found.agreed:6.1%}"
        sys.stdout.write(f"{BIAS:12} {where:60} {shares_found} {found.rejected:6.1%} {found.untested:6.1%}\n")
        sys.stdout.flush()
    for where, pair in PAIRED_WORLDS.items():
        of = paired_tried(pair, count)
        score = f"{of.covered:6.1%} {of.width:7.3f} {of.apart:6.1%}"
        sys.stdout.write(
            f"{BIAS:12} {where:60} {score} {of.difference_covered:6.1%} {of.told:6.1%} {of.difference_width:7.3f}\n"
        )
        sys.stdout.flush()


def decomposed(count: int) -> None:
    """Prints a line per component of each world."""
    for where, world in COMPONENT_WORLDS.items():
        for name, found in told(world, count).items():
            numbers = f"{found.mean:9.6f} {found.truth:9.6f} {found.covered:6.1%} {found.share_covered:6.1%}"
            sys.stdout.write(f"{COMPONENTS:12} {where:68} {name:20} {numbers}\n")
            sys.stdout.flush()


def arms(count: int) -> None:
    """Prints a line per world of a probe and an arm beside it: covered, and withheld, of each of the three numbers."""
    for where, world in ARM_WORLDS.items():
        found = arms_tried(world, count)
        numbers = " ".join(f"{one:6.1%}" for one in (*found.covered, *found.withheld))
        sys.stdout.write(f"{ARMS:12} {where:64} {numbers}\n")
        sys.stdout.flush()


def flattenings(count: int) -> None:
    """Prints a line per world of cultures: covered, and withheld, of F and of its share over all pairs."""
    for where, world in FLATTENING_WORLDS.items():
        found = flattening_tried(world, count)
        numbers = " ".join(f"{one:6.1%}" for one in (*found.covered, *found.withheld))
        sys.stdout.write(f"{FLATTENING:12} {where:64} {numbers}\n")
        sys.stdout.flush()


def swaps(count: int) -> None:
    """Prints a line per world of swapped entities."""
    for where, world in SWAP_WORLDS.items():
        found = swaps_tried(world, count)
        covered = " ".join(f"{one:6.1%}" for one in (found.rate, found.gap, found.models, found.gaps, found.told))
        sys.stdout.write(f"{SWAPS:12} {where:52} {covered} {found.size:6.1f} {found.chance:6.1f}\n")
        sys.stdout.flush()


def shares(count: int) -> Iterator[Case]:
    """Granularity and specificity of a cell."""
    for name, draw in SHARES.items():
        truth = share_of(draw)
        for responses in SIZES:
            random = np.random.default_rng([1, responses, len(name)])
            yield Case(
                "share", f"{name}; {responses}", [ratio_of(draw, random, responses) for _ in range(count)], truth
            )


def share_of(draw: Shares) -> float:
    """The share in a million responses."""
    top, bottom = draw(np.random.default_rng(11), 1_000_000)
    return float(top.sum() / bottom.sum())


def share_means(count: int) -> Iterator[Case]:
    """The mean of cells of one world, and of cells whose shares differ."""
    several = [[draw] * CELLS for draw in SHARES.values()]
    several += [[SHARES["cv 0.7, share 0.02, alike 0.3"]] * 19]
    several += [[draw for name, draw in SHARES.items() if name.startswith("lists, share")]]
    names = [*SHARES, "19 of cv 0.7, share 0.02, alike 0.3", "lists, shares 0.02, 0.5, 0.93"]
    for name, draws in zip(names, several, strict=True):
        for responses in SIZES[:3]:
            random = np.random.default_rng([8, responses, len(name)])
            means = [mean_of([ratio_of(draw, random, responses) for draw in draws]) for _ in range(2 * count)]
            yield Case("share, a mean", f"{name}; {responses}", means[:count], truth_of(means[count:]))


def gains(count: int) -> Iterator[Case]:
    """Specificity gain: the difference of two cells."""
    for name, pair in GAINS.items():
        truth = share_of(pair[0]) - share_of(pair[1])
        for sizes in ((10, 10), (20, 500), (100, 100), (500, 20)):
            random = np.random.default_rng([2, *sizes, len(name)])
            sides = [
                [ratio_of(draw, random, size) for draw, size in zip(pair, sizes, strict=True)] for _ in range(count)
            ]
            found = [difference(one, other) if one and other else None for one, other in sides]
            yield Case("gain", f"{name}; {sizes[0]}, {sizes[1]}", found, truth)


def items(count: int) -> Iterator[Case]:
    """Diversity and its companions of a cell."""
    for name, responses in ((name, size) for name in ITEMS for size in (50, *SIZES[2:])):
        random = np.random.default_rng([3, responses, len(name)])
        model = ITEMS[name]
        cells, others = ([model.draw(random, responses) for _ in range(count)] for _ in range(2))
        for metric, estimate in COMPANIONS.items():
            truth = truth_of([estimate(cell) for cell in others])
            yield Case(metric, f"{name}; {responses}", [estimate(cell) for cell in cells], truth)
        for metric, size in (("at half", responses // 2), ("at one and a half", responses * 3 // 2)):
            target = float(np.mean([coverage_in(cell.incidence, size) for cell in others if len(cell.items)]))
            if 0 < target < 1:
                at = [[at_coverage(cell, target) for cell in some] for some in (cells, others)]
                yield Case(f"coverage {metric}", f"{name}; {responses}", at[0], truth_of(at[1]))
        chance = model.chances(random)
        shares = [float(chance[cell.items].sum() / chance.sum()) for cell in cells]
        found = [companions(cell, 1).get("coverage") for cell in cells]
        yield Case("coverage", f"{name}; {responses}", found, shares)


def item_means(count: int) -> Iterator[Case]:
    """The mean of the numbers of several cells; also where some of them have few responses."""
    sizes: list[Sequence[int]] = [(size,) * CELLS for size in SIZES[:3]]
    few: list[Sequence[int]] = [(50,) * 29 + (1,), (50,) * 22 + (1,) * 8, (50,) * 4 + (1,), (50,) * 3 + (5,) * 2]
    mixed = [(name, some) for name in (*PLAIN, "lists, Zipf 1.3") for some in few]
    for name, some in [(name, some) for name in ITEMS for some in sizes] + mixed:
        random = np.random.default_rng([13, *some, len(name)])
        model = ITEMS[name]
        groups = [[model.draw(random, size) for size in some] for _ in range(2 * count)]
        where = f"{name}; " + ", ".join(f"{some.count(size)} of {size}" for size in sorted(set(some), reverse=True))
        for metric, estimate in COMPANIONS.items():
            found = [mean_of([estimate(cell) for cell in group]) for group in groups]
            yield Case(f"{metric}, a mean", where, found[:count], truth_of(found[count:]))


def at_coverage(cell: Assemblage, target: float) -> Estimate | None:
    return items_at_coverage(cell.incidence, target) if len(cell.items) else None


def truth_of(found: Sequence[Estimate | Given | None]) -> float:
    """The mean of the numbers that have an interval; of all where none has."""
    known = [one for one in found if one]
    return float(np.mean([one.value for one in known if not one.withheld()] or [one.value for one in known]))


COMPANIONS: dict[str, Callable[[Assemblage], Estimate | None]] = {
    "diversity": lambda cell: items_in(cell, cell.responses),
    "hill_1": lambda cell: companions(cell, 1).get("hill_1"),
    "hill_2": lambda cell: companions(cell, 1).get("hill_2"),
    "rarefied to a tenth": lambda cell: items_in(cell, max(1, cell.responses // 10)),
    "rarefied to a half": lambda cell: items_in(cell, max(1, cell.responses // 2)),
}


def pairs(count: int) -> Iterator[Case]:
    """Culture consensus of a pair of languages."""
    for name, sizes in ((name, sizes) for name in PAIRS for sizes in ((10, 10), (20, 20), (100, 100), (20, 200))):
        random = np.random.default_rng([4, *sizes, len(name)])
        two = pair_of(name, random)
        found = [pair and pair.estimate() for pair in (drawn(two, random, sizes) for _ in range(2 * count))]
        yield Case("consensus", f"{name}; {sizes[0]}, {sizes[1]}", found[:count], truth_of(found[count:]))


def drawn(two: tuple[World, World], random: Random, sizes: Sequence[int]) -> Overlap | None:
    return overlap(*(one.draw(random, size) for one, size in zip(two, sizes, strict=True)))


def pair_means(count: int) -> Iterator[Case]:
    """Consensus: the mean of the pairs of four languages, and of those of one of them."""
    for name, size in ((name, size) for name in PAIRS for size in (10, 30, 100)):
        random = np.random.default_rng([9, size, len(name)])
        lengths, number, slope, _ = PAIRS[name]
        models = [popular(lengths, zipf(number, slope, 0.5, random)) for _ in "abcd"]
        of_all, of_one = [], []
        for _ in range(2 * count):
            cells = dict(zip("abcd", (model.draw(random, size) for model in models), strict=True))
            met = [(a, b, pair) for a, b in combinations(cells, 2) if (pair := overlap(cells[a], cells[b]))]
            of_all.append(Overlaps(met).mean())
            of_one.append(Overlaps(met).mean_of("a"))
        for metric, found in (("consensus, all pairs", of_all), ("consensus, of a language", of_one)):
            yield Case(metric, f"{name}, 4 languages; {size}", found[:count], truth_of(found[count:]))


def largest_shares(count: int) -> Iterator[Case]:
    """Dominance: the chance of the item that a model names most often, in a cell and in means of several."""
    for name, responses in ((name, size) for name in DOMINANCE_WORLDS for size in (10, 30, 100, 500)):
        random = np.random.default_rng([18, responses, len(name)])
        model = DOMINANCE_WORLDS[name]
        found: list[Estimate | None] = [dominance_estimate(model.draw(random, responses)) for _ in range(count)]
        yield Case("dominance", f"{name}, {responses} responses", found, model.truth)
        means = [mean_of(found[start : start + CELLS]) for start in range(0, count, CELLS)]
        yield Case("dominance, a mean", f"{name}, {CELLS} cells of {responses}", means, model.truth)


def wordings(count: int) -> Iterator[Case]:
    """Means of runs whose wordings have effects, of other samples of the same prompts, and of other wordings."""
    for run in WORDING_WORLDS:
        random = np.random.default_rng([19, run.wordings, len(run.where)])
        prompts = run.effects(random)
        samples = [over_samples(run.draw(random, prompts)) for _ in range(2 * count)]
        yield Case(f"{run.metric}, samples", run.where, samples[:count], truth_of(samples[count:]))
        others = [over_wordings(run.metric, run.draw(random, run.effects(random))) for _ in range(3 * count)]
        yield Case(f"{run.metric}, wordings", run.where, others[:count], mean_value(others))


def mean_value(found: Sequence[Given | None]) -> float:
    """The mean of all numbers, with an interval or without."""
    return float(np.mean([one.value for one in found if one]))


def chosen_answers(count: int) -> Iterator[Case]:
    """Accuracy and bias of answers to multiple choice under five prompts."""
    for name, world in TEMPLATE_WORLDS.items():
        truth = world.truth()
        for templates in (10, 20, 44, 269):
            random = np.random.default_rng([21, templates, len(name)])
            sets = [world.draw(random, templates, 5) for _ in range(count)]
            for metric, true in truth.items():
                yield Case(
                    metric, f"{name}; {templates} templates", [estimate_choices(one[metric]) for one in sets], true
                )


PARTS: dict[str, Callable[[int], Iterator[Case]]] = {
    "shares": shares,
    "share_means": share_means,
    "gains": gains,
    "items": items,
    "item_means": item_means,
    "consensus": pairs,
    "consensus_means": pair_means,
    "dominance": largest_shares,
    "wordings": wordings,
    "choices": chosen_answers,
}


WHOLE: dict[str, Callable[[int], None]] = {
    COMPARISON: compared,
    BIAS: bias_scores,
    COMPONENTS: decomposed,
    ARMS: arms,
    FLATTENING: flattenings,
    SWAPS: swaps,
}


def mean_of(parts: Sequence[Estimate | None]) -> Estimate | None:
    """The mean of those that are known."""
    total = Sum()
    for part in parts:
        if part is None:
            total.miss()
        else:
            total.add(part)
    return total.mean() if total.weight else None


def covered(case: Case) -> float:
    """The share of intervals that hold the truth; data sets without a number or without an interval do not count."""
    truths = case.truth if isinstance(case.truth, list) else [case.truth] * len(case.found)
    given = [(one, truth) for one, truth in zip(case.found, truths, strict=True) if one and not one.withheld()]
    return float(np.mean([inside(estimate, truth) for estimate, truth in given])) if given else math.nan


def withheld(case: Case) -> float:
    """The share of numbers whose interval is withheld."""
    return float(np.mean([one.withheld() is not None for one in case.found if one]))


def inside(estimate: Estimate | Given, truth: float) -> bool:
    low, high = estimate.limits(-math.inf, math.inf)
    return low is not None and high is not None and low <= truth <= high


if __name__ == "__main__":
    main()
