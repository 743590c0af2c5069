"""Simulated responses whose true numbers are known. `test_coverage.py` and `bench/coverage.py` draw from these worlds.

A world of items draws the items that each response names; a world of shares draws how many mentions each response has,
and how many of them count. Lengths are mentions of a response.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyculture.metrics.declared import METRICS
from polyculture.metrics.inference.arrays import Floats, Integers
from polyculture.metrics.inference.jackknife import rare_variance, share_of
from polyculture.metrics.inference.limits import Estimate
from polyculture.metrics.inference.named_items import OF_COUNTS, Incidences, consensus, distinct, incidences

Random = np.random.Generator
Lengths = Callable[[Random, int], Integers]
Shares = Callable[[Random, int], tuple[Integers, Integers]]  # mentions that count, and all, of each response


# Lengths.
def poisson(random: Random, responses: int, mean: float = 3.0) -> Integers:
    return random.poisson(mean, responses)


def single(random: Random, responses: int) -> Integers:
    return np.ones(responses, dtype=np.int64)


def lists(random: Random, responses: int) -> Integers:
    """15 % of responses are lists of 15 items, the others sentences with one or two."""
    return np.where(random.random(responses) < 0.15, 15, random.poisson(1.5, responses))


def pareto(random: Random, responses: int) -> Integers:
    """Lengths without a variance, of 200 items at most."""
    return np.minimum(random.pareto(1.5, responses) + 1, 200).astype(np.int64)


def uneven(random: Random, responses: int) -> Integers:
    """Lengths with a coefficient of variation of 0.7."""
    return np.rint(random.gamma(1 / 0.49, 3 * 0.49, responses)).astype(np.int64)


def six(random: Random, responses: int) -> Integers:
    """97 % of responses name one item, 3 % name six."""
    return np.where(random.random(responses) < 0.03, 6, 1)


def silent(random: Random, responses: int) -> Integers:
    """40 % of responses name nothing."""
    return np.where(random.random(responses) < 0.4, 0, 1 + random.poisson(2, responses))


def constant(length: int) -> Lengths:
    return lambda _, responses: np.full(responses, length)


def mostly_silent(random: Random, responses: int) -> Integers:
    """80 % of responses name nothing."""
    return np.where(random.random(responses) < 0.8, 0, 1 + random.poisson(2, responses))


class World(NamedTuple):
    """A model that names some of `items` items: `pairs` draws all pairs of a response and an item in it."""

    items: int
    pairs: Callable[[Random, int], tuple[Integers, Integers]]

    def draw(self, random: Random, responses: int) -> tuple[Integers, Integers]:
        """All pairs of a response and an item in it, each once."""
        response, item = self.pairs(random, responses)
        response, item = np.divmod(np.unique(response * self.items + item), self.items)
        return response, item


def zipf(items: int, slope: float, shuffled: float = 0.0, random: Random | None = None) -> Floats:
    """The popularity of items, added up; `shuffled` disturbs their order: another language's view of the same items."""
    rank = np.arange(1, items + 1)
    if shuffled and random:
        rank = np.argsort(np.argsort(np.log(rank) + shuffled * random.normal(size=items))) + 1
    weights = rank ** -float(slope)
    return (weights / weights.sum()).cumsum()


def chosen(random: Random, popularity: Floats, size: int | tuple[int, ...]) -> Integers:
    return np.minimum(np.searchsorted(popularity, random.random(size)), len(popularity) - 1)


def popular(lengths: Lengths, popularity: Floats) -> World:
    """Independent items of this popularity, as many a response as `lengths` says."""

    def pairs(random: Random, responses: int) -> tuple[Integers, Integers]:
        response = np.repeat(np.arange(responses), lengths(random, responses))
        return response, chosen(random, popularity, len(response))

    return World(len(popularity), pairs)


