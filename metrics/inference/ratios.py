"""The intervals of ratios of sums, as of shares of answers, and of their differences: units crossed with prompts.

A unit is what a set calls its unit of sampling: a template, a question of several countries, a row. Its orders, names,
questions and variants are one witness. Every unit is asked under every prompt: the variance is that of units plus that
of prompts, less their interaction, which both include (Owen 2007; `metrics.inference.crossed`). With one prompt it is
that of units alone, and the interval holds for that prompt only. Units by the jackknife (Efron and Stein 1981), prompts
by their means; Student's quantile with Satterthwaite's degrees of freedom, no more than as many units of one size would
have that weigh alike (Kish).

The limits follow the skewness of the units, and those of a share are at least Wilson's for the number of
independent units that the variance implies. Where few units differ from the others, another sample may hold
more of them, or none. Where one more unit, as different as half of the range, would make the interval more than
twice as wide (`MOST_WIDENED`), it is withheld; with `ENOUGH_UNITS` it leaves room for that unit instead. Scores with
values between the ends (`graded`) may be alike without being the same: that rule is theirs only where fewer than
`FEWEST_UNITS` have another value than the commonest one.

`bench/coverage.py --only choices` measures the coverage in worlds with unit effects; docs/evidence.md has it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from polyculture.metrics.inference.arrays import Floats
from polyculture.metrics.inference.crossed import Way, crossed_variance, skewed_variance, way
from polyculture.metrics.inference.limits import FEW, WilsonEstimate, Z, between, symmetric, wilson
from polyculture.metrics.inference.paired import PairedDifference, paired_difference

ONE_KIND, FEW_PROMPTS = "few units differ", "few prompts"  # why a number has no interval, besides `FEW`
FEWEST_FREEDOM = 2.0  # of units and prompts together: with fewer, two prompts that differ, an interval says nothing
FEWEST_UNITS = 8  # that a number rests on: with fewer, it has no interval
EXCEPTION = 0.5  # how far from the number a unit may lie that was not seen, as a part of the range there is
ENOUGH_UNITS = 40
_NOTHING = 1e-9  # of a sum over units: a smaller one is rounding
_DECIMALS = 9  # of a unit's number: what differs behind them is rounding
MOST_WIDENED = 2.0  # how much wider the interval may be with such a unit


@dataclass(frozen=True, slots=True)
class Ratio:
    """A number as the mean over prompts of a ratio of sums over units, or of a weighted sum of such ratios.

    The arrays are of shape (ratios, units, prompts). `lowest` is the least that the number can be: 0 of a share, -1
    of a bias; `highest` the most. Without weights it is the first ratio, less the second where there are two. It is
    `graded` where what is summed above the line has values between the ends, as an F1 has, and is no count.
    """

    numerators: Floats
    denominators: Floats
    lowest: float = 0.0
    highest: float = 1.0
    weights: tuple[float, ...] = ()
    graded: bool = False

    @property
    def units(self) -> NDArray[np.bool_]:
        """Which units have something to count."""
        return np.asarray((self.denominators > 0).any(axis=(0, 2)))

    def alike(self) -> float:
        """How many units of the same size would weigh as these do (Kish); at most as many as there are."""
        weights = self.denominators.sum(axis=2)
        return float((weights.sum(axis=1) ** 2 / (weights**2).sum(axis=1)).mean())

    def by_unit(self) -> Ratio:
        """The mean over units of each one's own number, where it has one."""
        own = self._sum(_divided(self.numerators, self.denominators))
        tops, bottoms = np.nan_to_num(own)[np.newaxis], (~np.isnan(own)).astype(np.float64)[np.newaxis]
        return Ratio(tops, bottoms, self.lowest, self.highest, graded=self.graded)

    def other_than_most(self) -> int:
        """How many units have another number than the commonest one."""
        sums = self._sum(_divided(self.numerators.sum(axis=2), self.denominators.sum(axis=2)))
        numbers = sums[~np.isnan(sums)].round(_DECIMALS)
        return len(numbers) - int(np.unique(numbers, return_counts=True)[1].max(initial=0))

    def of_prompts(self) -> Floats:
        """The number under each prompt; NaN where a denominator is 0."""
        return self._sum(_divided(self.numerators.sum(axis=1), self.denominators.sum(axis=1)))

    def without_unit(self) -> Floats:
        """The number under each prompt without each unit: (units, prompts)."""
        tops, bottoms = (part.sum(axis=1, keepdims=True) - part for part in (self.numerators, self.denominators))
        return self._sum(_divided(tops, bottoms))

    def influences(self) -> Floats:
        """What a unit adds to the number under a prompt, to first order: (units, prompts)."""
        bottoms = self.denominators.sum(axis=1, keepdims=True)
        ratios = _divided(self.numerators.sum(axis=1, keepdims=True), bottoms)
        return self._sum((self.numerators - ratios * self.denominators) / bottoms)

    def under(self, prompts: NDArray[np.bool_]) -> Ratio:
        """The ratio of some of the prompts, which a mask chooses."""
        return self.where(np.ones(self.numerators.shape[1], dtype=bool), prompts)

    def where(self, units: NDArray[np.bool_], prompts: NDArray[np.bool_]) -> Ratio:
        """The ratio of some of the units and prompts, which masks choose."""
        here = np.ix_(np.arange(len(self.numerators)), units, prompts)
        return replace(self, numerators=self.numerators[here], denominators=self.denominators[here])

    def _sum(self, ratios: Floats) -> Floats:
        weights = self.weights or (1.0, -1.0)[: len(ratios)]
        return np.asarray(sum(weight * ratio for weight, ratio in zip(weights, ratios, strict=True)))


