"""95 % intervals of numbers and differences from their variances, and the p-values that these invert.

- A share has Wilson's (1927) interval with the sample size that its variance implies (Dean and Pagano 2015). One that
  is the same in all responses, such as 0 or 1 everywhere, has that of the responses that tell it: no width is 0.
- Any other number has Student's.
- Instruments and judged samples say themselves how the variance depends on the truth (`WilsonEstimate`).
- A difference has the interval that the limits of its sides imply (MOVER: Zou and Donner 2008; of two shares that is
  Newcombe's), with the correlation of the sides where they rest on the same responses.

`p` is the level at which such an interval ends at 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from scipy.special import stdtr, stdtrit

_HALVINGS = 60
_ROUNDING = 1e-13  # a share so near to 0 or 1 is 0 or 1
FEW = "few units"  # why there is no interval: nothing is known of the variance
Z = 1.959963984540054  # the normal distribution's 97.5 % quantile


@dataclass(frozen=True, slots=True)
class WilsonEstimate:
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


def symmetric(value: float, variance: float, freedom: float) -> WilsonEstimate:
    """The estimate whose limits are those of a normal distribution with this variance."""
    return WilsonEstimate(value, max(variance, 0.0), freedom)


def wilson(value: float, size: float, freedom: float) -> WilsonEstimate:
    """The estimate of a proportion whose limits are Wilson's (1927) for `size` independent observations."""
    return WilsonEstimate(value, value * (1 - value) / size, freedom, (1 - 2 * value) / size, 1 / size)


def between(value: float, below: float, above: float, freedom: float) -> WilsonEstimate:
    """The estimate whose limits have these distances for a known variance."""
    return WilsonEstimate(value, below * above / Z**2, freedom, (above - below) / Z**2)


def student(freedom: float, level: float = 0.95) -> float:
    """The two-sided quantile of Student's distribution."""
    return float(stdtrit(min(freedom, 1e9), (1 + level) / 2))


def found_with_power(reach: float, freedom: float, power: float = 0.8) -> float:
    """The true difference that is found with a `power`, where a 95 % interval reaches so far from its middle."""
    return reach * (1 + student(freedom, 2 * power - 1) / student(freedom))


@dataclass(frozen=True)
class Estimate:
    """A number with its variance, as Student's t with so many degrees of freedom; a `share` stays within 0 and 1."""

    value: float
    variance: float
    freedom: float
    told: float  # responses that tell it: at least 1
    share: bool

    @cached_property
    def _inverted(self) -> WilsonEstimate:
        if not self.share:
            return symmetric(self.value, self.variance, self.freedom)
        value = min(max(self.value, 0.0), 1.0)
        spread = value * (1 - value)
        size = spread / self.variance if self.variance > 0 and spread > _ROUNDING else float(self.told)
        return wilson(value, size, self.freedom)

    def distances(self, deviations: float) -> tuple[float, float]:
        """The distances, down and up, of the limits that are so many standard deviations away."""
        return self._inverted.distances(deviations)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The limits."""
        below, above = self.distances(student(self.freedom, level))
        return self.value - below, self.value + above


@dataclass(frozen=True, slots=True)
class Contrast:
    """The difference of two numbers, `a` - `b`, and its own variance, less than the sum of both where they share."""

    a: Estimate
    b: Estimate
    variance: float
    freedom: float

    @property
    def value(self) -> float:
        return self.a.value - self.b.value

    @property
    def _correlation(self) -> float:
        product = math.sqrt(self.a.variance * self.b.variance)
        both = (self.a.variance + self.b.variance - self.variance) / 2
        return min(1.0, max(-1.0, both / product)) if product > 0 else 0.0

    def distances(self, deviations: float) -> tuple[float, float]:
        """The distances, down and up, of the limits that are so many standard deviations away."""
        (below, above), (other_below, other_above) = self.a.distances(deviations), self.b.distances(deviations)
        shared = 2 * self._correlation
        down = below**2 + other_above**2 - shared * below * other_above
        up = above**2 + other_below**2 - shared * above * other_below
        return math.sqrt(max(down, 0.0)), math.sqrt(max(up, 0.0))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The limits."""
        below, above = self.distances(student(self.freedom, level))
        return self.value - below, self.value + above

    def p(self, at: float = 0.0) -> float:
        """The two-sided p-value of a true difference of `at`: 1 less the level of the interval that ends there."""
        away = self.value - at
        side = 0 if away > 0 else 1
        if away == 0 or self.distances(1.0)[side] == 0:
            return 1.0 if away == 0 else 0.0
        low, high = 0.0, 1.0
        while self.distances(high)[side] < abs(away) and high < 1e6:
            low, high = high, 2 * high
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.distances(middle)[side] < abs(away) else (low, middle)
        return float(2 * (stdtr(self.freedom, -low) if math.isfinite(self.freedom) else stdtr(1e9, -low)))


@dataclass(frozen=True, slots=True)
class StudentInterval:
    """A difference whose 95 % interval is known, with the distances of its limits."""

    value: float
    below: float
    above: float
    freedom: float

    def interval(self) -> tuple[float, float]:
        """The limits."""
        return self.value - self.below, self.value + self.above

    def p(self, at: float = 0.0) -> float:
        """The two-sided p-value of a true difference of `at`, as the limit nearer to it has it."""
        away = self.value - at
        far = self.below if away > 0 else self.above
        if away == 0 or far <= 0:
            return 1.0 if away == 0 else 0.0
        return float(2 * stdtr(min(self.freedom, 1e9), -student(self.freedom) * abs(away) / far))


Interval = Contrast | StudentInterval