def bundled(lengths: Lengths, popularity: Floats, bundles: Integers, often: float = 1.0, whole: float = 0.8) -> World:
    """Beside independent items a share of responses, `often`, names most of one of the bundles of items."""
    weights = zipf(len(bundles), 1.0)
    plain = popular(lengths, popularity)

    def pairs(random: Random, responses: int) -> tuple[Integers, Integers]:
        response, item = plain.pairs(random, responses)
        named = bundles[chosen(random, weights, responses)]
        told = (random.random(named.shape) < whole) & (random.random((responses, 1)) < often)
        return np.concatenate([response, np.nonzero(told)[0]]), np.concatenate([item, named[told]])

    return World(len(popularity), pairs)


def mixed(share: float, one: World, other: World) -> World:
    """A share of the responses is of the first world, the others of the second, with items of their own."""

    def pairs(random: Random, responses: int) -> tuple[Integers, Integers]:
        first = random.random(responses) < share
        (here, item), (there, another) = one.pairs(random, responses), other.pairs(random, responses)
        here_too, there_too = first[here], ~first[there]
        response = np.concatenate([here[here_too], there[there_too]])
        return response, np.concatenate([item[here_too], one.items + another[there_too]])

    return World(one.items + other.items, pairs)


def repeating(lengths: Lengths, popularity: Floats) -> World:
    """Seven of ten mentions of a response repeat one item."""

    def pairs(random: Random, responses: int) -> tuple[Integers, Integers]:
        response = np.repeat(np.arange(responses), lengths(random, responses))
        main = chosen(random, popularity, responses)[response]
        return response, np.where(random.random(len(response)) < 0.7, main, chosen(random, popularity, len(response)))

    return World(len(popularity), pairs)


def _bundles(items: int, number: int, size: int, popularity: Floats) -> Integers:
    random = np.random.default_rng(1)
    weights = np.diff(popularity, prepend=0)
    return np.array([random.choice(items, size, replace=False, p=weights) for _ in range(number)])


# What responses are like: independent items of Zipf's popularity, many of nearly equal popularity, whole bundles.
PLAIN = {
    "independent": popular(poisson, zipf(2000, 1.2)),
    "flat": popular(partial(poisson, mean=1.0), zipf(400, 0.2)),
    "bundled": bundled(partial(poisson, mean=0.5), zipf(1000, 0.8), _bundles(1000, 300, 4, zipf(1000, 0.8))),
}
FEW = {
    f"{items} items, Zipf {slope}": popular(partial(poisson, mean=1.5), zipf(items, slope))
    for items, slope in ((4, 2.0), (5, 1.0), (6, 1.5), (8, 1.0), (8, 2.0), (12, 2.0))
}
UNEQUAL = {
    "lists, Zipf 1": popular(lists, zipf(2000, 1.0)),
    "lists, Zipf 1.3": popular(lists, zipf(500, 1.3)),
    "lists, flat": popular(lists, zipf(200, 0.0)),
    "Pareto lengths, Zipf 1": popular(pareto, zipf(2000, 1.0)),
    "Pareto lengths, Zipf 1.6": popular(pareto, zipf(2000, 1.6)),
    "Pareto lengths, flat": popular(pareto, zipf(200, 0.0)),
    "lengths of cv 0.7, flat": popular(uneven, zipf(600, 0.0)),
    "lengths of cv 0.7, Zipf 1": popular(uneven, zipf(2000, 1.0)),
    "40 % name nothing, Zipf 1.6": popular(silent, zipf(2000, 1.6)),
    "97 % name one, 3 % six, Zipf 1.3": popular(six, zipf(500, 1.3)),
    "a tenth names eight others": mixed(0.1, popular(constant(8), zipf(300, 0.0)), popular(poisson, zipf(300, 1.3))),
    "two kinds of responses": mixed(0.5, popular(poisson, zipf(300, 1.2)), popular(poisson, zipf(300, 1.2))),
    "heavy repetition": repeating(lambda random, n: random.integers(1, 9, n), zipf(500, 1.0)),
    "a fifth are bundles of ten": bundled(
        poisson, zipf(1000, 1.3), _bundles(1000, 100, 10, zipf(1000, 0.0)), often=0.2, whole=0.9
    ),
    "20 items, and 2 % rare ones": mixed(0.02, popular(poisson, zipf(2000, 0.0)), popular(poisson, zipf(20, 1.0))),
}


