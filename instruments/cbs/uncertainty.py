"""The Cultural Bias Score of a context, from ranks; and the uncertainty of scores and their differences.

For one context, the share of all pairs of a native entity a and a Western entity b with P(b | c) > P(a | c) (Naous et
al. 2024, section 4.2.1; Naous et al. 2025, equation 1). A pair of equal likelihood counts as not Western. Sorting both
sides gives it without looking at a pair: O((N + M) log(N + M)) for N native and M Western entities.

Contexts and entities are crossed: each context meets every native and every Western entity. The variance of a score is
the sum of the jackknife variances over contexts, native and Western entities, less their interactions, which two of
the sums include. `score_interval` makes intervals of it.

A mean over languages or genders, and a difference, is a sum of scores with weights (`combined`), one of a difference's
sides with negative ones. What a unit adds to any of them is summed before it is squared. A context's unit is the row of
the sheet that it is from, which its translations and its other phrasing share, an entity's its English form. So the
same row in four languages is one witness, and two models, a language and English, or a context with and without a
prefix are paired over all that they have in common. Grounded and neutral contexts share entities alone.

Sources: Arvesen 1969, Ann. Math. Stat. 40, 2076 (jackknifing U-statistics of several samples); Owen 2007, Ann. Appl.
Stat. 1, 386 (resampling crossed designs); Satterthwaite 1946. `tests/instruments/test_cbs_intervals.py` and
`bench/coverage.py` check by simulation with a known truth that the intervals cover it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyculture.instruments.cbs.score_interval import ComparedScores, ScoreEstimate
from polyculture.instruments.cbs.score_matrix import ScoreMatrix
from polyculture.metrics.inference.arrays import Floats
from polyculture.metrics.inference.crossed import UnitNames, gathered, skewed_variance


@dataclass(frozen=True, slots=True)
class ContextScore:
    """A context's score and the data behind it."""

    score: float
    tied: int  # pairs of equal likelihood
    won: int  # pairs in which the Western entity is the more probable
    native: int
    western: int

    @property
    def pairs(self) -> int:
        return self.native * self.western

    @property
    def ties(self) -> float:
        """The share of pairs of equal likelihood."""
        return self.tied / self.pairs


def compare(native: Floats, western: Floats) -> ContextScore | None:
    """The Cultural Bias Score of one context from the likelihoods of its entities; None if a side is empty.

    NaN stands for an entity without a likelihood; it is left out.
    """
    native, western = native[~np.isnan(native)], western[~np.isnan(western)]
    if not len(native) or not len(western):
        return None
    ordered = np.sort(native)
    below, at_most = (np.searchsorted(ordered, western, side) for side in ("left", "right"))
    won, tied = int(below.sum()), int((at_most - below).sum())
    return ContextScore(won / (len(native) * len(western)), tied, won, len(native), len(western))


def placements(native: Floats, western: Floats) -> tuple[Floats, Floats]:
    """For each native entity the share of Western ones above it, for each Western one the share of native ones below.

    NaN stays NaN. The mean of either is the Cultural Bias Score.
    """
    return _placed(-western, -native), _placed(native, western)


def _placed(others: Floats, own: Floats) -> Floats:
    """For each of `own`, the share of `others` that are less."""
    known = np.sort(others[~np.isnan(others)])
    less = np.searchsorted(known, own, "left").astype(np.float64)
    placed = less / len(known) if len(known) else np.full(len(own), np.nan)
    return np.where(np.isnan(own), np.nan, placed)


@dataclass(frozen=True, slots=True)
class EntityPlacements:
    """The placements of a matrix's entities (`placements`), in the contexts that have entities of both sides."""

    native: Floats
    western: Floats
    scores: Floats  # of each context
    contexts: UnitNames
    native_units: UnitNames
    western_units: UnitNames
    comparisons: Sequence[ContextScore]  # of each context
    names: Sequence[str]  # the ids of the contexts

    @property
    def fewest(self) -> int:
        """The entities of the side that has fewer."""
        return min(len(self.native_units), len(self.western_units))


WeightedPlacements = tuple[EntityPlacements, Floats]  # the weight of each context's score in a sum


