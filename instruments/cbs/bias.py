"""The Cultural Bias Score of a context, from ranks.

For one context, the share of all pairs of a native entity a and a Western entity b with P(b | c) > P(a | c) (Naous et
al. 2024, section 4.2.1; Naous et al. 2025, equation 1). A pair of equal likelihood counts as not Western. Sorting both
sides gives it without looking at a pair: O((N + M) log(N + M)) for N native and M Western entities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ContextScore:
    """A context's score and the data behind it."""

    score: float
    tied: int  # pairs of equal likelihood
    won: int  # pairs in which the Western entity is the more probable
    native: int
    western: int

    @property
    def pairs(self) -> int:
        return self.native * self.western

    @property
    def ties(self) -> float:
        """The share of pairs of equal likelihood."""
        return self.tied / self.pairs


def compare(native: Numbers, western: Numbers) -> ContextScore | None:
    """The Cultural Bias Score of one context from the likelihoods of its entities; None if a side is empty.

    NaN stands for an entity without a likelihood; it is left out.
    """
    native, western = native[~np.isnan(native)], western[~np.isnan(western)]
    if not len(native) or not len(western):
        return None
    ordered = np.sort(native)
    below, at_most = (np.searchsorted(ordered, western, side) for side in ("left", "right"))
    won, tied = int(below.sum()), int((at_most - below).sum())
    return ContextScore(won / (len(native) * len(western)), tied, won, len(native), len(western))


def placements(native: Numbers, western: Numbers) -> tuple[Numbers, Numbers]:
    """For each native entity the share of Western ones above it, for each Western one the share of native ones below.

    NaN stays NaN. The mean of either is the Cultural Bias Score.
    """
    return _placed(-western, -native), _placed(native, western)


def _placed(others: Numbers, own: Numbers) -> Numbers:
    """For each of `own`, the share of `others` that are less."""
    known = np.sort(others[~np.isnan(others)])
    less = np.searchsorted(known, own, "left").astype(np.float64)
    placed = less / len(known) if len(known) else np.full(len(own), np.nan)
    return np.where(np.isnan(own), np.nan, placed)
