"""The effect of a paired comparison: a mean difference over blocks, its interval and its p-value.

A block holds the pairs that share prompts, and blocks are the sampled units. Seven models that answered the same
prompts are seven pairs of one block, not seven observations. The effect of a block is the mean over its pairs; the
effect of the comparison is the mean over blocks, each of which counts once, however many pairs it has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from polyculture.metrics.comparison.block_mean import BlockMean, Numbers, block_mean
from polyculture.metrics.comparison.wording_mean import WordingMean
from polyculture.metrics.intervals.wordings import FEWEST_WORDINGS

FEWEST_BLOCKS = 18  # with fewer, intervals of skewed effects cover too little: `bench/coverage.py`
FEW_BLOCKS = "few blocks"
NO_SPREAD = "no spread"
LEVEL = 0.95  # of the interval that stands beside p
MeanOf = Callable[[Numbers, float], WordingMean | None]


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a paired comparison. It has a p-value if and only if it has an interval."""

    a: float  # mean over blocks of the mean over pairs
    b: float
    difference: float  # a - b
    low: float | None  # 95 % interval of the difference
    high: float | None
    p: float | None  # two-sided, of no difference; below 0.05 where the interval leaves out 0
    pairs: int
    blocks: int
    no_interval: str | None = None  # why there is none: `FEW_BLOCKS`, or `NO_SPREAD` where all blocks are equal
    p_beyond: float | None = None  # of a difference of the margin or more; below 0.05 where the interval is within it
    p_at: tuple[tuple[float, float], ...] = ()  # differences that were asked about, each with its two-sided p
    mean: BlockMean | WordingMean | None = field(default=None, compare=False, repr=False)  # what has the interval and p
    farthest: float = field(default=math.inf, compare=False, repr=False)  # no limit is beyond it

    def at(self, level: float) -> tuple[float, float] | None:
        """The interval of another level, by the same method; None where there is none."""
        if self.mean is None:
            return None
        low, high = self.mean.interval(level)
        return max(-self.farthest, low), min(self.farthest, high)


def paired_effect(
    a: Numbers,
    b: Numbers,
    block: NDArray[np.int64],
    farthest: float = math.inf,
    margin: float | None = None,
    mean_of: MeanOf | None = None,
    points: Sequence[float] = (),
) -> Effect | None:
    """The effect over pairs (a[i], b[i]); `block[i]` numbers the block of pair i, from 0. None where there is no pair.

    No difference is beyond -`farthest` or `farthest`, and so are no limits. With a `margin`: is the difference smaller?
    `mean_of` is what knows the mean of blocks that are wordings, of which fewer are enough. `points`: differences that
    are tested, too.
    """
    if not len(a):
        return None
    of_a, of_b, differences = (mean_by_block(values, block) for values in (a, b, a - b))
    blocks = len(differences)
    fewest, mean = (FEWEST_BLOCKS, block_mean) if mean_of is None else (FEWEST_WORDINGS, mean_of)
    found: BlockMean | WordingMean | None = None
    if blocks >= fewest:
        found = mean(differences, float(max(np.abs(a).max(), np.abs(b).max())))
    effect = Effect(
        a=math.fsum(of_a) / blocks,
        b=math.fsum(of_b) / blocks,
        difference=math.fsum(differences) / blocks,
        low=None,
        high=None,
        p=found.p() if found else None,
        pairs=len(a),
        blocks=blocks,
        no_interval=None if found else FEW_BLOCKS if blocks < fewest else NO_SPREAD,
        p_beyond=found.p_beyond(margin) if found and margin is not None else None,
        p_at=tuple((point, found.p(point)) for point in points) if found else (),
        mean=found,
        farthest=farthest,
    )
    low, high = effect.at(LEVEL) or (None, None)
    return replace(effect, low=low, high=high)


def mean_by_block(values: Numbers, block: NDArray[np.int64]) -> Numbers:
    """The mean of the values of each block, in the order of the blocks' numbers."""
    return np.asarray(np.bincount(block, weights=values) / np.bincount(block), dtype=np.float64)


def adjusted(p_values: list[float | None]) -> list[float | None]:
    """Benjamini and Hochberg's q of each p-value over the family that is given; a missing one stays missing."""
    known = [p for p in p_values if p is not None]
    q_values = iter(stats.false_discovery_control(known).tolist() if known else [])
    return [None if p is None else float(next(q_values)) for p in p_values]
