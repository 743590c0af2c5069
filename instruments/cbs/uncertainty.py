"""The uncertainty of a Cultural Bias Score over other contexts and other entities.

Contexts and entities are crossed: each context meets every native and every Western entity. The score's variance is
the sum of the jackknife variances over contexts, native and Western entities, less their interactions, which two of
the sums include. `score_interval` makes intervals of it.

Grounded against neutral is a paired comparison over entities: a name that is always probable adds nothing to the
variance of the difference. The contexts of the two settings differ. Where the contexts are the same, too (with and
without prefix, or in two phrasings), the comparison is paired over both. A type in which nothing varies has no test of
its own; in a mean over types its difference counts, and the others' variance decides.

Sources: Arvesen 1969, Ann. Math. Stat. 40, 2076 (jackknifing U-statistics of several samples); Owen 2007, Ann. Appl.
Stat. 1, 386 (resampling crossed designs); Satterthwaite 1946. `tests/instruments/test_cbs.py` and `bench/coverage.py`
check by simulation with a known truth that the intervals cover it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from polyculture.instruments.cbs.bias import STRICT, Numbers, Ties, placements
from polyculture.instruments.cbs.score_interval import ALL_AGREE, FEW_CONTEXTS, FEW_ENTITIES, ScoreEstimate
from polyculture.metrics.intervals.crossed import ROUNDING, crossed_variance, skewed_variance
from polyculture.metrics.intervals.estimate import Estimate, Sum, Z, symmetric, wilson

Words = NDArray[np.str_]


@dataclass(frozen=True, slots=True)
class Genders:
    """'female', 'male', 'both', or '' without one: of each context and each entity of a matrix."""

    contexts: Words
    native: Words
    western: Words


@dataclass(frozen=True, slots=True)
class ScoreMatrix:
    """The likelihoods of one type's entities in the contexts of one setting: a row a context, a column an entity.

    NaN where an entity has no likelihood in a context. Columns stand in the same order for every setting.
    """

    native: Numbers
    western: Numbers
    contexts: tuple[str, ...] = ()  # the id of each row
    pairs: tuple[str, ...] = ()  # what each row's context shares with the same one in another phrasing
    native_ids: tuple[str, ...] = ()  # of each column
    western_ids: tuple[str, ...] = ()
    ties: Ties = STRICT  # how pairs of equal likelihood count
    genders: Genders | None = None
    column: str | None = None  # the gender that it is confined to

    def rows(self, numbers: Sequence[int]) -> ScoreMatrix:
        """The matrix of some of the contexts, in this order."""
        chosen = list(numbers)
        contexts, pairs = (tuple(names[n] for n in chosen) if names else () for names in (self.contexts, self.pairs))
        of = self.genders
        return replace(
            self,
            native=self.native[chosen],
            western=self.western[chosen],
            contexts=contexts,
            pairs=pairs,
            genders=None if of is None else replace(of, contexts=of.contexts[chosen]),
        )


@dataclass(frozen=True, slots=True)
class Influences:
    """The contribution of each context, native and Western entity to the mean score; each kind averages zero."""

    value: float
    contexts: Numbers
    native: Numbers
    western: Numbers
    shared: float  # variance that contexts and entities both account for
    met: NDArray[np.bool_]  # the rows that these contexts are: those with entities of both sides


@dataclass(frozen=True, slots=True)
class ScoreDifference:
    """A difference of two mean scores, with its test."""

    estimate: Estimate
    p: float | None  # two-sided; None where the variance is not known


def bias(matrix: ScoreMatrix) -> ScoreEstimate | None:
    """The mean Cultural Bias Score over a matrix's contexts; None where no context has entities of both sides.

    With fewer than three contexts, or a single entity on a side, there is a value and no interval.
    """
    found = influences(matrix)
    if found is None:
        return None
    variance, freedom = skewed_variance([found.contexts, found.native, found.western], found.shared)
    return ScoreEstimate(found.value, variance, freedom, len(found.contexts), _fewest(matrix))


def bias_of_placements(native: Numbers, western: Numbers) -> ScoreEstimate | None:
    """The same from the placements of a type's entities: a row a context, NaN where an entity has none."""
    found = _influences(native, western)
    if found is None:
        return None
    variance, freedom = skewed_variance([found.contexts, found.native, found.western], found.shared)
    fewest = min(int((~np.isnan(side)).any(axis=0).sum()) for side in (native, western))
    return ScoreEstimate(found.value, variance, freedom, len(found.contexts), fewest)


def bias_over_pairs(matrix: ScoreMatrix) -> ScoreEstimate | None:
    """The share of all pairs of all contexts: a context counts by its number of pairs. Else as `bias`."""
    found = _part(matrix, over_pairs=True)
    if found is None:
        return None
    variance, freedom = skewed_variance([found.contexts, found.native, found.western], found.shared)
    return ScoreEstimate(found.value, variance, freedom, len(found.contexts), _fewest(matrix))


