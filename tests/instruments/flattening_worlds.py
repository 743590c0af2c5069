"""Worlds in which the flattening score of each pair is known from many studies: the probes of `arm_worlds.py` alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyculture.instruments.probe.flattening import Limits, flattening, judge
from tests.instruments.arm_worlds import ArmWorld

Numbers = NDArray[np.float64]


def _world(apart: float, leaning: float, questions: int, items: int = 60, layers: int = 1) -> ArmWorld:
    return ArmWorld(apart, leaning, "noise", questions, items=items, arm_items=1, layers=layers)


SIZES = (12, 25, 60, 200)
WORLDS: Mapping[str, ArmWorld] = {
    **{f"equal cultures; {size}": _world(0, 0, size) for size in SIZES},
    **{f"one leans by half; {size}": _world(1, 0.5, size) for size in SIZES},
    **{f"nobody leans; {size}": _world(1, 0, size) for size in (12, 60)},
    "equal cultures, items at six layers; 60": _world(0, 0, 60, layers=6),
    "one leans by half, items at six layers; 60": _world(1, 0.5, 60, layers=6),
    "equal cultures, 2,000 items; 60": _world(0, 0, 60, items=2_000),
    "one leans by half, 2,000 items; 12": _world(1, 0.5, 12, items=2_000),
    "one leans by half, 2,000 items; 60": _world(1, 0.5, 60, items=2_000),
}


@dataclass(frozen=True, slots=True)
class Held:
    """Of the intervals of F and of its share over all pairs: the shares that hold the truth, and those withheld."""

    covered: Numbers
    withheld: Numbers


def tried(world: ArmWorld, count: int, resamples: int = 99, worlds: int = 4) -> Held:
    """Studies of some worlds of a kind. The truth of a pair is its mean over many other studies of its world."""
    pairs = ~np.eye(world.cultures, dtype=bool)
    held = []
    for number in range(worlds):
        study = world.draw(np.random.default_rng([33, number]))
        others = [flattening(study()[0].counted()) for _ in range(min(200, 20 * count))]
        score = np.mean([one.score[pairs] for one in others], axis=0)
        share = np.nanmean([one.share[pairs] for one in others], axis=0)
        for seed in range(max(1, count // worlds)):
            found = judge(study()[0], resamples=resamples, seed=seed)
            held.append([_holds(found.score_interval, score, pairs), _holds(found.share_interval, share, pairs)])
    of_pairs = np.array(held)  # [studies, 2, pairs]
    told = (~np.isnan(of_pairs)).sum(axis=(0, 2))
    covered = np.divide(np.nansum(of_pairs, axis=(0, 2)), told, out=np.full(2, np.nan), where=told > 0)
    return Held(covered, np.isnan(of_pairs).mean(axis=(0, 2)))


def _holds(limits: Limits, truth: Numbers, pairs: NDArray[np.bool_]) -> Numbers:
    low, high = limits.low[pairs], limits.high[pairs]
    return np.where(np.isnan(low), np.nan, (low <= truth) & (truth <= high))
