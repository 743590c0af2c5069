"""The uncertainty of Cultural Bias Scores, and of their differences, over other contexts and other entities.

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
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from polyculture.instruments.cbs.bias import Numbers, placements
from polyculture.instruments.cbs.score_interval import ComparedScores, ScoreEstimate
from polyculture.metrics.inference.crossed import Units, gathered, skewed_variance

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

    NaN where an entity has no likelihood in a context. Ids and units may be left out where nothing is compared.
    """

    native: Numbers
    western: Numbers
    contexts: Units | Sequence[str] = ()  # the id of each row
    context_units: Units | Sequence[str] = ()  # the sheet's row of each, which translations and phrasings share
    native_ids: Units | Sequence[str] = ()  # of each column
    western_ids: Units | Sequence[str] = ()
    native_units: Units | Sequence[str] = ()  # the English form of each, which languages share
    western_units: Units | Sequence[str] = ()
    genders: Genders | None = None
    column: str | None = None  # the gender that it is confined to

    def units(self, kind: str) -> Units:
        """The units of 'context', 'native' or 'western': the ids where it has none, the numbers where it has no ids."""
        ids = self.contexts if kind == "context" else getattr(self, f"{kind}_ids")
        size = self.native.shape[0] if kind == "context" else getattr(self, kind).shape[1]
        named = getattr(self, f"{kind}_units")
        return np.asarray(named if len(named) else ids if len(ids) else range(size))


@dataclass(frozen=True, slots=True)
class Placed:
    """The placements of a matrix's entities (`bias.placements`), in the contexts that have entities of both sides."""

    native: Numbers
    western: Numbers
    scores: Numbers  # of each context
    contexts: Units
    native_units: Units
    western_units: Units

    @property
    def fewest(self) -> int:
        """The entities of the side that has fewer."""
        return min(len(self.native_units), len(self.western_units))


Term = tuple[Placed, Numbers]  # the weight of each context's score in a sum


def placed(matrix: ScoreMatrix) -> Placed | None:
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
    units = (matrix.units(kind)[kept] for kind, kept in zip(("native", "western"), columns, strict=True))
    return Placed(native, western, np.nanmean(native, axis=1), matrix.units("context")[met], *units)


def mean_of(found: Placed) -> Term:
    """The mean over contexts, which count alike."""
    return found, np.full(len(found.scores), 1 / len(found.scores))


def combined(terms: Sequence[Term]) -> ScoreEstimate:
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


def compared(one: Sequence[Term], other: Sequence[Term]) -> ComparedScores:
    """Two sums of scores, and the first less the second, paired over the contexts and entities that both have."""
    return ComparedScores(combined(one), combined(other), difference_of(one, other))


def difference_of(one: Sequence[Term], other: Sequence[Term]) -> ScoreEstimate:
    """The first sum less the second, paired over the contexts and entities that both have."""
    return combined([*one, *((each, -weights) for each, weights in other)])


def _of_contexts(one: Placed, weights: Numbers) -> Numbers:
    """What each context adds to the sum: its distance from the mean of its matrix."""
    mean = float((weights * one.scores).sum() / weights.sum())
    return weights * (one.scores - mean)


def _cells(side: Numbers, scores: Numbers, weights: Numbers) -> tuple[Numbers, Numbers]:
    """What each entity adds in each context, and what of it is neither the context's nor the entity's."""
    known = ~np.isnan(side)
    distance = np.where(known, side - scores[:, None], 0.0)
    each = (weights / known.sum(axis=1))[:, None]
    rest = np.where(known, distance - distance.sum(axis=0) / np.maximum(known.sum(axis=0), 1), 0.0)
    return each * distance, each * rest


def _interaction(cells: Sequence[tuple[Units, Units, Numbers]]) -> float:
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


def shared_part(one: ScoreMatrix, other: ScoreMatrix) -> tuple[ScoreMatrix, ScoreMatrix]:
    """Both matrices over the contexts and entities that both have, pair by pair.

    A unit that stands several times in one of them, as two spellings of a name, is kept there each time.
    """
    for kind in ("context", "native", "western"):
        one, other = _kept(one, other, kind), _kept(other, one, kind)
    return _masked(one, other), _masked(other, one)


def _kept(one: ScoreMatrix, other: ScoreMatrix, kind: str) -> ScoreMatrix:
    """The part of a matrix whose units of a kind the other has, too."""
    kept = np.isin(one.units(kind), other.units(kind))
    return one if kept.all() else part_of(one, **{kind: kept})


def _masked(one: ScoreMatrix, other: ScoreMatrix) -> ScoreMatrix:
    """A matrix without the likelihoods that the other lacks for the same context and entity."""
    native, western = (_without(one, other, kind) for kind in ("native", "western"))
    lost = np.isnan(native).sum() + np.isnan(western).sum() - np.isnan(one.native).sum() - np.isnan(one.western).sum()
    return replace(one, native=native, western=western) if lost else one


def _without(one: ScoreMatrix, other: ScoreMatrix, kind: str) -> Numbers:
    rows, row_numbers = np.unique(other.units("context"), return_inverse=True)
    columns, column_numbers = np.unique(other.units(kind), return_inverse=True)
    present = np.zeros((len(rows), len(columns)), bool)
    np.logical_or.at(present, np.ix_(row_numbers, column_numbers), ~np.isnan(getattr(other, kind)))
    at = np.ix_(np.searchsorted(rows, one.units("context")), np.searchsorted(columns, one.units(kind)))
    return np.where(present[at], getattr(one, kind), np.nan)


def part_of(
    matrix: ScoreMatrix,
    context: NDArray[np.bool_] | None = None,
    native: NDArray[np.bool_] | None = None,
    western: NDArray[np.bool_] | None = None,
) -> ScoreMatrix:
    """The contexts and entities of a matrix that are chosen; None: all."""
    every = (slice(None) if context is None else context), native, western
    rows, columns = every[0], [slice(None) if kept is None else kept for kept in every[1:]]
    known = matrix.genders
    return replace(
        matrix,
        native=matrix.native[rows][:, columns[0]],
        western=matrix.western[rows][:, columns[1]],
        contexts=_chosen(matrix.contexts, context),
        context_units=_chosen(matrix.context_units, context),
        native_ids=_chosen(matrix.native_ids, native),
        native_units=_chosen(matrix.native_units, native),
        western_ids=_chosen(matrix.western_ids, western),
        western_units=_chosen(matrix.western_units, western),
        genders=None
        if known is None
        else Genders(known.contexts[rows], known.native[columns[0]], known.western[columns[1]]),
    )


def _chosen(names: Units | Sequence[str], kept: NDArray[np.bool_] | None) -> Units | Sequence[str]:
    return names if kept is None or not len(names) else np.asarray(names)[kept]
