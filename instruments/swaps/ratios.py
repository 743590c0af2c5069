"""The ratio of sums over answers, as a mean over draws, with its variance over contexts and entities.

In each draw a ratio is taken over all its answers; the value is the mean over draws. Its interval is that of
resampling contexts and entities, linearised: an answer adds (numerator - ratio x denominator) / sum of denominators
(Cochran 1977, Sampling Techniques, chapter 6), summed over the answers of a context, and over those of an entity,
whatever the draw. In a difference (`compared`) what a context or an entity adds to one side is taken off what it adds
to the other: both sides of a text stand in the same contexts, two models meet the same contexts and entities, and a row
of a sheet is one context in all its languages.

`tests/instruments/test_swaps_measure.py` checks by simulation with a known truth that the intervals cover it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyculture.metrics.inference.arrays import Floats
from polyculture.metrics.inference.crossed import crossed_variance, summed, way
from polyculture.metrics.inference.limits import WilsonEstimate, wilson
from polyculture.metrics.inference.paired import PairedDifference, paired_difference

Numbering = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SideAnswers:
    """The answers about the entities of one side; contexts are numbered alike on both.

    Numerators and denominators are of one ratio, or of several, a row each: of these the mean is taken.
    """

    numerators: Floats
    denominators: Floats
    contexts: Numbering
    entities: Numbering
    draws: Numbering
    native: bool = True  # whose entities they are; those of the other side have numbers of their own

    def of(self, here: NDArray[np.bool_]) -> SideAnswers:
        """Those of the answers that are true in `here`."""
        numbers = (self.contexts[here], self.entities[here], self.draws[here])
        return SideAnswers(self.numerators[..., here], self.denominators[..., here], *numbers, self.native)


@dataclass(frozen=True, slots=True)
class DrawRatio:
    """A mean over draws, and what each answer with a denominator adds to it."""

    draws: Mapping[int, float]  # draw -> ratio
    answers: SideAnswers
    added: Floats

    @property
    def value(self) -> float:
        return float(np.mean(list(self.draws.values())))

    @property
    def size(self) -> int:
        return len(self.added)


def ratio(side: SideAnswers) -> DrawRatio | None:
    """The ratio of a side's sums; None where no answer has a denominator."""
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
    asked = denominators.max(axis=0) > 0
    values = {int(draw): float(means[draw]) for draw in np.flatnonzero(known)}
    return DrawRatio(values, side.of(asked), terms.sum(axis=0)[asked])


def rate(found: DrawRatio) -> WilsonEstimate:
    """A rate with Wilson's interval for the effective number of independent answers."""
    variance, freedom = variance_of([(found, 1.0)])
    spread = found.value * (1 - found.value)
    if variance <= 0 or spread <= 0:  # all agree: as many observations as the scarcer of the two
        size = min(len(np.unique(found.answers.contexts)), len(np.unique(found.answers.entities)))
        return wilson(found.value, size, size - 1)
    return wilson(found.value, spread / variance, freedom)


def compared(one: Sequence[tuple[DrawRatio, float]], other: Sequence[tuple[DrawRatio, float]]) -> PairedDifference:
    """One sum of ratios less another: single rates, or gaps of two."""
    variance, freedom = variance_of([*one, *((found, -weight) for found, weight in other)])
    values = [sum(found.value * weight for found, weight in terms) for terms in (one, other)]
    if freedom <= 0 < variance:  # one context, or one entity on a side
        return PairedDifference(values[0], values[1], lacking="few contexts or entities")
    limits = [_limits(terms) for terms in (one, other)]
    return paired_difference(values[0], values[1], variance, freedom, (limits[0], limits[1]))


def _limits(terms: Sequence[tuple[DrawRatio, float]]) -> tuple[float | None, float | None]:
    """The limits of a single rate; of a gap there are none that a difference of two could not pass."""
    return rate(terms[0][0]).limits(0.0, 1.0) if len(terms) == 1 else (None, None)


def variance_of(terms: Sequence[tuple[DrawRatio, float]]) -> tuple[float, float]:
    """The variance of a weighted sum of ratios, and its degrees of freedom; 0 of these where it is unknown."""
    contexts = np.concatenate([found.answers.contexts for found, _ in terms])
    added = np.concatenate([found.added * weight for found, weight in terms])
    native = np.concatenate([np.full(found.size, found.answers.native) for found, _ in terms])
    entities = np.concatenate([found.answers.entities for found, _ in terms])
    ways, shared = [way(summed(contexts, added)[1])], 0.0
    for side in (True, False):
        here = native == side
        if here.any():
            ways.append(way(summed(entities[here], added[here])[1]))
            cells = contexts[here] * (int(entities.max()) + 1) + entities[here]
            shared += float((summed(cells, added[here])[1] ** 2).sum())
    return crossed_variance(ways, shared)


def chance_of_size(one: Sequence[DrawRatio], other: Sequence[DrawRatio], texts: Sequence[float]) -> float | None:
    """What the size of a difference in counts is on average where there is no effect, the mean over draws.

    `one` and `other` have a ratio for each draw, `texts` the texts of a side in it. A normal difference without an
    effect has a size of its standard deviation times the root of 2 over pi. None where its variance is unknown.
    """
    found = [variance_of([(a, 1.0), (b, -1.0)]) for a, b in zip(one, other, strict=True)]
    if not found or any(freedom <= 0 for _, freedom in found):
        return None
    spreads = [math.sqrt(variance) * size for (variance, _), size in zip(found, texts, strict=True)]
    return math.sqrt(2 / math.pi) * float(np.mean(spreads))