def marked(random: Random, lengths: Integers, share: Floats | float, alike: float) -> Integers:
    """How many mentions of each response count: each with this chance, `alike` within a response (0 to 1)."""
    chance = np.broadcast_to(np.asarray(share, dtype=np.float64), lengths.shape)
    if alike == 0:
        return random.binomial(lengths, chance)
    if alike == 1:
        return lengths * (random.random(lengths.shape) < chance)
    scale = (1 - alike) / alike
    return random.binomial(lengths, random.beta(chance * scale, (1 - chance) * scale))


def share(lengths: Lengths, chance: float, alike: float) -> Shares:
    """Mentions count with the same chance in all responses."""

    def draw(random: Random, responses: int) -> tuple[Integers, Integers]:
        found = lengths(random, responses)
        return marked(random, found, chance, alike), found

    return draw


def by_length(lengths: Lengths, chance: Callable[[Integers], Floats], alike: float) -> Shares:
    """The chance of a response's mentions depends on their number."""

    def draw(random: Random, responses: int) -> tuple[Integers, Integers]:
        found = lengths(random, responses)
        return marked(random, found, chance(found), alike), found

    return draw


def long_ones(lengths: Lengths, long: int, short_share: float, long_share: float, alike: float) -> Shares:
    """The mentions of responses with `long` mentions or more have another chance."""
    return by_length(lengths, lambda found: np.where(found >= long, long_share, short_share), alike)


def kinds(often: float, one: Shares, other: Shares) -> Shares:
    """A share of the responses is of one kind, the others of another."""

    def draw(random: Random, responses: int) -> tuple[Integers, Integers]:
        first = random.random(responses) < often
        (top, bottom), (another_top, another_bottom) = one(random, responses), other(random, responses)
        return np.where(first, top, another_top), np.where(first, bottom, another_bottom)

    return draw


def of_items(world: World, counts: Callable[[Integers], NDArray[np.bool_]]) -> Shares:
    """The share of items that count, where a response's item is counted once."""

    def draw(random: Random, responses: int) -> tuple[Integers, Integers]:
        response, item = world.pairs(random, responses)
        response, item = np.divmod(np.unique(response * world.items + item), world.items)
        top = np.bincount(response, weights=counts(item), minlength=responses).astype(np.int64)
        return top, np.bincount(response, minlength=responses)

    return draw


def _several(random: Random, responses: int) -> Integers:
    return 1 + random.poisson(2, responses)


