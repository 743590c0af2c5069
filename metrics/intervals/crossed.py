"""The variance of a number over crossed units: every context meets many entities, every entity many contexts.

It is the sum of the jackknife variances over contexts and over the entities of each side. The interaction of contexts
with entities is subtracted, because both count it.

Sources: Owen 2007, Ann. Appl. Stat. 1, 386 (resampling crossed designs); Cameron, Gelbach and Miller 2011, J. Bus.
Econ. Stat. 29, 238 (clustering in two ways); Satterthwaite 1946.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def crossed_variance(contexts: Sequence[Numbers], entities: Sequence[Numbers], shared: float) -> tuple[float, float]:
    """The variance of a number, and its degrees of freedom (Satterthwaite); 0 degrees where the variance is unknown.

    Each array holds the influences of the units of one kind on the number, centred on zero. `shared` is the variance
    that contexts and entities both include.
    """
    parts = [_jackknife(way) for way in (*contexts, *entities)]
    if not all(freedom > 0 for _, freedom in parts):
        return max(sum(variance for variance, _ in parts) - shared, 0.0), 0.0
    total = sum(variance for variance, _ in parts)
    variance = max(total - shared, max(variance for variance, _ in parts))
    squares = sum(variance**2 / freedom for variance, freedom in parts)
    return variance, variance**2 / squares if squares > 0 else math.inf


def _jackknife(influence: Numbers) -> tuple[float, float]:
    """The variance of a sum of influences, and its degrees of freedom."""
    present = np.count_nonzero(influence) if np.any(influence) else len(influence)
    if present < 2:
        return 0.0, 0.0
    return float((influence**2).sum() * present / (present - 1)), present - 1.0
