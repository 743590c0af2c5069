"""Differences of Cultural Bias Scores: what is compared, over the contexts and entities that both sides have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from polyculture.instruments.cbs.averages import Average, Tally, tally, weighted_terms
from polyculture.instruments.cbs.bias import ContextScore
from polyculture.instruments.cbs.score_interval import ComparedScores, mean_difference
from polyculture.instruments.cbs.uncertainty import ScoreMatrix, Term, compared, shared_part
from polyculture.instruments.differences import PairedDifference


@dataclass(frozen=True)
class Contrast:
    """The score of a type on one side less that on the other, in one language and culture."""

    one: Tally
    other: Tally
    paired: bool  # the contexts are the same: of two models, in two languages, or asked in two ways
    language: str = ""
    culture: str = ""
    _alone: dict[tuple[Average, bool], tuple[ComparedScores, float]] = field(default_factory=dict)

    @property
    def entity_type(self) -> str:
        return self.one.entity_type

    def parts(self, average: Average, *, apart: bool) -> list[tuple[Tally, Tally]]:
        """Its genders, where both sides have them; else all of it at once."""
        pairs = [(part, self.other.genders[gender]) for gender, part in self.one.genders.items()
                 if gender in self.other.genders]  # fmt: skip
        return pairs if pairs and (apart or average == "columns") else [(self.one, self.other)]

    def compared(self, average: Average, *, apart: bool) -> list[ContextScore]:
        """The comparisons that it rests on."""
        parts = self.parts(average, apart=apart)
        return [row for pair in parts for part in pair[: 1 if self.paired else 2] for row in part.comparisons]


def paired(one: Tally, other: Tally, language: str = "", culture: str = "") -> Contrast | None:
    """The contrast of what both sides have: of each context the entities with a likelihood on either; None without."""
    sides = shared_part(one.matrix, other.matrix)
    left, right = (_tally(before, matrix) for before, matrix in zip((one, other), sides, strict=True))
    return None if left is None or right is None else Contrast(left, right, True, language, culture)


def _tally(before: Tally, matrix: ScoreMatrix) -> Tally | None:
    return before if matrix is before.matrix else tally(matrix, before.entity_type)


def mean_contrast(contrasts: Sequence[Contrast], average: Average, *, apart: bool = False) -> PairedDifference:
    """The mean over types of the differences, weighted by what the first side's count."""
    return mean_difference([of_type(some, average, apart=apart) for some in contrasts_by_type(contrasts)])


def contrasts_by_type(contrasts: Sequence[Contrast]) -> list[list[Contrast]]:
    """Those of each type together: languages and cultures that may share contexts and entities."""
    found: dict[str, list[Contrast]] = {}
    for one in contrasts:
        found.setdefault(one.entity_type, []).append(one)
    return list(found.values())


def of_type(contrasts: Sequence[Contrast], average: Average, *, apart: bool) -> tuple[ComparedScores, float]:
    """The difference of one type in one or several languages, and what it counts in an average over types.

    Each language, and each gender, has the weight on both sides that it has on the first.
    """
    kept = contrasts[0]._alone if len(contrasts) == 1 else {}
    if (average, apart) not in kept:
        kept[average, apart] = _compared(contrasts, average, apart=apart)
    return kept[average, apart]


def _compared(contrasts: Sequence[Contrast], average: Average, *, apart: bool) -> tuple[ComparedScores, float]:
    one, other = _terms(contrasts, average, apart=apart)
    sizes = [float(weights.sum()) for _, weights in one]
    whole = sum(sizes)
    first = [(each, weights / whole) for each, weights in one]
    second = [
        (each, weights / weights.sum() * size / whole) for (each, weights), size in zip(other, sizes, strict=True)
    ]
    return compared(first, second), whole


def contexts_of(contrasts: Sequence[Contrast], average: Average, *, apart: bool) -> int:
    """The contexts behind a type's difference: what is one in several languages, or on both sides, counts once."""
    sides = _terms(contrasts, average, apart=apart)
    return len(np.unique(np.concatenate([one.contexts for terms in sides for one, _ in terms])))


def _terms(contrasts: Sequence[Contrast], average: Average, *, apart: bool) -> tuple[list[Term], list[Term]]:
    parts = [contrast.parts(average, apart=apart) for contrast in contrasts]
    one, other = (
        weighted_terms([[pair[side] for pair in some] for some in parts], average) for side in range(2)
    )  # fmt: skip
    return one, other
