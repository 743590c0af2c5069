"""Averages of Cultural Bias Scores by name: over contexts, types, or columns (as CAMeL's tables).

- contexts: each context counts alike. This is the house's average.
- types: each type counts alike, its genders together.
- columns: as types, but each gender of names and clothing is a column of its own: ten columns for CAMeL's eight types.
  A context of no gender stands in both, with the entities of each.

Over several languages, contexts that are translations of each other count together as one under `contexts`; under the
papers' averages each language's count, as the papers have it. They are one witness in the interval of either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Literal

import numpy as np

from polyculture.instruments.cbs.bias import ContextScore, compare
from polyculture.instruments.cbs.camel_draws import CamelDraws, Draw, SampledScores, gender_columns
from polyculture.instruments.cbs.score_interval import MeanScore, Weighted, mean_score
from polyculture.instruments.cbs.uncertainty import Placed, ScoreMatrix, Term, combined, placed

Average = Literal["contexts", "types", "columns"]


@dataclass(frozen=True)
class Tally:
    """The data of a type's score: its matrix, and the score of each context."""

    matrix: ScoreMatrix
    placed: Placed
    comparisons: Sequence[ContextScore]
    entity_type: str = ""
    contexts: Sequence[str] = ()  # the id of each comparison
    _estimates: dict[Average, Weighted] = field(default_factory=dict)

    @cached_property
    def genders(self) -> Mapping[str, Tally]:
        """The same of each gender that entities of both sides have."""
        found = {gender: tally(column, self.entity_type) for gender, column in gender_columns(self.matrix).items()}
        return {gender: part for gender, part in found.items() if part is not None}

    def parts(self, average: Average) -> Sequence[Tally]:
        """What is compared within it: all of it at once; of columns its genders, where it has any."""
        return (list(self.genders.values()) if average == "columns" else []) or [self]


def tally(matrix: ScoreMatrix, entity_type: str = "") -> Tally | None:
    """The score of a matrix; None where no context has entities of both sides."""
    found = placed(matrix)
    if found is None:
        return None
    sides = zip(matrix.native, matrix.western, strict=True)
    names = matrix.contexts if len(matrix.contexts) else [str(number) for number in range(len(matrix.native))]
    rows = [(name, compare(native, western)) for name, (native, western) in zip(names, sides, strict=True)]
    met = {name: row for name, row in rows if row is not None}
    return Tally(matrix, found, list(met.values()), entity_type, list(met))


def averaged(tallies: Sequence[Tally], average: Average) -> MeanScore:
    """The average over types, which rest on other contexts and other entities and so are independent."""
    return mean_score([of_type(some, average) for some in by_type(tallies)])


def by_type(tallies: Sequence[Tally]) -> list[list[Tally]]:
    """Those of each type of entities together: languages and cultures that may share contexts and entities."""
    found: dict[str, list[Tally]] = {}
    for one in tallies:
        found.setdefault(one.entity_type, []).append(one)
    return list(found.values())


def of_type(tallies: Sequence[Tally], average: Average) -> Weighted:
    """The score of one type in one or several languages, and what it counts in an average over types."""
    kept = tallies[0]._estimates if len(tallies) == 1 else {}
    if average not in kept:
        terms = weighted_terms([one.parts(average) for one in tallies], average)
        whole = sum(float(weights.sum()) for _, weights in terms)
        kept[average] = combined([(one, weights / whole) for one, weights in terms]), whole
    return kept[average]


def weighted_terms(parts: Sequence[Sequence[Tally]], average: Average) -> list[Term]:
    """The parts of a type in each language, with the weight of each context in an average over types."""
    own = [np.unique(np.concatenate([part.placed.contexts for part in some])) for some in parts]
    units, counts = np.unique(np.concatenate(own), return_counts=True)
    terms = []
    for part in (part for some in parts for part in some):
        if average == "contexts":  # the share of each language in what is one context
            weights = 1 / counts[np.searchsorted(units, part.placed.contexts)]
        else:
            size = len(part.comparisons)
            weights = np.full(size, 1 / size)
        terms.append((part.placed, weights))
    return terms


def contexts_in(tallies: Sequence[Tally], average: Average) -> int:
    """The contexts behind an average: of several languages, what is one context in them counts once."""
    if len(tallies) == 1:
        return len({name for part in tallies[0].parts(average) for name in part.contexts})
    terms = weighted_terms([one.parts(average) for one in tallies], average)
    return len(np.unique(np.concatenate([one.contexts for one, _ in terms])))


def entities_in(tallies: Sequence[Tally], side: Literal["native", "western"]) -> int:
    """The entities of a side: of several languages, what is one entity in them counts once."""
    if len(tallies) == 1:
        return len(getattr(tallies[0].placed, f"{side}_units"))
    return len(np.unique(np.concatenate([getattr(one.placed, f"{side}_units") for one in tallies])))


def averaged_draws(tallies: Sequence[Tally], average: Average, drawing: CamelDraws) -> SampledScores | None:
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