def estimate(number: Ratio) -> WilsonEstimate | None:
    """The mean over the prompts that have the number, with its interval; None where none has it."""
    known = ~np.isnan(number.of_prompts())
    if not known.any():
        return None
    number = number.where(number.under(known).units, known)
    of_prompts, size = number.of_prompts(), number.numerators.shape[1]
    value = float(of_prompts.mean())
    if size < FEWEST_UNITS or np.isnan(without := number.without_unit().mean(axis=1)).any():
        return replace(symmetric(value, 0.0, 0.0), lacking=FEW)
    changes = (without.mean() - without) * (size - 1) / size
    ways, shared = _ways(number.influences(), of_prompts, changes)
    variance, freedom = crossed_variance(ways, shared)
    freedom = min(freedom, number.alike() - 1)
    found = _skewed(_in_range(value, variance, freedom, size, number), variance, changes)
    if _few_prompts(ways, shared):
        return replace(found, lacking=FEW_PROMPTS)
    if number.graded and number.other_than_most() >= FEWEST_UNITS:
        return found
    roomy = _with_exception(found, variance, changes, number)
    if sum(roomy.distances(Z)) <= MOST_WIDENED * sum(found.distances(Z)):
        return found
    return roomy if size >= ENOUGH_UNITS else replace(found, lacking=ONE_KIND)


def paired(one: Ratio, other: Ratio) -> PairedDifference | None:
    """One number less another of the same questions: two models, say. None where no prompt has both.

    What a unit or a prompt adds to both is taken off before it is squared. Where few units differ, the degrees
    of freedom fall with the kurtosis of what they add.
    """
    known = ~(np.isnan(one.of_prompts()) | np.isnan(other.of_prompts()))
    present = one.under(known).units & other.under(known).units
    if not known.any() or not present.any():
        return None
    sides = [number.where(present, known) for number in (one, other)]
    of_prompts = sides[0].of_prompts() - sides[1].of_prompts()
    values = [float(side.of_prompts().mean()) for side in sides]
    size = int(present.sum())
    without = (sides[0].without_unit() - sides[1].without_unit()).mean(axis=1)
    if size < FEWEST_UNITS or np.isnan(without).any():
        return PairedDifference(values[0], values[1], lacking=FEW)
    changes = (without.mean() - without) * (size - 1) / size
    ways, shared = _ways(sides[0].influences() - sides[1].influences(), of_prompts, changes)
    if _few_prompts(ways, shared):
        return PairedDifference(values[0], values[1], lacking=FEW_PROMPTS)
    variance, freedom = skewed_variance(ways, shared)
    freedom = min(freedom, *(side.alike() - 1 for side in sides))
    found = [number for side in sides if (number := estimate(side)) is not None]
    if variance <= 0:  # all units say the same of either side: its interval is that of so many
        found = [replace(number, lacking=None) for number in found]
    limits = [number.limits(side.lowest, side.highest) for number, side in zip(found, sides, strict=True)]
    return paired_difference(values[0], values[1], variance, freedom, (limits[0], limits[1]))


