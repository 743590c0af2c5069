"""Separation of two groups of vectors: the Davies-Bouldin index, an interval, and a permutation test.

The index is the mean distance of the entities to the centre of their culture, added over both cultures, over the
distance of the centres (Davies and Bouldin 1979, IEEE PAMI 1, 224; scikit-learn's). Low: the cultures stand apart. Of
groups that are drawn from one and the same it is finite too, since chance sets the centres apart: `by_chance`, the mean
under permuted cultures, says how much, and p how often chance did as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyculture.cache.errors import MissingDependencyError
from polyculture.metrics.intervals.estimate import symmetric

PERMUTATIONS = 999
Vectors = NDArray[np.float64]
Sides = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SeparationEstimate:
    """The index of two cultures, over other entities of the kind (leaving out one at a time), and its test."""

    index: float
    low: float | None
    high: float | None
    by_chance: float
    p: float


def separation(
    vectors: Vectors, native: Sides, seed: int = 1, permutations: int = PERMUTATIONS
) -> SeparationEstimate | None:
    """The separation of native and other vectors; None with fewer than two on a side, or all in one place."""
    if min(native.sum(), (~native).sum()) < 2:
        return None
    vectors = _turned(vectors)
    index = davies_bouldin(vectors, native)
    if not math.isfinite(index):
        return None
    low, high = symmetric(index, _variance(vectors, native), float(len(native) - 2)).limits(0.0, math.inf)
    chance = np.random.default_rng(seed)
    drawn = np.array([davies_bouldin(vectors, chance.permutation(native)) for _ in range(permutations)])
    p = (1 + int((drawn <= index).sum())) / (1 + permutations)
    return SeparationEstimate(index, low, high, float(drawn.mean()), p)


def davies_bouldin(vectors: Vectors, native: Sides) -> float:
    """The index of two groups, as scikit-learn has it; infinite where their centres are one."""
    one, other = vectors[native], vectors[~native]
    centres = one.mean(axis=0), other.mean(axis=0)
    spread = np.linalg.norm(one - centres[0], axis=1).mean() + np.linalg.norm(other - centres[1], axis=1).mean()
    apart = np.linalg.norm(centres[0] - centres[1])
    return float(spread / apart) if apart > 0 else math.inf


def positions(vectors: Vectors, seed: int = 1) -> Vectors:
    """The position of each vector on a map of two dimensions (t-SNE, van der Maaten and Hinton 2008; scikit-learn's).

    Neighbours on the map were neighbours before. Distances between groups, and their sizes, have no meaning.
    """
    try:
        from sklearn.manifold import TSNE
    except ImportError as fault:
        raise MissingDependencyError("scikit-learn", "embeddings", "A map of entities") from fault
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    found: Vectors = TSNE(perplexity=perplexity, init="pca", random_state=seed).fit_transform(_turned(vectors))
    return found


def _turned(vectors: Vectors) -> Vectors:
    """The same points in no more dimensions than there are points: all distances stay."""
    if vectors.shape[1] <= vectors.shape[0]:
        return vectors
    left, sizes, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    turned: Vectors = left * sizes
    return turned


def _variance(vectors: Vectors, native: Sides) -> float:
    """The jackknife's, one entity left out at a time within its culture (Arvesen 1969)."""
    keep = np.ones(len(native), bool)
    left_out = np.empty(len(native))
    for place in range(len(native)):
        keep[place] = False
        left_out[place] = davies_bouldin(vectors[keep], native[keep])
        keep[place] = True
    sides = [left_out[native], left_out[~native]]
    return float(sum((len(side) - 1) / len(side) * ((side - side.mean()) ** 2).sum() for side in sides))