SHARES: dict[str, Shares] = {
    **{
        f"{name}, share {chance}, alike {alike}": share(lengths, chance, alike)
        for name, lengths in {
            "one mention": single,
            "four mentions": constant(4),
            "cv 0.7": uneven,
            "lists": lists,
            "Pareto": pareto,
            "97 % one, 3 % six": six,
            "40 % none": silent,
        }.items()
        for chance, alike in ((0.02, 0.3), (0.5, 0.0), (0.93, 1.0))
    },
    **{
        f"97 % one of share {short}, 3 % six of {long}": long_ones(six, 6, short, long, alike)
        for short, long, alike in ((0.1, 0.6, 1), (0.6, 0.1, 1), (0.02, 0.9, 1), (0.95, 0.3, 0))
    },
    **{
        f"short of share {short}, lists of {long}": long_ones(lists, 15, short, long, alike)
        for short, long, alike in ((0.1, 0.6, 1), (0.6, 0.1, 0), (0.02, 0.9, 1), (0.95, 0.3, 1))
    },
    **{
        f"Pareto, long of share {long}, short of {short}": long_ones(pareto, 5, short, long, alike)
        for short, long, alike in ((0.1, 0.6, 0), (0.6, 0.1, 0), (0.02, 0.9, 1), (0.95, 0.3, 0))
    },
    "share 1 / length": by_length(uneven, lambda found: 1 / np.maximum(found, 1), 0),
    "a tenth: eight mentions of share 0.9": kinds(0.1, share(constant(8), 0.9, 0), share(_several, 0.05, 0)),
    "a tenth: share 1": kinds(0.1, share(_several, 1.0, 0), share(_several, 0.05, 0)),
    "two kinds: 0.95, 0.05": kinds(0.5, share(_several, 0.95, 0), share(_several, 0.05, 0)),
    "four of five say one thing, 1 to 8 times": kinds(
        0.8, share(lambda random, n: random.integers(1, 9, n), 1.0, 0), share(_several, 0.3, 0)
    ),
    "80 % none, share 0.3": share(mostly_silent, 0.3, 0.3),
    "2 % are exceptions": kinds(0.02, share(_several, 1.0, 0), share(_several, 0.0, 0)),
    "lists of items once, the first counts": of_items(UNEQUAL["lists, Zipf 1.3"], lambda item: item == 0),
    "Pareto items once, all but 20 count": of_items(UNEQUAL["Pareto lengths, Zipf 1.6"], lambda item: item >= 20),
}
GAINS = {
    "97 % one of share 0.1, 3 % six of 0.6; share 0.1": (
        SHARES["97 % one of share 0.1, 3 % six of 0.6"],
        share(six, 0.1, 0),
    ),
    "lists, share 0.5; 0.1": (share(lists, 0.5, 0.3), share(lists, 0.1, 0.3)),
    "lists of share 0.6; 97 % one, 3 % six, share 0.02": (
        SHARES["short of share 0.1, lists of 0.6"],
        share(six, 0.02, 0.3),
    ),
    "Pareto, share 0.3; cv 0.7, 0.02": (share(pareto, 0.3, 0.3), share(uneven, 0.02, 0.3)),
}


def pair_of(name: str, random: Random) -> tuple[World, World]:
    """Two languages of the same items, of disturbed popularity in the second."""
    lengths, items, slope, shuffled = PAIRS[name]
    return popular(lengths, zipf(items, slope)), popular(lengths, zipf(items, slope, shuffled, random))


PAIRS: dict[str, tuple[Lengths, int, float, float]] = {
    **{
        f"{items} items, Zipf {slope}": (partial(poisson, mean=1.5), items, slope, 0.0)
        for items, slope in ((4, 1.0), (5, 1.0), (6, 1.5), (6, 2.5), (8, 1.0), (8, 3.0), (12, 2.0))
    },
    "8 items, Zipf 2, shuffled": (partial(poisson, mean=1.5), 8, 2.0, 1.0),
    "8 items, lists": (lists, 8, 2.0, 0.0),
    **{
        f"{name}, {items} items, Zipf {slope}": (lengths, items, slope, 0.5)
        for name, lengths in {"cv 0.7": uneven, "lists": lists, "Pareto": pareto, "40 % none": silent}.items()
        for items, slope in ((2000, 1.6), (200, 0.0), (50, 1.0))
    },
}


def share_covered(draw: Shares, responses: int, count: int, seed: int = 1) -> float:
    """How often the interval of a cell's share covers that of a million responses."""
    top, bottom = draw(np.random.default_rng(11), 1_000_000)
    truth = float(top.sum() / bottom.sum())
    random = np.random.default_rng([seed, responses])
    drawn = ((part.astype(np.float64) for part in draw(random, responses)) for _ in range(count))
    return _covered([found for one in drawn if (found := share_of(*one))], truth)


def cells_of(drawn: Sequence[tuple[Integers, Integers]], sizes: Integers) -> Incidences:
    """Cells of so many responses, of the pairs that were drawn for each."""
    starts = np.cumsum(sizes) - sizes
    response = np.concatenate([one + start for (one, _), start in zip(drawn, starts, strict=True)])
    item = np.concatenate([one for _, one in drawn])
    return incidences(sizes, np.repeat(np.arange(len(sizes)), sizes), response, item)


