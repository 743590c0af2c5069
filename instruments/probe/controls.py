"""F of a control beside that of the probe itself, and F of some pairs of cultures beside that of others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from polyculture.instruments.probe.flattening import Counts, Numbers, Occurrences, flattening
from polyculture.instruments.probe.halves import Limited, limited, to_level, whole_halves

Pairs = NDArray[np.bool_]  # which ordered pairs of cultures, [t, s]
Sides = tuple[float, float, Limited]  # two numbers, and their difference


def beside(probe: Counts, arm: Counts) -> Numbers:
    """F and its share of g of the probe and of an arm, as means over the ordered pairs: [2 numbers, 2 sides].

    g are [items, cultures] of the same cultures. A share is nan where nothing is particular to a culture.
    """
    pairs = ~np.eye(probe.shape[1], dtype=bool)
    both = [flattening(one) for one in (probe, arm)]
    return np.array([[_mean(getattr(one, name)[pairs]) for one in both] for name in ("score", "share")])


def compared(probe: Occurrences, arm: Occurrences, questions: int, resamples: int, seed: int) -> tuple[Sides, Sides]:
    """F and its share of both, and the limits of the differences from the same halves of the questions."""
    found = beside(probe.counted(), arm.counted())
    apart = found[:, 0] - found[:, 1]
    halved = whole_halves([probe, arm], questions, resamples, np.random.default_rng(seed))
    if isinstance(halved, str):
        limits = [Limited(float(one), lacking=halved) for one in apart]
    else:
        drawn = np.array([beside(one, other) for one, other in halved])
        # F of each side is brought to its level of all questions.
        own, other = (to_level(found[0, side : side + 1], drawn[:, 0, side]) for side in (0, 1))
        drawn[:, 0] *= own, other
        limits = limited(apart, drawn[..., 0] - drawn[..., 1], questions)
    score, share = ((float(one), float(other), each) for (one, other), each in zip(found, limits, strict=True))
    return score, share


def groups_of_pairs(
    data: Occurrences,
    groups: Mapping[str, tuple[Pairs, Pairs]],
    questions: int,
    resamples: int,
    seed: int,
) -> dict[str, Sides]:
    """The mean F of some pairs, that of others, and their difference, for each of `groups`."""
    found = flattening(data.counted()).score
    sides = {name: tuple(_mean(found[some]) for some in both) for name, both in groups.items()}
    apart = np.array([one - other for one, other in sides.values()])
    halved = whole_halves([data], questions, resamples, np.random.default_rng(seed))
    if isinstance(halved, str):
        limits = [Limited(float(one), lacking=halved) for one in apart]
    else:
        drawn = [flattening(counts).score for (counts,) in halved]
        pairs = ~np.eye(data.cultures, dtype=bool)
        level = to_level(found[pairs], np.array([one[pairs] for one in drawn]))
        of_halves = [[_mean(one[a]) - _mean(one[b]) for a, b in groups.values()] for one in drawn]
        limits = limited(apart, level * np.array(of_halves), questions)
    return {name: (*sides[name], one) for name, one in zip(groups, limits, strict=True)}  # type: ignore[misc]


def _mean(values: Numbers) -> float:
    return float(np.nanmean(values)) if not np.isnan(values).all() else float("nan")
