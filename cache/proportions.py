"""The uncertainty of a share of independent cases, such as the accuracy on gold data.

Source: Wilson 1927, JASA 22, 209. For cases that are not independent, see `metrics.intervals`.
"""

from __future__ import annotations

from typing import TypeAlias

from scipy.stats import binomtest

CONFIDENCE = 0.95

ShareInterval: TypeAlias = tuple[float, float] | None  # low, high; None for a share of nothing


def wilson_interval(hits: int, of: int) -> ShareInterval:
    """Wilson's score interval of `hits` / `of` at 95 %; None where `of` is 0."""
    if not of:
        return None
    bounds = binomtest(hits, of).proportion_ci(CONFIDENCE, method="wilson")
    return float(bounds.low), float(bounds.high)
