"""Culture consensus: how far the items of two languages overlap, and the interval of it."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrics.intervals.assemblage import Assemblage, bundling
from metrics.intervals.estimate import Estimate, symmetric, wilson
from metrics.intervals.incidence import Numbers


@dataclass(frozen=True, slots=True)
class Overlap:
    """The consensus of two cells, with the parts of its variance that the responses of each are the cause of."""

    value: float
    variance: tuple[float, float]
    size: float  # of independent items that would make a share as uncertain as this one
    freedom: float

    def estimate(self) -> Estimate:
        """The consensus of the pair: a share, with Wilson's interval."""
        return wilson(self.value, self.size, self.freedom)


def overlap(one: Assemblage, other: Assemblage) -> Overlap | None:
    """|A & B| / |A | B| of the items of two cells, as an estimate of its expectation for their numbers of responses.

    None where neither has an item. To first order the consensus J changes with an item by (in both) - J (in either),
    over the size of the union. Each item is in A and in B by its chances, independently; the variances of these changes
    add up, multiplied by how much the items of a response hang together. Of the items that a cell has not seen, a share
    stands in the other cell: as many as of its unique items.
    """
    in_other = np.isin(one.items, other.items, assume_unique=True)
    in_one = np.isin(other.items, one.items, assume_unique=True)
    shared = int(in_other.sum())
    union = len(one.items) + len(other.items) - shared
    if union == 0:
        return None
    value = (shared + 0.5) / (union + 1)  # within 0 and 1, so that the variance is never taken for none
    chance, chance_other, rest, rest_other = _paired_chances(one, other, in_other, in_one)
    variance, variance_other = chance * (1 - chance), chance_other * (1 - chance_other)
    both = (1 + value) ** 2 * float(variance @ variance_other) / 2
    own = float(variance @ ((1 + value) * chance_other - value) ** 2) + both + value**2 * rest
    others = float(variance_other @ ((1 + value) * chance - value) ** 2) + both + value**2 * rest_other
    spread = bundling([(one, _effects(one, in_other, value)), (other, _effects(other, in_one, value))]) / union**2
    variances = (own * spread, others * spread)
    size = value * (1 - value) / sum(variances) if any(variances) else math.inf
    return Overlap(shared / union, variances, size, min(one.responses, other.responses) - 1)


def mean_overlap(pairs: Collection[tuple[str, str, Overlap]]) -> Estimate:
    """The mean consensus of pairs of cells, each named by its language.

    Pairs that share a language share its responses. What these cause in all its pairs is taken as going one way, which
    makes the interval too wide rather than too narrow.
    """
    caused: dict[str, float] = {}
    for one, other, pair in pairs:
        for language, variance in zip((one, other), pair.variance, strict=True):
            caused[language] = caused.get(language, 0.0) + variance**0.5
    size = len(pairs)
    value = sum(pair.value for _, _, pair in pairs) / size
    variance = sum(deviation**2 for deviation in caused.values()) / size**2
    return symmetric(value, variance, min(pair.freedom for _, _, pair in pairs))


def _effects(cell: Assemblage, in_other: NDArray[np.bool_], value: float) -> Numbers:
    return np.where(in_other[cell.unique], 1.0, -value)


def _paired_chances(
    one: Assemblage, other: Assemblage, in_other: NDArray[np.bool_], in_one: NDArray[np.bool_]
) -> tuple[Numbers, Numbers, float, float]:
    """For every item of the union its chance in either cell, and the variance of each cell's items that neither has."""
    chance_here, rest = _unseen(one, in_other, int((~in_one).sum()))
    chance_there, rest_other = _unseen(other, in_one, int((~in_other).sum()))
    shared_there = np.searchsorted(other.items, one.items[in_other])
    chance = np.concatenate([one.chance, np.full(int((~in_one).sum()), chance_here)])
    chance_other = np.concatenate([np.full(len(one.items), chance_there), other.chance[~in_one]])
    chance_other[: len(one.items)][in_other] = other.chance[shared_there]
    return chance, chance_other, rest, rest_other


def _unseen(cell: Assemblage, in_other: NDArray[np.bool_], candidates: int) -> tuple[float, float]:
    """The chance here of each of the `candidates` items that only the other cell has; the variance of all the rest."""
    uniques = int(cell.unique.sum())
    share = (int((cell.unique & in_other).sum()) + 0.5) / (uniques + 1)
    chance = min(1.0, share * cell.unseen * cell.unseen_chance / candidates) if candidates else 0.0
    return chance, (1 - share) * cell.unseen * cell.unseen_chance * (1 - cell.unseen_chance)
