"""Averages of Cultural Bias Scores by name: over contexts, types, or columns (as CAMeL's tables); and differences.

- contexts: each context counts alike. This is the house's average.
- types: each type counts alike, its genders together.
- columns: as types, but each gender of names and clothing is a column of its own: ten columns for CAMeL's eight types.
  A context of no gender stands in both, with the entities of each.

Over several languages, contexts that are translations of each other count together as one under `contexts`; under the
papers' averages each language's count, as the papers have it. They are one witness in the interval of either.

A difference is over the contexts and entities that both sides have. Each context counts alike, and each language has
the weight on both sides that it has on the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Literal

import numpy as np

from polyculture.instruments.cbs.camel_draws import CamelDraws, Draw, SampledScores, gender_columns
from polyculture.instruments.cbs.score_interval import (
    ComparedScores,
    MeanScore,
    WeightedScore,
    mean_difference,
    mean_score,
)
from polyculture.instruments.cbs.score_matrix import ScoreMatrix, shared_part
from polyculture.instruments.cbs.uncertainty import (
    EntityPlacements,
    WeightedPlacements,
    combined,
    compared,
    difference_of,
    mean_of,
    placed,
)
from polyculture.metrics.inference.paired import PairedDifference

Average = Literal["contexts", "types", "columns"]


@dataclass(frozen=True)
class TypeScores:
    """The data of a type's score: its matrix, and the score of each context."""

    matrix: ScoreMatrix
    placed: EntityPlacements
    entity_type: str = ""
    _estimates: dict[Average, WeightedScore] = field(default_factory=dict)

    @cached_property
    def genders(self) -> Mapping[str, TypeScores]:
        """The scores by gender, of the genders that entities of both sides have."""
        found = {gender: tally(column, self.entity_type) for gender, column in gender_columns(self.matrix).items()}
        return {gender: part for gender, part in found.items() if part is not None}

    def parts(self, average: Average) -> Sequence[TypeScores]:
        """What is compared within it: all of it at once; of columns its genders, where it has any."""
        return (list(self.genders.values()) if average == "columns" else []) or [self]


def tally(matrix: ScoreMatrix, entity_type: str = "") -> TypeScores | None:
    """The score of a matrix; None where no context has entities of both sides."""
    found = placed(matrix)
    return None if found is None else TypeScores(matrix, found, entity_type)


def averaged(tallies: Sequence[TypeScores], average: Average) -> MeanScore:
    """The average over types, which rest on other contexts and other entities and so are independent."""
    return mean_score([of_type(some, average) for some in by_type(tallies)])


def by_type(tallies: Sequence[TypeScores]) -> list[list[TypeScores]]:
    """Those of each type of entities together: languages and cultures that may share contexts and entities."""
    found: dict[str, list[TypeScores]] = {}
    for one in tallies:
        found.setdefault(one.entity_type, []).append(one)
    return list(found.values())


def of_type(tallies: Sequence[TypeScores], average: Average) -> WeightedScore:
    """The score of one type in one or several languages, and what it counts in an average over types."""
    kept = tallies[0]._estimates if len(tallies) == 1 else {}
    if average not in kept:
        terms = weighted_terms([one.parts(average) for one in tallies], average)
        whole = sum(float(weights.sum()) for _, weights in terms)
        kept[average] = combined([(one, weights / whole) for one, weights in terms]), whole
    return kept[average]


def weighted_terms(parts: Sequence[Sequence[TypeScores]], average: Average) -> list[WeightedPlacements]:
    """The parts of a type in each language, with the weight of each context in an average over types."""
    own = [np.unique(np.concatenate([part.placed.contexts for part in some])) for some in parts]
    units, counts = np.unique(np.concatenate(own), return_counts=True)
    terms = []
    for part in (part for some in parts for part in some):
        if average == "contexts":  # the share of each language in what is one context
            weights = 1 / counts[np.searchsorted(units, part.placed.contexts)]
        else:
            size = len(part.placed.scores)
            weights = np.full(size, 1 / size)
        terms.append((part.placed, weights))
    return terms