def count_covered(world: World, responses: int, size: int, count: int, seed: int = 1) -> float:
    """How often the interval of a cell's distinct items in `size` responses covers their mean over as many others."""
    random = np.random.default_rng([seed, responses, size])
    cells = cells_of([world.draw(random, responses) for _ in range(2 * count)], np.full(2 * count, responses))
    values, changes = distinct(cells, np.full(2 * count, size))
    variances = _variances(cells, changes) + rare_variance(np.array(size), np.array(responses))
    found = [
        Estimate(value, variance, responses - 1, responses, share=False)
        for value, variance in zip(values[:count].tolist(), variances[:count].tolist(), strict=True)
    ]
    return _covered(found, float(values[count:].mean()))


def gain_covered(pair: tuple[Shares, Shares], sizes: tuple[int, int], count: int, seed: int = 1) -> float:
    """How often the interval of the difference of two cells' shares covers that of a million responses of each."""
    truths = [float(np.divide(*(part.sum() for part in draw(np.random.default_rng(11), 1_000_000)))) for draw in pair]
    random = np.random.default_rng([seed, *sizes])
    found: list[Estimate] = []
    for _ in range(count):
        drawn = [draw(random, size) for draw, size in zip(pair, sizes, strict=True)]
        a, b = (share_of(*(part.astype(np.float64) for part in one)) for one in drawn)
        if a and b:
            squares = sum(one.variance**2 / one.freedom for one in (a, b))
            variance = a.variance + b.variance
            freedom = variance**2 / squares if squares > 0 else np.inf
            found.append(Estimate(a.value - b.value, variance, freedom, min(a.told, b.told), share=False))
    return _covered(found, truths[0] - truths[1])


def companion_covered(metric: str, world: World, responses: int, count: int, seed: int = 1) -> float:
    """How often the interval of a cell's Hill number, coverage or dominance covers its mean over as many others."""
    random = np.random.default_rng([seed, responses])
    drawn = [pairs for _ in range(2 * count) if len((pairs := world.draw(random, responses))[0])]
    cells = cells_of(drawn, np.full(len(drawn), responses))
    values, changes = OF_COUNTS[METRICS[metric].statistic](cells)
    share = METRICS[metric].is_share
    rare = 0.0 if share else rare_variance(np.array(responses), np.array(responses))
    variances = _variances(cells, changes) + rare
    found = [
        Estimate(value, variance, responses - 1, responses, share)
        for value, variance in zip(values[:count].tolist(), variances[:count].tolist(), strict=True)
    ]
    return _covered(found, float(values[count:].mean()))


def consensus_covered(name: str, sizes: tuple[int, int], count: int, seed: int = 1) -> float:
    """How often the interval of a consensus covers its mean over as many other samples."""
    random = np.random.default_rng([seed, *sizes])
    two = pair_of(name, random)
    drawn = [world.draw(random, size) for _ in range(2 * count) for world, size in zip(two, sizes, strict=True)]
    cells = cells_of(drawn, np.tile(sizes, 2 * count))
    pairs = np.arange(4 * count).reshape(-1, 2)
    agreed = consensus(cells, pairs, np.full(2 * count, min(sizes)))
    changes = agreed.changes.tocoo()
    found: list[Estimate] = []
    # The changes of a response are all of its pair.
    own = np.zeros(len(cells.cell))
    own[changes.row] = changes.data
    parts = _variances(cells, own).reshape(-1, 2)
    for value, rare, part in zip(agreed.values.tolist(), agreed.rare.tolist(), parts.tolist(), strict=True):
        if not np.isnan(value):
            squares = sum(one**2 / (size - 1) for one, size in zip(part, sizes, strict=True))
            freedom = sum(part) ** 2 / squares if squares > 0 else np.inf
            found.append(Estimate(value, sum(part) + rare, freedom, min(sizes), share=True))
    return _covered(found[:count], float(np.mean([one.value for one in found[count:]])))


def _variances(cells: Incidences, changes: Floats) -> Floats:
    """The jackknife's, of each cell."""
    size = cells.responses
    squares, sums = (np.bincount(cells.cell, part, len(size)) for part in (changes**2, changes))
    return np.maximum(0.0, (size - 1) / size * (squares - sums**2 / size))


def _covered(found: list[Estimate], truth: float) -> float:
    limits = [one.interval() for one in found]
    return float(np.mean([low <= truth <= high for low, high in limits]))
