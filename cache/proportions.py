"""The uncertainty of a share of independent cases, such as the accuracy on gold data.

Source: Wilson 1927, JASA 22, 209. For cases that are not independent, see `metrics.inference`.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TypeAlias

CONFIDENCE = 0.95
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)

ShareInterval: TypeAlias = tuple[float, float] | None  # low, high; None for a share of nothing


def wilson_interval(hits: int, of: int) -> ShareInterval:
    """Wilson's score interval of `hits` / `of` at 95 %; None where `of` is 0."""
    if not of:
        return None
    middle = (hits + _Z**2 / 2) / (of + _Z**2)
    half = _Z / (of + _Z**2) * math.sqrt(hits * (1 - hits / of) + _Z**2 / 4)
    return (middle - half if hits else 0.0), (middle + half if hits < of else 1.0)
