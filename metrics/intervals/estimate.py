"""A number with its uncertainty, and linear combinations of independent ones."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from scipy.special import stdtrit

Z = 1.959963984540054  # the normal distribution's 97.5 % quantile


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and the distances from it to its 95 % limits, as they would be if the variance were known.

    `freedom` is how many degrees of freedom the variance rests on; 0 says that nothing is known of it.
    """

    value: float
    below: float
    above: float
    freedom: float

    def limits(self, lowest: float, highest: float) -> tuple[float | None, float | None]:
        """The 95 % interval within the range that the number can have; None where the variance is not known."""
        if self.freedom <= 0:
            return None, None
        stretch = student(self.freedom) / Z
        return max(lowest, self.value - self.below * stretch), min(highest, self.value + self.above * stretch)


def symmetric(value: float, variance: float, freedom: float) -> Estimate:
    """The estimate whose limits are those of a normal distribution with this variance."""
    distance = Z * math.sqrt(max(variance, 0.0))
    return Estimate(value, distance, distance, freedom)


def wilson(value: float, size: float, freedom: float) -> Estimate:
    """The estimate of a proportion whose limits are Wilson's (1927) for `size` independent observations."""
    center = (value + Z**2 / (2 * size)) / (1 + Z**2 / size)
    half = Z / (1 + Z**2 / size) * math.sqrt(value * (1 - value) / size + Z**2 / (4 * size**2))
    return Estimate(value, value - (center - half), center + half - value, freedom)


class Sum:
    """A sum of weight x estimate over independent estimates, by MOVER (Zou and Donner 2008, equation 6).

    Where an estimate enters with a negative weight, its upper limit decides the lower one of the sum. Degrees of
    freedom as Satterthwaite (1946) has them.
    """

    def __init__(self) -> None:
        self.weight = 0.0
        self._value = self._below = self._above = self._spread = self._spread_by_freedom = 0.0
        self._known = True

    def add(self, part: Estimate, weight: float = 1.0) -> None:
        down, up = (part.below, part.above) if weight >= 0 else (part.above, part.below)
        variance = weight**2 * (down**2 + up**2)
        self.weight += weight
        self._value += weight * part.value
        self._below += (weight * down) ** 2
        self._above += (weight * up) ** 2
        self._spread += variance
        self._known = self._known and part.freedom > 0
        if part.freedom > 0:
            self._spread_by_freedom += variance**2 / part.freedom

    def estimate(self) -> Estimate:
        freedom = math.inf if self._spread_by_freedom == 0 else self._spread**2 / self._spread_by_freedom
        return Estimate(self._value, math.sqrt(self._below), math.sqrt(self._above), freedom if self._known else 0.0)

    def mean(self) -> Estimate:
        """The weighted mean; there must be something in the sum."""
        return scaled(self.estimate(), 1 / self.weight)


def mean(parts: Iterable[Estimate]) -> Estimate:
    """The mean of independent estimates, of which there is at least one."""
    total = Sum()
    for part in parts:
        total.add(part)
    return total.mean()


def scaled(estimate: Estimate, by: float) -> Estimate:
    """`estimate` times a positive number."""
    return Estimate(estimate.value * by, estimate.below * by, estimate.above * by, estimate.freedom)


def difference(one: Estimate, other: Estimate) -> Estimate:
    """`one` - `other`, of independent responses."""
    total = Sum()
    total.add(one)
    total.add(other, -1.0)
    return total.estimate()


def student(freedom: float) -> float:
    """The 97.5 % quantile of Student's distribution."""
    return Z if math.isinf(freedom) else float(stdtrit(freedom, 0.975))
