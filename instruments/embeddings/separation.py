"""Separation of two groups of vectors: the Davies-Bouldin index, and a permutation test.

The index is the mean distance of the entities to the centre of their culture, added over both cultures, over the
distance of the centres (Davies and Bouldin 1979, IEEE PAMI 1, 224; scikit-learn's). Low: the cultures stand apart. Of
groups that are drawn from one and the same it is finite too, since chance sets the centres apart: `by_chance`, the mean
under permuted cultures, says how much, and p how often chance did as well. So the index of few entities is lower than
that of many: compare it with `by_chance`, and indices of as many entities with one another.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyculture.cache.errors import MissingDependencyError

PERMUTATIONS = 999
_ROUNDING = 1e-9
_AT_ONCE = 1 << 24  # numbers of one intermediate result
Vectors = NDArray[np.float64]
NativeMask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SeparationEstimate:
    """The index of two cultures, and the test."""

    index: float
    by_chance: float
    p: float
    permuted: Vectors  # the index with the cultures permuted, once per permutation


@dataclass(frozen=True, slots=True)
class WeightedPart:
    """A part of a mean: the separation of a type, or of one gender of it."""

    weight: float
    found: SeparationEstimate
    kind: str  # the type: permutations of one are paired at random with those of others


def separation(
    vectors: Vectors,
    native: NativeMask,
    seed: int = 1,
    permutations: int = PERMUTATIONS,
    labels: NativeMask | None = None,
) -> SeparationEstimate | None:
    """The separation of native and other vectors; None with fewer than two on a side, or all in one place.

    `labels` are the permuted sides, a row each, where others share them; else they are drawn.
    """
    if min(native.sum(), (~native).sum()) < 2:
        return None
    vectors = _turned(vectors - vectors.mean(axis=0))
    index = davies_bouldin(vectors, native)
    if not math.isfinite(index):
        return None
    if labels is None:
        labels = permuted_sides(native, [""] * len(native), seed, permutations)
    drawn = _indices(vectors, labels)
    return SeparationEstimate(index, float(drawn.mean()), _p(drawn, index), drawn)


def mean_separation(parts: Sequence[WeightedPart]) -> SeparationEstimate:
    """The mean of some separations by their weights."""
    index = sum(part.weight * part.found.index for part in parts)
    shuffled = (np.random.default_rng(zlib.crc32(p.kind.encode())).permutation(p.found.permuted) for p in parts)
    drawn = np.sum([part.weight * each for part, each in zip(parts, shuffled, strict=True)], axis=0)
    return SeparationEstimate(index, float(drawn.mean()), _p(drawn, index), np.asarray(drawn))


def permuted_sides(
    native: NativeMask, strata: Sequence[object], seed: int, permutations: int = PERMUTATIONS
) -> NativeMask:
    """The sides permuted within strata, a row per permutation: each stratum keeps its numbers of both sides."""
    chance = np.random.default_rng(seed)
    found = np.empty((permutations, len(native)), bool)
    places: dict[object, list[int]] = {}
    for place, stratum in enumerate(strata):
        places.setdefault(stratum, []).append(place)
    for of_stratum in places.values():
        sides = native[of_stratum]
        found[:, of_stratum] = np.array([chance.permutation(sides) for _ in range(permutations)])
    return found


def davies_bouldin(vectors: Vectors, native: NativeMask) -> float:
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
        from threadpoolctl import threadpool_limits
    except ImportError as fault:
        raise MissingDependencyError("scikit-learn", "embeddings", "A map of entities") from fault
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    with threadpool_limits(1):  # threads that wait for one another on busy cores take many times as long
        found: Vectors = TSNE(perplexity=perplexity, init="pca", random_state=seed).fit_transform(_turned(vectors))
    return found


def _p(drawn: Vectors, index: float) -> float:
    """The share of permutations with as low an index: one that leaves all as it is may differ by rounding."""
    return (1 + int((drawn <= index * (1 + _ROUNDING)).sum())) / (1 + len(drawn))


def _turned(vectors: Vectors) -> Vectors:
    """The same points in no more dimensions than there are points: all distances stay."""
    if vectors.shape[1] <= vectors.shape[0]:
        return vectors
    left, sizes, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    turned: Vectors = left * sizes
    return turned


def _indices(vectors: Vectors, labels: NativeMask) -> Vectors:
    """The index under each row of labels."""
    squares = (vectors**2).sum(axis=1)
    found = np.empty(len(labels))
    step = max(1, _AT_ONCE // max(vectors.shape))
    for start in range(0, len(labels), step):
        one = labels[start : start + step].astype(np.float64)
        spread, centres = np.zeros(len(one)), []
        for side in (one, 1 - one):
            sizes = side.sum(axis=1)
            centre = side @ vectors / sizes[:, None]
            moved = squares - 2 * (centre @ vectors.T) + (centre**2).sum(axis=1)[:, None]
            spread += (side * np.sqrt(np.maximum(moved, 0.0))).sum(axis=1) / sizes
            centres.append(centre)
        with np.errstate(divide="ignore"):
            found[start : start + step] = spread / np.linalg.norm(centres[0] - centres[1], axis=1)
    return found
