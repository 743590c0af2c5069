"""Spearman's correlation of two numbers over the same units, with an interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FEWEST = 10  # pairs for an interval


@dataclass(frozen=True, slots=True)
class Correlation:
    """How one number follows another over units, such as stereotypes or countries."""

    spearman: float | None  # None where one side does not vary, or there are fewer than three
    low: float | None  # of the 95 % interval
    high: float | None
    p: float | None
    pairs: int


def correlation(one: Sequence[float], other: Sequence[float]) -> Correlation:
    """Spearman's correlation of two numbers, a pair per unit.

    The interval is that of Fisher's transform with the variance of Bonett and Wright (2000, Psychometrika 65, 23),
    (1 + r^2 / 2) / (n - 3); with fewer than `FEWEST` pairs there is none.
    """
    from scipy import stats

    x, y = np.asarray(one, np.float64), np.asarray(other, np.float64)
    if len(x) < 3 or not np.ptp(x) or not np.ptp(y):
        return Correlation(None, None, None, None, len(x))
    found = stats.spearmanr(x, y)
    r = float(found.statistic)
    if len(x) < FEWEST or abs(r) >= 1:
        return Correlation(r, None, None, float(found.pvalue), len(x))
    far = 1.959963984540054 * np.sqrt((1 + r**2 / 2) / (len(x) - 3))
    low, high = np.tanh(np.arctanh(r) + np.array([-far, far]))
    return Correlation(r, float(low), float(high), float(found.pvalue), len(x))
