"""95 % intervals of numbers and differences from their variances, and the p-values that these invert.

- A share has Wilson's (1927) interval with the sample size that its variance implies (Dean and Pagano 2015). One that
  is the same in all responses, such as 0 or 1 everywhere, has that of the responses that tell it: no width is 0.
- Any other number has Student's.
- A difference has the interval that the limits of its sides imply (MOVER: Zou and Donner 2008; of two shares that is
  Newcombe's), with the correlation of the sides where they rest on the same responses.

`p` is the level at which such an interval ends at 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from scipy.special import stdtr

from polyculture.metrics.inference import intervals
from polyculture.metrics.inference.crossed import ROUNDING
from polyculture.metrics.inference.intervals import student

_HALVINGS = 60


@dataclass(frozen=True)
class Estimate:
    """A number with its variance, as Student's t with so many degrees of freedom; a `share` stays within 0 and 1."""

    value: float
    variance: float
    freedom: float
    told: float  # responses that tell it: at least 1
    share: bool

    @cached_property
    def _inverted(self) -> intervals.Estimate:
        if not self.share:
            return intervals.symmetric(self.value, self.variance, self.freedom)
        value = min(max(self.value, 0.0), 1.0)
        spread = value * (1 - value)
        size = spread / self.variance if self.variance > 0 and spread > ROUNDING else float(self.told)
        return intervals.wilson(value, size, self.freedom)

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
