"""Separation of two groups of vectors: the Davies-Bouldin index, an interval, and a permutation test.

The index is the mean distance of the entities to the centre of their culture, added over both cultures, over the
distance of the centres (Davies and Bouldin 1979, IEEE PAMI 1, 224; scikit-learn's). Low: the cultures stand apart. Of
groups that are drawn from one and the same it is finite too, since chance sets the centres apart: `by_chance`, the mean
under permuted cultures, says how much, and p how often chance did as well. So the index of some entities is lower than
that of all such entities would be; `Corrected` estimates the latter, and its interval holds it.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyculture.cache.errors import MissingDependencyError
from polyculture.metrics.inference.limits import symmetric

PERMUTATIONS = 999
FEWEST = 10  # entities of a culture for an interval: with fewer it holds the truth too rarely
FEW, NOT_APART = "few entities", "not apart"  # why there is no interval
_ROUNDING = 1e-9
_AT_ONCE = 1 << 24  # numbers of one intermediate result
Vectors = NDArray[np.float64]
NativeMask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Corrected:
    """The index that very many such entities would have, with its 95 % interval; None where there is too little."""

    value: float | None
    low: float | None = None
    high: float | None = None
    lacking: str | None = None  # why there is no interval


@dataclass(frozen=True, slots=True)
class SeparationEstimate:
    """The index of two cultures, that of very many such entities, and the test."""

    index: float
    corrected: Corrected
    by_chance: float
    p: float
    influences: Vectors  # of each entity on the deviation of 1 / index^2: their squares add up to its variance
    permuted: Vectors  # the index with the cultures permuted, once per permutation


@dataclass(frozen=True, slots=True)
class WeightedPart:
    """A part of a mean: the separation of a type, or of one gender of it."""

    weight: float
    entity_ids: Sequence[str]
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
    bias, influences = _jackknife(vectors, native)
    fewest = int(min(native.sum(), (~native).sum()))
    corrected = _corrected(index**-2 - bias, float((influences**2).sum()), len(native) - 2, fewest)
    return SeparationEstimate(index, corrected, float(drawn.mean()), _p(drawn, index), influences, drawn)


def mean_separation(parts: Sequence[WeightedPart]) -> SeparationEstimate:
    """The mean of some separations by their weights, with its interval by MOVER (Zou and Donner 2008).

    Parts that share entities are correlated as far as these decide them. A mean has no interval where a part has none.
    """
    index = sum(part.weight * part.found.index for part in parts)
    shuffled = (np.random.default_rng(zlib.crc32(p.kind.encode())).permutation(p.found.permuted) for p in parts)
    drawn = np.sum([part.weight * each for part, each in zip(parts, shuffled, strict=True)], axis=0)
    return SeparationEstimate(
        index, _mean_corrected(parts), float(drawn.mean()), _p(drawn, index), np.empty(0), np.asarray(drawn)
    )


def _corrected(square: float, variance: float, freedom: int, fewest: int) -> Corrected:
    """The index whose inverse square is `square`, an estimate without the part of the distance that chance sets."""
    value = square**-0.5 if square > 0 else None
    if fewest < FEWEST:
        return Corrected(value, lacking=FEW)
    low, high = symmetric(square, variance, float(freedom)).limits(-math.inf, math.inf)
    if low is None or high is None or low <= 0:
        return Corrected(value, lacking=NOT_APART)
    return Corrected(value, high**-0.5, low**-0.5)


def _mean_corrected(parts: Sequence[WeightedPart]) -> Corrected:
    reasons = [part.found.corrected.lacking for part in parts if part.found.corrected.lacking]
    each = [part.found.corrected for part in parts]
    values = [one.value for one in each if one.value is not None]
    value = (
        sum(part.weight * one for part, one in zip(parts, values, strict=True)) if len(values) == len(parts) else None
    )
    if reasons or value is None:
        return Corrected(value, lacking=reasons[0] if reasons else NOT_APART)
    correlations = np.array([[_correlation(one, other) for other in parts] for one in parts])
    below = np.array([p.weight * ((c.value or 0) - (c.low or 0)) for p, c in zip(parts, each, strict=True)])
    above = np.array([p.weight * ((c.high or 0) - (c.value or 0)) for p, c in zip(parts, each, strict=True)])
    down, up = (math.sqrt(float(side @ correlations @ side)) for side in (below, above))
    return Corrected(value, max(0.0, value - down), value + up)


def _correlation(one: WeightedPart, other: WeightedPart) -> float:
    """The correlation of two separations that share entities, never below zero."""
    if one is other:
        return 1.0
    theirs = dict(zip(other.entity_ids, other.found.influences, strict=True))
    shared = sum(float(i * theirs[e]) for e, i in zip(one.entity_ids, one.found.influences, strict=True) if e in theirs)
    sizes = [math.sqrt(float((part.found.influences**2).sum())) for part in (one, other)]
    return max(0.0, shared / (sizes[0] * sizes[1])) if all(sizes) else 0.0


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


def _jackknife(vectors: Vectors, native: NativeMask) -> tuple[float, Vectors]:
    """The bias of 1 / index^2, and what each entity adds to its deviation: within its culture (Arvesen 1969).

    Few entities set the centres apart by chance; to the square of their distance chance adds what the jackknife takes
    off. The index itself has no such simple bias, and none at all where the cultures are one.
    """
    square, bias, influences = davies_bouldin(vectors, native) ** -2, 0.0, np.empty(len(native))
    for side in (native, ~native):
        left_out = _left_out(vectors[side], vectors[~side]) ** -2
        size, mean = len(left_out), left_out.mean()
        bias += (size - 1) * (mean - square)
        influences[side] = math.sqrt((size - 1) / size) * (left_out - mean)
    return float(bias), influences


def _left_out(own: Vectors, other: Vectors) -> Vectors:
    """The index without each of `own` in turn.

    Without y, a distance from the centre c, the centre moves by -y / (n - 1); the other distances from there follow
    from scalar products, so that all n^2 of them are a product of matrices.
    """
    size, centre, opposite = len(own), own.mean(axis=0), other.mean(axis=0)
    spread = np.linalg.norm(other - opposite, axis=1).mean()
    from_centre = own - centre
    squares = (from_centre**2).sum(axis=1)
    apart = np.linalg.norm((centre - opposite) - from_centre / (size - 1), axis=1)
    sums = np.empty(size)
    step = max(1, _AT_ONCE // size)
    for start in range(0, size, step):
        rows = slice(start, start + step)
        products = from_centre[rows] @ from_centre.T
        moved = squares + 2 * products / (size - 1) + (squares[rows] / (size - 1) ** 2)[:, None]
        distances = np.sqrt(np.maximum(moved, 0.0))
        sums[rows] = distances.sum(axis=1) - distances[np.arange(len(products)), np.arange(size)[rows]]
    with np.errstate(divide="ignore"):
        found: Vectors = (sums / (size - 1) + spread) / apart
    return found


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
