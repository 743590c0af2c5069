"""The variance of a number over crossed units: every context meets many entities, every entity many contexts.

It is the sum of the jackknife variances over the units of each kind (`Way`), less the interaction of contexts with
entities, which both count. A unit is what is sampled: the translations of a context are one unit, and so is an entity
in its several languages. What a unit adds in each language is summed before it is squared (`gathered`).

Two counts of the degrees of freedom: `crossed_variance` takes those of normal influences, `skewed_variance` fewer where
a few units carry most of the number, as they do in shares near 0 and 1.

Sources: Owen 2007, Ann. Appl. Stat. 1, 386 (resampling crossed designs); Cameron, Gelbach and Miller 2011, J. Bus.
Econ. Stat. 29, 238 (clustering in two ways); Satterthwaite 1946; Box 1953, Biometrika 40, 318 (a variance's variance
from the kurtosis).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyculture.metrics.inference.arrays import Floats

UnitNames = NDArray[Any]  # the name or number of each unit
ROUNDING = 1e-13  # a smaller influence is rounding
# How far a variance from few units may be too low: with d degrees of freedom by this over d, of itself. By simulation.
UNDERSTATED = 5.0


@dataclass(frozen=True, slots=True)
class Way:
    """What each unit of one kind adds to a number; the squares sum to its variance over such units."""

    influences: Floats
    freedom: float  # of that variance; 0 where it is unknown

    @property
    def variance(self) -> float:
        return float((self.influences**2).sum())


def way(influences: Floats) -> Way:
    """The units of one sample, from their influences, centred on zero. One that adds nothing is as the average is."""
    size = len(influences)
    if size < 2:
        return Way(np.zeros(0), 0.0)
    return Way(np.where(np.abs(influences) < ROUNDING, 0.0, influences) * math.sqrt(size / (size - 1)), size - 1.0)


def gathered(samples: Sequence[tuple[UnitNames, Floats]]) -> Way:
    """The units of several samples, each centred on zero, that may have units in common, as languages have.

    Samples that share units lose one degree of freedom together.
    """
    distinct = [summed(units, influences) for units, influences in samples]
    if len(distinct) == 1:
        return way(distinct[0][1])
    if any(len(units) < 2 for units, _ in distinct):
        return Way(np.zeros(0), 0.0)
    scaled = [influences * math.sqrt(len(units) / (len(units) - 1)) for units, influences in distinct]
    units, added = summed(np.concatenate([units for units, _ in distinct]), np.concatenate(scaled))
    freedom = len(units) - _components([units for units, _ in distinct])
    return Way(np.where(np.abs(added) < ROUNDING, 0.0, added), float(freedom))


def summed(units: UnitNames, influences: Floats) -> tuple[UnitNames, Floats]:
    """The units, each once, and what each of them adds."""
    names, numbers = np.unique(units, return_inverse=True)
    return names, np.bincount(numbers, influences, len(names)).astype(np.float64)


def _components(samples: Sequence[UnitNames]) -> int:
    """How many groups of samples there are without a unit in common."""
    groups: list[set[int]] = []
    for units in samples:
        merged = set(units.tolist())
        apart = []
        for group in groups:
            if group.isdisjoint(merged):
                apart.append(group)
            else:
                merged |= group
        groups = [*apart, merged]
    return len(groups)


def crossed_variance(ways: Sequence[Way], shared: float) -> tuple[float, float]:
    """The variance of a number, and its degrees of freedom (Satterthwaite); 0 degrees where the variance is unknown.

    `shared` is the variance that contexts and entities both include.
    """
    parts = [(one.variance, one.freedom) for one in ways]
    variance = max(sum(part for part, _ in parts) - shared, max(part for part, _ in parts))
    if not all(freedom > 0 for _, freedom in parts):
        return max(variance, 0.0), 0.0
    return variance, satterthwaite(variance, parts)


def skewed_variance(ways: Sequence[Way], shared: float) -> tuple[float, float]:
    """The same variance, with degrees of freedom that fall with the kurtosis of each kind's influences.

    Satterthwaite's degrees take a variance from few units for one that is not too low. They are computed again with
    each variance raised by `UNDERSTATED` over its degrees; the lower ones hold. 0 where the variance is unknown,
    infinity where it is 0.
    """
    parts = [(one.variance, _discounted(one)) for one in ways]
    if not all(freedom > 0 for _, freedom in parts):
        return 0.0, 0.0
    variance = max(sum(part for part, _ in parts) - shared, max(part for part, _ in parts))
    if variance <= 0:
        return 0.0, math.inf
    raised = [(part * (1 + UNDERSTATED / freedom), freedom) for part, freedom in parts]
    beyond = sum(part * UNDERSTATED / freedom for part, freedom in parts)
    return variance, min(satterthwaite(variance, parts), satterthwaite(variance + beyond, raised))


def satterthwaite(variance: float, parts: Sequence[tuple[float, float]]) -> float:
    """The degrees of freedom of a variance, from its parts and theirs; infinite where all of theirs are."""
    squares = sum(part**2 / freedom for part, freedom in parts)
    return float(degrees_of_freedom(np.array(variance), np.array(squares)))


def degrees_of_freedom(variances: Floats, squares: Floats) -> Floats:
    """Satterthwaite's, of many variances at once: `squares` are sums over parts of the square by its degrees."""
    return np.asarray(np.divide(variances**2, squares, out=np.full(np.shape(variances), math.inf), where=squares > 0))


def weighted_variance(parts: Iterable[tuple[float, float, float]]) -> tuple[float, float]:
    """The variance of a weighted sum of independent numbers, and its degrees of freedom, from the weight, variance and
    degrees of each."""
    weighted = [(weight**2 * variance, freedom) for weight, variance, freedom in parts]
    variance = math.fsum(part for part, _ in weighted)
    return variance, satterthwaite(variance, weighted)


def _discounted(one: Way) -> float:
    """The degrees of freedom by the kurtosis; that of a normal sample leaves them as they are."""
    square, units = one.variance, one.freedom + 1
    if square <= 0 or units < 2:
        return one.freedom
    kurtosis = units * float((one.influences**4).sum()) / square**2 * (units + 1) / (units - 1)
    return min(one.freedom, 2 * units / (kurtosis - 1))
