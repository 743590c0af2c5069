"""The effect of a paired comparison: a mean difference, its interval, and its p-value by permutation.

Pairs that share responses stand in one block, and blocks are what is resampled: to treat the 19 countries of one set of
neutral responses as 19 observations would claim certainty that is not there.

Sources: sign permutation of paired differences, Fisher 1935, The Design of Experiments, §21; the standard error of a
ratio over clusters, Cochran 1977, Sampling Techniques, §11.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Numbers = NDArray[np.float64]
PERMUTATIONS = 9_999  # where all sign changes are fewer, all are taken, and the p-value is exact
LEVEL = 0.95
_BATCH = 1_000  # sign changes that are tried at once


@dataclass(frozen=True, slots=True)
class Effect:
    """What a paired comparison found. Numbers that too few blocks allow are None."""

    a: float  # mean over pairs
    b: float
    difference: float  # a - b
    low: float | None  # 95 % interval of the difference
    high: float | None
    p: float | None  # two-sided, by changing the signs of blocks
    pairs: int
    blocks: int


def paired_effect(
    a: Numbers, b: Numbers, block: NDArray[np.int64], seed: int = 1, farthest: float = math.inf
) -> Effect | None:
    """The effect over pairs (a[i], b[i]); `block[i]` numbers the block of pair i, from 0. None where there is no pair.

    The interval is Student's, with the standard error over blocks and one degree of freedom less than blocks; no
    difference is beyond -`farthest` or `farthest`, and so are no limits. The p-value is the share of sign changes of
    whole blocks under which the mean difference is as far from 0 as it is.
    """
    if not len(a):
        return None
    sums = np.asarray(np.bincount(block, weights=a - b), dtype=np.float64)
    sizes = np.bincount(block).astype(float)
    difference = float(sums.sum() / sizes.sum())
    low, high = (limit and max(-farthest, min(limit, farthest)) for limit in _interval(sums, sizes, difference))
    return Effect(
        a=float(a.mean()),
        b=float(b.mean()),
        difference=difference,
        low=low,
        high=high,
        p=_p_value(sums, seed),
        pairs=len(a),
        blocks=len(sums),
    )


def adjusted(p_values: list[float | None]) -> list[float | None]:
    """Benjamini and Hochberg's q of each p-value over the family that is given; a missing one stays missing."""
    known = [p for p in p_values if p is not None]
    q_values = iter(stats.false_discovery_control(known).tolist() if known else [])
    return [None if p is None else float(next(q_values)) for p in p_values]


def _interval(sums: Numbers, sizes: Numbers, difference: float) -> tuple[float | None, float | None]:
    blocks = len(sums)
    if blocks < 2:
        return None, None
    squares = float(((sums - sizes * difference) ** 2).sum())
    error = math.sqrt(blocks / (blocks - 1) * squares) / float(sizes.sum())
    reach = float(stats.t.ppf((1 + LEVEL) / 2, blocks - 1)) * error
    return difference - reach, difference + reach


def _p_value(sums: Numbers, seed: int) -> float | None:
    if len(sums) < 2:
        return None
    total, slack = float(sums.sum()), 1e-13 * float(np.abs(sums).sum())  # the last digits depend on the order of adding
    arranged = np.concatenate([total - 2 * (turned @ sums) for turned in _turned(len(sums), seed)])
    tail = min(np.count_nonzero(arranged >= total - slack), np.count_nonzero(arranged <= total + slack))
    return min(1.0, 2 * tail / len(arranged))


def _turned(blocks: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    """Rows that say which blocks have their signs changed: every way to do so; or what is, and many drawn by chance."""
    if 2**blocks <= PERMUTATIONS:
        yield (np.arange(2**blocks)[:, None] >> np.arange(blocks)) % 2 == 1
        return
    generator = np.random.default_rng(seed)
    yield np.zeros((1, blocks), dtype=bool)
    for first in range(0, PERMUTATIONS, _BATCH):
        yield generator.integers(0, 2, (min(_BATCH, PERMUTATIONS - first), blocks), dtype=np.bool_)