def contexts_in(tallies: Sequence[TypeScores], average: Average) -> int:
    """The contexts behind an average: of several languages, what is one context in them counts once."""
    if len(tallies) == 1:
        return len({name for part in tallies[0].parts(average) for name in part.placed.names})
    terms = weighted_terms([one.parts(average) for one in tallies], average)
    return len(np.unique(np.concatenate([one.contexts for one, _ in terms])))


def entities_in(tallies: Sequence[TypeScores], side: Literal["native", "western"]) -> int:
    """The entities of a side: of several languages, what is one entity in them counts once."""
    if len(tallies) == 1:
        return len(getattr(tallies[0].placed, f"{side}_units"))
    return len(np.unique(np.concatenate([getattr(one.placed, f"{side}_units") for one in tallies])))


def averaged_draws(tallies: Sequence[TypeScores], average: Average, drawing: CamelDraws) -> SampledScores | None:
    """The same average in each draw, of one language and culture; None where a draw leaves nothing to compare."""
    drawn = [[drawing.drawn(part.matrix) for part in one.parts(average)] for one in tallies]
    runs = [draw_average([[each[draw] for each in parts] for parts in drawn], average) for draw in range(drawing.draws)]
    found = tuple(run for run in runs if run is not None)
    return SampledScores(found) if found and len(found) == len(runs) else None


def draw_average(of_types: Sequence[Sequence[Draw]], average: Average) -> float | None:
    """The average of one draw: of each type a draw of each column. None where nothing is compared."""
    columns = [[row.score for row in draw] for draw in chain.from_iterable(of_types) if draw]
    if not columns:
        return None
    if average == "contexts":
        return float(np.mean(list(chain.from_iterable(columns))))
    return float(np.mean([np.mean(column) for column in columns]))


@dataclass(frozen=True)
class ScoreContrast:
    """The score of a type on one side less that on the other, in one language and culture."""

    one: TypeScores
    other: TypeScores
    culture: str = ""

    @property
    def entity_type(self) -> str:
        return self.one.entity_type

    @cached_property
    def alone(self) -> tuple[ComparedScores, float]:
        """The difference of the type alone, and what it counts in an average over types."""
        return _compared([self])


def paired(one: TypeScores, other: TypeScores, culture: str = "") -> ScoreContrast | None:
    """The contrast of what both sides have: of each context the entities with a likelihood on either; None without."""
    sides = shared_part(one.matrix, other.matrix)
    left, right = (_tally(before, matrix) for before, matrix in zip((one, other), sides, strict=True))
    return None if left is None or right is None else ScoreContrast(left, right, culture)


def _tally(before: TypeScores, matrix: ScoreMatrix) -> TypeScores | None:
    return before if matrix is before.matrix else tally(matrix, before.entity_type)


def mean_contrast(contrasts: Sequence[ScoreContrast]) -> PairedDifference:
    """The mean over types of the differences, weighted by what the first side's count."""
    of_types = contrasts_by_type(contrasts)
    return mean_difference([some[0].alone if len(some) == 1 else _compared(some) for some in of_types])


def contrasts_by_type(contrasts: Sequence[ScoreContrast]) -> list[list[ScoreContrast]]:
    """Those of each type together: languages and cultures that may share contexts and entities."""
    found: dict[str, list[ScoreContrast]] = {}
    for one in contrasts:
        found.setdefault(one.entity_type, []).append(one)
    return list(found.values())


def _compared(contrasts: Sequence[ScoreContrast]) -> tuple[ComparedScores, float]:
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


def contexts_of(contrasts: Sequence[ScoreContrast]) -> int:
    """The contexts behind a type's difference: what is one in several languages, or on both sides, counts once."""
    return len(np.unique(np.concatenate([one.contexts for terms in _terms(contrasts) for one, _ in terms])))


def _terms(contrasts: Sequence[ScoreContrast]) -> tuple[list[WeightedPlacements], list[WeightedPlacements]]:
    one, other = (
        weighted_terms([[side] for side in sides], "contexts")
        for sides in ([each.one for each in contrasts], [each.other for each in contrasts])
    )
    return one, other
