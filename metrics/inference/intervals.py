"""A number with a variance that depends on the truth: the intervals of Wilson's (1927) kind, and Student's.

Of instruments and judged samples; those of texts (`inference.limits`) are made of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import stdtrit

FEW = "few units"  # why there is no interval: nothing is known of the variance
Z = 1.959963984540054  # the normal distribution's 97.5 % quantile


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, and its variance as a function of the truth's distance `away` from it.

    The variance is `variance` + `slope` x away - `curve` x away^2. The 95 % interval is of Wilson's (1927) kind: it
    holds all truths within 1.96 standard deviations of the number, with the standard deviation computed at the truth.
    Few degrees of `freedom` raise the 1.96 to Student's quantile; with 0 degrees nothing is known of the variance.
    `lacking` is the reason why no valid interval is known.
    """

    value: float
    variance: float
    freedom: float
    slope: float = 0.0
    curve: float = 0.0
    lacking: str | None = None

    def limits(self, lowest: float, highest: float) -> tuple[float | None, float | None]:
        """The 95 % interval within the range of the number; None where there is a reason to withhold it."""
        if self.withheld():
            return None, None
        below, above = self.distances(student(self.freedom))
        return max(lowest, self.value - below), min(highest, self.value + above)

    def withheld(self) -> str | None:
        """The reason for the missing interval; None where there is one."""
        return self.lacking or (FEW if self.freedom <= 0 else None)

    def distances(self, deviations: float) -> tuple[float, float]:
        """The distances, down and up, of the truths that are the given number of their standard deviations away."""
        square = deviations**2
        shift, scale = square * self.slope / 2, 1 + square * self.curve
        root = math.sqrt(shift**2 + scale * square * self.variance)
        return (root - shift) / scale, (root + shift) / scale


def symmetric(value: float, variance: float, freedom: float) -> Estimate:
    """The estimate whose limits are those of a normal distribution with this variance."""
    return Estimate(value, max(variance, 0.0), freedom)


def wilson(value: float, size: float, freedom: float) -> Estimate:
    """The estimate of a proportion whose limits are Wilson's (1927) for `size` independent observations."""
    return Estimate(value, value * (1 - value) / size, freedom, (1 - 2 * value) / size, 1 / size)


def between(value: float, below: float, above: float, freedom: float) -> Estimate:
    """The estimate whose limits have these distances for a known variance."""
    return Estimate(value, below * above / Z**2, freedom, (above - below) / Z**2)


def student(freedom: float, level: float = 0.95) -> float:
    """The two-sided quantile of Student's distribution."""
    return float(stdtrit(min(freedom, 1e9), (1 + level) / 2))
