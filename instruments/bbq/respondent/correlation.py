"""How far the shares of one side follow those of another, with an interval over stereotypes.

The correlation is Spearman's over groups, in which every stereotype weighs alike however many groups it was asked of.
A stereotype's groups are one witness: it is left out as a whole (jackknife on Fisher's scale, Student's quantile).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Numbers = NDArray[np.float64]
FEWEST = 10  # stereotypes for an interval
FEW, CONSTANT = "few stereotypes", "does not vary"


@dataclass(frozen=True, slots=True)
class Measured:
    """A number with its 95 % interval over stereotypes."""

    estimate: float | None
    low: float | None = None
    high: float | None = None
    lacking: str | None = None


def rank_correlation(pairs: Sequence[Numbers]) -> Measured:
    """Spearman's correlation; each of `pairs` is a stereotype's groups, as rows of two shares."""
    whole = spearman(pairs)
    if whole is None:
        return Measured(None, lacking=CONSTANT)
    size = len(pairs)
    if size < FEWEST or abs(whole) >= 1:
        return Measured(whole, lacking=FEW if size < FEWEST else CONSTANT)
    without = [spearman([*pairs[:place], *pairs[place + 1 :]]) for place in range(size)]
    if any(one is None or abs(one) >= 1 for one in without):
        return Measured(whole, lacking=FEW)
    turned = np.arctanh(np.array(without, np.float64))
    error = float(np.sqrt((size - 1) / size * ((turned - turned.mean()) ** 2).sum()))
    far = float(stats.t.ppf(0.975, size - 1)) * error
    low, high = np.tanh(np.arctanh(whole) + np.array([-far, far]))
    return Measured(whole, float(low), float(high))


def spearman(pairs: Sequence[Numbers]) -> float | None:
    """The correlation alone; None where one side does not vary, or there is nothing."""
    if not pairs:
        return None
    both = np.concatenate(pairs)
    weights = np.concatenate([np.full(len(one), 1 / len(one)) for one in pairs])
    ranks = np.stack([stats.rankdata(side) for side in both.T])
    centred = ranks - np.average(ranks, axis=1, weights=weights)[:, np.newaxis]
    (one, shared), (_, other) = (weights * centred) @ centred.T
    if one <= 0 or other <= 0:
        return None
    return float(np.clip(shared / np.sqrt(one * other), -1, 1))


def mean(values: Numbers, lowest: float) -> Measured:
    """The mean over stereotypes; `lowest` and 1 are its ends."""
    size = len(values)
    if not size:
        return Measured(None, lacking=FEW)
    value = float(values.mean())
    if size < FEWEST:
        return Measured(value, lacking=FEW)
    error = float(values.std(ddof=1) / np.sqrt(size))
    if not error:
        return Measured(value, lacking=CONSTANT)
    far = float(stats.t.ppf(0.975, size - 1)) * error
    return Measured(value, max(lowest, value - far), min(1.0, value + far))