def bias_over_columns(
    columns: Sequence[tuple[ScoreMatrix, float]], *, over_pairs: bool = False
) -> ScoreEstimate | None:
    """The weighted mean of the scores of matrices that may share contexts and entities, such as a type's two genders.

    What a context or an entity adds to any of them is added up before it is squared, by its id. With `over_pairs` a
    context counts by its pairs. None where no context has entities of both sides.
    """
    found = [(matrix, weight, part) for matrix, weight in columns if (part := _part(matrix, over_pairs)) is not None]
    if not found:
        return None
    whole = sum(weight for _, weight, _ in found)
    shares = [(matrix, weight / whole, part) for matrix, weight, part in found]
    ways = [
        _by_id([(_met_contexts(matrix, part), part.contexts * share) for matrix, share, part in shares]),
        _by_id([(matrix.native_ids, part.native * share) for matrix, share, part in shares]),
        _by_id([(matrix.western_ids, part.western * share) for matrix, share, part in shares]),
    ]
    value = sum(part.value * share for _, share, part in shares)
    variance, freedom = skewed_variance(ways, sum(part.shared * share**2 for _, share, part in shares))
    return ScoreEstimate(value, variance, freedom, len(ways[0]), min(_fewest(matrix) for matrix, _, _ in shares))


def _part(matrix: ScoreMatrix, over_pairs: bool) -> Influences | None:
    pairs = _present(matrix.native) * _present(matrix.western) if over_pairs else None
    return _influences(*_placements(matrix), pairs)


def _by_id(parts: Sequence[tuple[Sequence[str], Numbers]]) -> Numbers:
    added: dict[str, float] = {}
    for ids, influence in parts:
        for name, value in zip(ids, influence.tolist(), strict=True):
            added[name] = added.get(name, 0.0) + value
    return np.array(list(added.values()))


def _met_contexts(matrix: ScoreMatrix, part: Influences) -> list[str]:
    """The ids of the contexts that have entities of both sides."""
    return [name for name, there in zip(matrix.contexts, part.met.tolist(), strict=True) if there]


def _present(side: Numbers) -> Numbers:
    """The number of entities with a likelihood in each context."""
    present: Numbers = (~np.isnan(side)).sum(axis=1).astype(np.float64)
    return present


def _fewest(matrix: ScoreMatrix) -> int:
    """The number of entities with a likelihood in some context, of the side that has fewer."""
    return min(int((~np.isnan(side)).any(axis=0).sum()) for side in (matrix.native, matrix.western))


def difference(one: ScoreMatrix, other: ScoreMatrix) -> ScoreDifference | None:
    """The mean score of `one` less that of `other`, whose columns are the same entities; None where either has none."""
    left, right = influences(one), influences(other)
    if left is None or right is None:
        return None
    entities = [left.native - right.native, left.western - right.western]
    variance, freedom = crossed_variance([left.contexts, right.contexts], entities, left.shared + right.shared)
    contexts, sizes = min(len(left.contexts), len(right.contexts)), (_fewest(one), _fewest(other))
    return _tested(_estimate(left.value - right.value, variance, freedom, (contexts, min(sizes))))


def paired_difference(one: ScoreMatrix, other: ScoreMatrix) -> ScoreDifference | None:
    """The same of matrices whose rows are the same contexts, too, each asked in two ways.

    It rests on the entities that have a likelihood both ways; None where no context has some of both sides.
    """
    (native, western), (other_native, other_western) = _placements(one), _placements(other)
    found = _influences(native - other_native, western - other_western)
    if found is None:
        return None
    variance, freedom = crossed_variance([found.contexts], [found.native, found.western], found.shared)
    size = len(found.contexts), min(_fewest(one), _fewest(other))
    return _tested(_estimate(found.value, variance, freedom, size))


def difference_over_columns(
    columns: Sequence[tuple[ScoreMatrix, ScoreMatrix, float]], *, paired: bool
) -> ScoreDifference | None:
    """The weighted mean of differences that may share contexts and entities, such as those of a type's two genders.

    `paired`: the matrices of a column have the same contexts, each asked in two ways. None where no column has both.
    """
    found = [(*column, parts) for column in columns if (parts := _difference_parts(*column[:2], paired)) is not None]
    if not found:
        return None
    whole = sum(weight for _, _, weight, _ in found)
    shares = [(one, other, weight / whole, parts) for one, other, weight, parts in found]
    ways = [
        _by_id([(_met_contexts((one, other)[side], parts[side]), parts[side].contexts * share)
                for one, other, share, parts in shares])
        for side in range(len(found[0][3]))
    ]  # fmt: skip
    native = _by_id([(one.native_ids, _less(parts, "native") * share) for one, _, share, parts in shares])
    western = _by_id([(one.western_ids, _less(parts, "western") * share) for one, _, share, parts in shares])
    shared = sum(part.shared * share**2 for _, _, share, parts in shares for part in parts)
    value = sum((parts[0].value - sum(part.value for part in parts[1:])) * share for _, _, share, parts in shares)
    variance, freedom = crossed_variance(ways, [native, western], shared)
    fewest = min(_fewest(matrix) for one, other, _, _ in shares for matrix in (one, other))
    return _tested(_estimate(value, variance, freedom, (min(map(len, ways)), fewest)))