def placed(matrix: ScoreMatrix) -> EntityPlacements | None:
    """The placements of a matrix; None where no context has entities of both sides."""
    if not len(matrix.native):
        return None
    rows = [placements(native, western) for native, western in zip(matrix.native, matrix.western, strict=True)]
    native, western = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    known = [~np.isnan(side) for side in (native, western)]
    met = known[0].any(axis=1) & known[1].any(axis=1)
    if not met.any():
        return None
    columns = [side[met].any(axis=0) for side in known]
    native, western = (side[np.ix_(met, kept)] for side, kept in zip((native, western), columns, strict=True))
    of_native, of_western = (
        matrix.units(kind)[kept] for kind, kept in zip(("native", "western"), columns, strict=True)
    )
    sides = zip(matrix.native[met], matrix.western[met], strict=True)
    comparisons = [found for one in sides if (found := compare(*one)) is not None]
    names = np.asarray(matrix.contexts if len(matrix.contexts) else [str(row) for row in range(len(met))])[met]
    scores = np.nanmean(native, axis=1)
    contexts = matrix.units("context")[met]
    return EntityPlacements(native, western, scores, contexts, of_native, of_western, comparisons, names.tolist())


def mean_of(found: EntityPlacements) -> WeightedPlacements:
    """The mean over contexts, which count alike."""
    return found, np.full(len(found.scores), 1 / len(found.scores))


def combined(terms: Sequence[WeightedPlacements]) -> ScoreEstimate:
    """The sum of the contexts' scores by their weights, of matrices that may share contexts and entities.

    The weights of a mean are positive and sum to 1, those of a difference to 0.
    """
    value = sum(float((weights * one.scores).sum()) for one, weights in terms)
    ways = [gathered([(one.contexts, _of_contexts(one, weights)) for one, weights in terms])]
    shared = 0.0
    for kind in ("native", "western"):
        cells = [(one, *_cells(getattr(one, kind), one.scores, weights)) for one, weights in terms]
        ways.append(
            gathered([(getattr(one, f"{kind}_units"), added.sum(axis=0)) for one, added, _ in cells])
        )  # fmt: skip
        shared += _interaction([(one.contexts, getattr(one, f"{kind}_units"), rest) for one, _, rest in cells])
    variance, freedom = skewed_variance(ways, shared)
    contexts = min(len(np.unique(one.contexts)) for one, _ in terms)
    if contexts > 1:
        contexts = len(np.unique(np.concatenate([one.contexts for one, _ in terms])))
    return ScoreEstimate(value, variance, freedom, contexts, min(one.fewest for one, _ in terms))


def compared(one: Sequence[WeightedPlacements], other: Sequence[WeightedPlacements]) -> ComparedScores:
    """Two sums of scores, and the first less the second, paired over the contexts and entities that both have."""
    return ComparedScores(combined(one), combined(other), difference_of(one, other))


def difference_of(one: Sequence[WeightedPlacements], other: Sequence[WeightedPlacements]) -> ScoreEstimate:
    """The first sum less the second, paired over the contexts and entities that both have."""
    return combined([*one, *((each, -weights) for each, weights in other)])


def _of_contexts(one: EntityPlacements, weights: Floats) -> Floats:
    """What each context adds to the sum: its distance from the mean of its matrix."""
    mean = float((weights * one.scores).sum() / weights.sum())
    return weights * (one.scores - mean)


def _cells(side: Floats, scores: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """What each entity adds in each context, and what of it is neither the context's nor the entity's."""
    known = ~np.isnan(side)
    distance = np.where(known, side - scores[:, None], 0.0)
    each = (weights / known.sum(axis=1))[:, None]
    rest = np.where(known, distance - distance.sum(axis=0) / np.maximum(known.sum(axis=0), 1), 0.0)
    return each * distance, each * rest


def _interaction(cells: Sequence[tuple[UnitNames, UnitNames, Floats]]) -> float:
    """The variance that the interactions of contexts and entities make, each of them summed over matrices."""
    cells = [cell for cell in cells if min(cell[2].shape) > 1]
    if not cells:
        return 0.0
    scaled = [rest * math.sqrt(rest.size / ((rest.shape[0] - 1) * (rest.shape[1] - 1))) for _, _, rest in cells]
    if len(cells) == 1:
        return float((scaled[0] ** 2).sum())
    rows, row_numbers = np.unique(np.concatenate([contexts for contexts, _, _ in cells]), return_inverse=True)
    columns, column_numbers = np.unique(np.concatenate([units for _, units, _ in cells]), return_inverse=True)
    grid = np.zeros((len(rows), len(columns)))
    row = column = 0
    for rest in scaled:
        height, width = rest.shape
        at = np.ix_(row_numbers[row : row + height], column_numbers[column : column + width])
        np.add.at(grid, at, rest)
        row, column = row + height, column + width
    return float((grid**2).sum())
