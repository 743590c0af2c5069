"""Differences of Cultural Bias Scores: what is compared, over the contexts and entities that both sides have.

Each context counts alike, and each language has the weight on both sides that it has on the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polyculture.instruments.cbs.averages import Tally, of_type, tally, weighted_terms
from polyculture.instruments.cbs.score_interval import ComparedScores, mean_difference
from polyculture.instruments.cbs.uncertainty import ScoreMatrix, Term, compared, difference_of, mean_of, shared_part
from polyculture.instruments.differences import PairedDifference


@dataclass(frozen=True)
class Contrast:
    """The score of a type on one side less that on the other, in one language and culture."""

    one: Tally
    other: Tally
    culture: str = ""

    @property
    def entity_type(self) -> str:
        return self.one.entity_type

    @cached_property
    def alone(self) -> tuple[ComparedScores, float]:
        """The difference of the type alone, and what it counts in an average over types."""
        return _compared([self])


def paired(one: Tally, other: Tally, culture: str = "") -> Contrast | None:
    """The contrast of what both sides have: of each context the entities with a likelihood on either; None without."""
    sides = shared_part(one.matrix, other.matrix)
    left, right = (_tally(before, matrix) for before, matrix in zip((one, other), sides, strict=True))
    return None if left is None or right is None else Contrast(left, right, culture)


def _tally(before: Tally, matrix: ScoreMatrix) -> Tally | None:
    return before if matrix is before.matrix else tally(matrix, before.entity_type)


def mean_contrast(contrasts: Sequence[Contrast]) -> PairedDifference:
    """The mean over types of the differences, weighted by what the first side's count."""
    of_types = contrasts_by_type(contrasts)
    return mean_difference([some[0].alone if len(some) == 1 else _compared(some) for some in of_types])


def contrasts_by_type(contrasts: Sequence[Contrast]) -> list[list[Contrast]]:
    """Those of each type together: languages and cultures that may share contexts and entities."""
    found: dict[str, list[Contrast]] = {}
    for one in contrasts:
        found.setdefault(one.entity_type, []).append(one)
    return list(found.values())


def _compared(contrasts: Sequence[Contrast]) -> tuple[ComparedScores, float]:
    one, other = _terms(contrasts)
    if len(contrasts) == 1:  # its sides are scores that stand in `numbers`, too: they are known already
        (known, whole), (beside, _) = (of_type([side], "contexts") for side in (contrasts[0].one, contrasts[0].other))
        return ComparedScores(known, beside, difference_of([mean_of(one[0][0])], [mean_of(other[0][0])])), whole
    sizes = [float(weights.sum()) for _, weights in one]
    whole = sum(sizes)
    first = [(each, weights / whole) for each, weights in one]
    second = [
        (each, weights / weights.sum() * size / whole) for (each, weights), size in zip(other, sizes, strict=True)
    ]
    return compared(first, second), whole


def contexts_of(contrasts: Sequence[Contrast]) -> int:
    """The contexts behind a type's difference: what is one in several languages, or on both sides, counts once."""
    return len(np.unique(np.concatenate([one.contexts for terms in _terms(contrasts) for one, _ in terms])))


def _terms(contrasts: Sequence[Contrast]) -> tuple[list[Term], list[Term]]:
    one, other = (
        weighted_terms([[side] for side in sides], "contexts")
        for sides in ([each.one for each in contrasts], [each.other for each in contrasts])
    )
    return one, other
