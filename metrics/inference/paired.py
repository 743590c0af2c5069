"""The difference of two values that were measured on the same units: its interval and its p-value.

The interval is Student's, and no wider than the sides' own intervals allow: with errors that are as opposed as can be,
the distances to the limits add up. The p-value is that of the interval: below 0.05 where it leaves out 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from polyculture.metrics.inference.arrays import Floats
from polyculture.metrics.inference.crossed import crossed_variance, way
from polyculture.metrics.inference.limits import FEW, StudentInterval, student

Limits = tuple[float | None, float | None]  # of a 95 % interval; None where there is none
ALL_AGREE = "all agree"  # why there is no interval: nothing varies, and both sides are the same
_SAME = 1e-12  # a smaller difference is rounding


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """One side less the other, with its 95 % interval and p-value, or the reason why there is none."""

    one: float
    other: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    freedom: float | None = None
    lacking: str | None = None

    @property
    def value(self) -> float:
        return self.one - self.other

    def without_interval(self, reason: str) -> PairedDifference:
        """These sides without an interval, for a reason."""
        return PairedDifference(self.one, self.other, lacking=reason)


def paired_difference(
    one: float, other: float, variance: float, freedom: float, sides: tuple[Limits, Limits] = ((None, None),) * 2
) -> PairedDifference:
    """The difference of two values, from its variance with degrees of freedom and the limits of both sides.

    Where nothing varies and the sides differ, their own intervals are all that is known.
    """
    value = one - other
    (one_low, one_high), (other_low, other_high) = sides
    below = above = math.inf
    if None not in (one_low, one_high, other_low, other_high):
        below, above = one - one_low + other_high - other, one_high - one + other - other_low  # type: ignore[operator]
    if variance <= 0:
        if abs(value) < _SAME or math.isinf(below):
            return PairedDifference(one, other, lacking=ALL_AGREE)
        freedom = math.inf
    reach = student(freedom) * math.sqrt(variance) if variance > 0 else math.inf
    below, above = min(below, reach), min(above, reach)
    p = StudentInterval(value, below, above, freedom).p()
    return PairedDifference(one, other, value - below, value + above, p, freedom)


def paired_means(one: Floats, other: Floats) -> PairedDifference:
    """The means of two sides over the same units, and their difference by Student's paired t-test."""
    means, changes = (float(one.mean()), float(other.mean())), one - other
    variance, freedom = crossed_variance([way((changes - changes.mean()) / len(changes))], 0.0)
    return paired_difference(*means, variance, freedom) if freedom else PairedDifference(*means, lacking=FEW)
