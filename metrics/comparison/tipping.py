"""The tipping point of a difference: the share of what is not linked that, linked against it, would turn it.

Both sides lose at once: of the side that is higher, mentions are linked to what lowers its number, of the other one to
what raises it. The label of an unlinked mention is known, so that granularity falls by general mentions alone. What
is linked to an item that is there already changes no count; in a consensus each surface may be an item of the other
language, or of neither.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from polyculture.metrics.declared import METRICS, Metric, Statistic
from polyculture.metrics.inference.arrays import Floats

_HALVINGS = 30
_LEAST = 1e-9  # of a denominator


def tipping_point(metric: str, parts: Floats, doubts: Floats, signed: Floats) -> float | None:
    """The share at which the difference is 0; None where no share turns it, or the metric has no bound.

    `parts` and `doubts` are those of `MetricColumns`; `signed` are the weights of the columns in the difference, a - b.
    """
    moved = moves_of(METRICS[metric])
    if moved is None:
        return None
    sides = [np.flatnonzero(signed > 0), np.flatnonzero(signed < 0)]
    own = [(parts[:, at], doubts[:, at], signed[at]) for at in sides]

    def difference(share: float, sign: int) -> float:
        """With the higher side lowered, and the lower one raised."""
        moves = (-sign, sign)
        values = (moved(part, doubt * share, up) for (part, doubt, _), up in zip(own, moves, strict=True))
        return sign * math.fsum(float((weight * found).sum()) for (*_, weight), found in zip(own, values, strict=True))

    now = difference(0.0, 1)
    sign = 1 if now > 0 else -1
    if abs(now) < _LEAST or difference(1.0, sign) > 0:
        return None
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if difference(middle, sign) > 0 else (low, middle)
    return high


def _share(top: Floats, bottom: Floats, counts: Floats, rest: Floats, up: int) -> Floats:
    """A share with more mentions: those that count (up), or those that do not (down)."""
    top, bottom = (top + counts, bottom + counts) if up > 0 else (top, bottom + rest)
    return np.divide(top, bottom, out=np.zeros(len(top)), where=bottom > 0)


def _label_share(parts: Floats, doubts: Floats, up: int) -> Floats:
    return _share(parts[0], parts[1], doubts[1], doubts[0] - doubts[1], up)


def _any_share(parts: Floats, doubts: Floats, up: int) -> Floats:
    return _share(parts[0], parts[1], doubts[0], doubts[0], up)


def _gain(parts: Floats, doubts: Floats, up: int) -> Floats:
    own = _share(parts[0], parts[1], doubts[0], doubts[0], up)
    return np.asarray(own - _share(parts[2], parts[3], doubts[3], doubts[3], -up))


def _diversity(parts: Floats, doubts: Floats, up: int) -> Floats:
    return np.asarray(parts[0] + doubts[2] * (up > 0))


def _consensus(parts: Floats, doubts: Floats, up: int) -> Floats:
    shared, either = parts
    surfaces = doubts[2] + doubts[5]
    if up > 0:
        return np.asarray(np.minimum(shared + surfaces, either) / np.maximum(either, _LEAST))
    return np.asarray(shared / np.maximum(either + surfaces, _LEAST))


def moves_of(metric: Metric) -> Callable[[Floats, Floats, int], Floats] | None:
    """How a metric moves with what is unlinked: up (1), or down (-1)."""
    if metric.statistic is Statistic.SHARE:
        return _label_share if metric.labels_known else _any_share
    return _OTHERS.get(metric.statistic)


_OTHERS: Mapping[Statistic, Callable[[Floats, Floats, int], Floats]] = {
    Statistic.GAIN: _gain,
    Statistic.DISTINCT: _diversity,
    Statistic.OVERLAP: _consensus,
}