def least_reversing(one: Ratio, other: Ratio) -> int | None:
    """How few units have to be left out for the difference to be 0 or to have the other sign.

    Where both sides count the same of each unit, under every prompt, the sign is that of a sum over units: those that
    add most to it are left out first, and no fewer others do it. None for other numbers, where there is no difference,
    and where no units that remain reverse it.
    """
    counts = one.denominators
    if len(counts) != 1 or not np.array_equal(counts, other.denominators) or (counts != counts[:, :, :1]).any():
        return None
    changes = (one.numerators - other.numerators).sum(axis=(0, 2))[one.units]
    total = float(changes.sum())
    if abs(total) < _NOTHING:
        return None
    largest = np.sort(changes * np.sign(total))[::-1]
    left = abs(total) - np.cumsum(largest[:-1])
    reversed_by = np.flatnonzero(left < _NOTHING)
    return int(reversed_by[0]) + 1 if len(reversed_by) else None


def _ways(influences: Floats, of_prompts: Floats, units: Floats) -> tuple[list[Way], float]:
    """What units and prompts add, and the variance that both include."""
    count, size = len(of_prompts), len(units)
    if count == 1:
        return [way(units)], 0.0
    prompts = (of_prompts - of_prompts.mean()) / count
    cells = influences / count
    rest = cells - cells.mean(axis=1, keepdims=True) - cells.mean(axis=0, keepdims=True) + cells.mean()
    shared = float((rest**2).sum()) * size * count / ((size - 1) * (count - 1))
    return [way(units), way(prompts)], shared


def _few_prompts(ways: Sequence[Way], shared: float) -> bool:
    """Do two prompts differ by more than their units tell?"""
    return len(ways) > 1 and 0 < crossed_variance(ways, shared)[1] < FEWEST_FREEDOM


def _in_range(value: float, variance: float, freedom: float, size: int, number: Ratio) -> WilsonEstimate:
    """Wilson's limits on the scale of the number's range; Student's where nothing varies between the ends."""
    span = number.highest - number.lowest
    share = (value - number.lowest) / span
    spread = share * (1 - share)
    if spread <= 0:
        found = wilson(min(max(share, 0.0), 1.0), size, size - 1)
    elif variance <= 0 or freedom <= 0:
        return symmetric(value, 0.0, size - 1)
    else:
        found = wilson(share, spread * span**2 / variance, min(freedom, math.inf))
    below, above = (span * far for far in found.distances(Z))
    return between(value, below, above, found.freedom)


def _skewed(found: WilsonEstimate, variance: float, changes: Floats) -> WilsonEstimate:
    """`found` with limits no nearer than the skewness of the units asks for."""
    square, cube = float((changes**2).sum()), float((changes**3).sum())
    if square <= 0:
        return found
    below, above = WilsonEstimate(found.value, variance, found.freedom, cube / square).distances(Z)
    own_below, own_above = found.distances(Z)
    return between(found.value, max(below, own_below), max(above, own_above), found.freedom)


def _with_exception(found: WilsonEstimate, variance: float, changes: Floats, number: Ratio) -> WilsonEstimate:
    """`found` with limits that leave room for one more unit, far from the others on either side."""
    square, cube = float((changes**2).sum()), float((changes**3).sum())
    limits = []
    ends = (found.value - number.lowest, number.highest - found.value)
    for own, far, third in zip(found.distances(Z), ends, (-cube, cube), strict=True):
        more = EXCEPTION * far / (len(changes) + 1)
        slope = (third + more**3) / (square + more**2 or 1.0)
        limits.append(max(own, WilsonEstimate(found.value, variance, found.freedom, slope).distances(Z)[1]))
    return between(found.value, limits[0], limits[1], found.freedom)


def _divided(tops: Floats, bottoms: Floats) -> Floats:
    """NaN where the denominator is 0."""
    nothing: Floats = np.full(np.broadcast_shapes(tops.shape, bottoms.shape), np.nan)
    return np.divide(tops, bottoms, out=nothing, where=bottoms > 0)
