"""A share of answers over contexts and entities, averaged over draws, with what each context and entity adds to it.

Every rate here is a ratio of sums over answers: right ones over all (accuracy), labelled negative over those that are
not (false negatives), twice the matches over names found and names to be found (F1). Macro F1 is the mean of three
such ratios. In each draw it is taken over all its answers; the value is the mean over draws. Its interval is that of
resampling contexts and entities, linearised: an answer adds (numerator - ratio x denominator) / sum of denominators
(Cochran 1977, Sampling Techniques, chapter 6), summed over the answers of a context, and over those of an entity,
whatever the draw. Both sides stand in the same contexts, so that a context that is hard for both adds nothing to the
variance of their difference.

`tests/instruments/test_swaps_measure.py` checks by simulation with a known truth that the intervals cover it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from polyculture.metrics.inference.crossed import crossed_variance, way
from polyculture.metrics.intervals.estimate import Estimate, symmetric, wilson

Numbers = NDArray[np.float64]
Numbering = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SideAnswers:
    """The answers about the entities of one side; contexts are numbered alike on both.

    Numerators and denominators are of one ratio, or of several, a row each: of these the mean is taken.
    """

    numerators: Numbers
    denominators: Numbers
    contexts: Numbering
    entities: Numbering
    draws: Numbering

    def of(self, here: NDArray[np.bool_]) -> SideAnswers:
        """Those of the answers that are true in `here`."""
        numbers = (self.contexts[here], self.entities[here], self.draws[here])
        return SideAnswers(self.numerators[..., here], self.denominators[..., here], *numbers)


@dataclass(frozen=True, slots=True)
class Ratio:
    """A mean over draws and what each part adds to it."""

    draws: Mapping[int, float]  # draw -> ratio
    contexts: Numbers
    entities: Numbers
    shared: float  # variance that contexts and entities both account for
    answers: int  # with a denominator
    met: int  # contexts of those

    @property
    def value(self) -> float:
        return float(np.mean(list(self.draws.values())))


@dataclass(frozen=True, slots=True)
class Rated:
    """A rate or a difference of two: value, interval, and how far its draws spread."""

    estimate: Estimate
    deviation: float | None  # over draws; None with one
    p: float | None
    answers: int


def ratio(side: SideAnswers, contexts: int) -> Ratio | None:
    """The ratio of a side's sums, in `contexts` contexts; None where no answer has a denominator."""
    numerators, denominators = np.atleast_2d(side.numerators), np.atleast_2d(side.denominators)
    totals = np.stack([np.bincount(side.draws, row) for row in denominators])  # a row per ratio, a column per draw
    hits = np.stack([np.bincount(side.draws, row) for row in numerators])
    defined = totals > 0
    known = totals.max(axis=0) > 0
    if not known.any():
        return None
    each = np.divide(hits, totals, out=np.zeros_like(hits), where=defined)
    means = np.divide(each.sum(axis=0), defined.sum(axis=0), out=np.zeros(len(known)), where=known)
    weights = np.divide(1.0, totals * defined.sum(axis=0) * known.sum(), out=np.zeros_like(totals), where=defined)
    terms = (numerators - each[:, side.draws] * denominators) * weights[:, side.draws]
    added, asked = terms.sum(axis=0), denominators.max(axis=0) > 0
    _, entities = np.unique(side.entities[asked], return_inverse=True)
    cells = side.contexts[asked] * (entities.max(initial=0) + 1) + entities
    per_cell = _sums(np.unique(cells, return_inverse=True)[1], added[asked])
    return Ratio(
        {int(draw): float(means[draw]) for draw in np.flatnonzero(known)},
        _sums(side.contexts[asked], added[asked], contexts),
        _sums(entities, added[asked]),
        float((per_cell**2).sum()),
        int(asked.sum()),
        len(np.unique(side.contexts[asked])),
    )


def rate(found: Ratio) -> Rated:
    """A rate with Wilson's interval for the effective number of independent answers."""
    variance, freedom = crossed_variance([way(found.contexts), way(found.entities)], found.shared)
    spread = found.value * (1 - found.value)
    if variance <= 0 or spread <= 0:  # all agree: as many observations as the scarcer of the two
        size = min(found.met, len(found.entities))
        estimate = wilson(found.value, size, size - 1)
    else:
        estimate = wilson(found.value, spread / variance, freedom)
    return Rated(estimate, _deviation(list(found.draws.values())), None, found.answers)


def difference(one: Ratio, other: Ratio) -> Rated:
    """`one` less `other`, which stand in the same contexts, with the p-value of no difference (Student's)."""
    contexts = one.contexts - other.contexts
    variance, freedom = crossed_variance(
        [way(contexts), way(one.entities), way(other.entities)], one.shared + other.shared
    )
    estimate = symmetric(one.value - other.value, variance, freedom)
    each = [one.draws[draw] - other.draws[draw] for draw in one.draws.keys() & other.draws.keys()]
    answers = one.answers + other.answers
    if variance <= 0 or freedom <= 0:
        return Rated(symmetric(estimate.value, 0.0, 0), _deviation(each), None, answers)
    p = float(2 * stdtr(freedom, -abs(estimate.value) / math.sqrt(variance)))
    return Rated(estimate, _deviation(each), p, answers)


def _sums(numbering: NDArray[Any], added: Numbers, size: int = 0) -> Numbers:
    return np.bincount(numbering, added, minlength=size).astype(np.float64)


def _deviation(draws: Sequence[float]) -> float | None:
    return float(np.std(draws, ddof=1)) if len(draws) > 1 else None