def _difference_parts(one: ScoreMatrix, other: ScoreMatrix, paired: bool) -> tuple[Influences, ...] | None:
    """The influences on a difference: those on either score, or on the difference of the same contexts."""
    if not paired:
        left, right = influences(one), influences(other)
        return None if left is None or right is None else (left, right)
    (native, western), (other_native, other_western) = _placements(one), _placements(other)
    found = _influences(native - other_native, western - other_western)
    return None if found is None else (found,)


def _less(parts: Sequence[Influences], side: str) -> Numbers:
    first: Numbers = getattr(parts[0], side)
    return first - sum(getattr(part, side) for part in parts[1:]) if len(parts) > 1 else first


def _estimate(value: float, variance: float, freedom: float, size: tuple[int, int]) -> Estimate:
    """A difference with its variance; `size` is the number of contexts and of the scarcer side's entities.

    Where nothing varies and both scores are the same, nothing is known but that; the variance is 0. Where nothing
    varies and the scores differ, it is that of two scores in which all agree.
    """
    if size[0] < 2 or size[1] < 2 or freedom <= 0:
        return replace(symmetric(value, 0.0, 0), lacking=FEW_CONTEXTS if size[0] < 2 else FEW_ENTITIES)
    if variance > 0:
        return symmetric(value, variance, freedom)
    if abs(value) < ROUNDING:
        return replace(symmetric(0.0, 0.0, math.inf), lacking=ALL_AGREE)
    units = min(size)
    return symmetric(value, 2 * (wilson(0.0, units, units - 1).distances(Z)[1] / Z) ** 2, units - 1)


def mean_difference(parts: Sequence[tuple[ScoreDifference, int]]) -> ScoreDifference:
    """The weighted mean of differences that rest on other contexts and other entities, of which there is one.

    A type in which nothing varies leaves it to the others whether there is a test, and which.
    """
    total = Sum()
    for part, weight in parts:
        total.add(replace(part.estimate, lacking=None), weight)
    mean = total.mean()
    few = [part.estimate.lacking for part, _ in parts if part.estimate.lacking not in (None, ALL_AGREE)]
    if few:
        return _tested(replace(mean, lacking=few[0]))
    return _tested(replace(mean, lacking=ALL_AGREE) if mean.variance <= 0 else mean)


def _tested(estimate: Estimate) -> ScoreDifference:
    """An estimate whose limits are symmetric, with the p-value that it is 0."""
    if estimate.lacking:
        return ScoreDifference(estimate, None)
    deviation = math.sqrt(estimate.variance)
    return ScoreDifference(estimate, float(2 * stdtr(estimate.freedom, -abs(estimate.value) / deviation)))


def influences(matrix: ScoreMatrix) -> Influences | None:
    """The mean score of a matrix and the contribution of each of its parts."""
    return _influences(*_placements(matrix))


def _placements(matrix: ScoreMatrix) -> tuple[Numbers, Numbers]:
    sides = zip(matrix.native, matrix.western, strict=True)
    rows = [placements(native, western, matrix.ties) for native, western in sides]
    return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])


def _influences(native: Numbers, western: Numbers, pairs: Numbers | None = None) -> Influences | None:
    """The mean of placements, or of their differences, and the contribution of each context and entity.

    With `pairs`, the number of each context, contexts count by it; else alike.
    """
    if not len(native):
        return None
    met = np.array((_present(native) > 0) & (_present(western) > 0))
    if not met.any():
        return None
    native, western = native[met], western[met]
    scores = np.nanmean(native, axis=1)
    # Relative to the mean weight: 1 for all where contexts count alike.
    weights = np.ones(len(scores)) if pairs is None else pairs[met] / pairs[met].mean()
    value = float((weights * scores).mean())
    sides = [side - scores[:, None] for side in (native, western)]
    of_native, of_western = (_entity_influence(side, weights) for side in sides)
    shared = sum(_shared(side, weights) for side in sides)
    return Influences(value, weights * (scores - value) / len(scores), of_native, of_western, shared, met)


def _entity_influence(deviations: Numbers, weights: Numbers) -> Numbers:
    """The contribution of each entity to the mean over contexts of each context's mean over entities."""
    counts = (~np.isnan(deviations)).sum(axis=1, keepdims=True)
    added: Numbers = np.nansum(weights[:, None] * deviations / counts, axis=0) / len(deviations)
    return added


def _shared(deviations: Numbers, weights: Numbers) -> float:
    """The variance of the mean score that the interaction of contexts and entities makes: it falls with both."""
    contexts, entities = deviations.shape
    if contexts < 2 or entities < 2:
        return 0.0
    known = ~np.isnan(deviations)
    filled = np.where(known, deviations, 0.0)
    per_entity = filled.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    residual = np.where(known, deviations - per_entity, 0.0)
    freedom = (contexts - 1) * (entities - 1) * known.mean()
    return float((residual**2).sum() / freedom / known.sum() * (weights**2).mean())
