"""Averages of Cultural Bias Scores by name: over contexts, types, columns (as CAMeL's tables) or pairs.

- contexts: each context counts alike. This is the house's average.
- types: each type counts alike, its genders together.
- columns: as types, but each gender of names and clothing is a column of its own: ten columns for CAMeL's eight types.
- pairs: each pair of a native and a Western entity counts alike; of a type, too.

With genders `apart`, as Camellia asks, a context of no gender is two comparisons under every average: one with the
entities of each gender.

Over several languages, contexts that are translations of each other count together as one under `contexts`; under the
papers' averages each language's count, as the papers have it. They are one witness in the interval of either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Literal

import numpy as np

from polyculture.instruments.cbs.bias import HALF, ContextScore, compare
from polyculture.instruments.cbs.camel_draws import CamelDraws, Draw, SampledScores
from polyculture.instruments.cbs.gender_columns import gender_columns
from polyculture.instruments.cbs.score_interval import MeanScore, Weighted, mean_score
from polyculture.instruments.cbs.uncertainty import Placed, ScoreMatrix, Term, combined, placed
from polyculture.instruments.datasets.model import BOTH

Average = Literal["contexts", "types", "columns", "pairs"]
AVERAGES: tuple[Average, ...] = ("contexts", "types", "columns", "pairs")


@dataclass(frozen=True)
class Tally:
    """The data of a type's score: its matrix, the score of each context, and the same of each gender."""

    matrix: ScoreMatrix
    placed: Placed
    comparisons: Sequence[ContextScore]
    entity_type: str = ""
    contexts: Sequence[str] = ()  # the id of each comparison
    genders: Mapping[str, Tally] = field(default_factory=dict)
    _drawn: dict[CamelDraws, tuple[Draw, ...]] = field(default_factory=dict)
    _estimates: dict[tuple[Average, bool], Weighted] = field(default_factory=dict)

    @property
    def columns(self) -> Sequence[Tally]:
        """Its genders, or the whole type where it has none."""
        return list(self.genders.values()) or [self]

    @property
    def tied(self) -> int:
        return sum(row.tied for row in self.comparisons)

    @property
    def pairs(self) -> int:
        return sum(row.pairs for row in self.comparisons)

    @cached_property
    def halved(self) -> Tally:
        """The same with pairs of equal likelihood counted half."""
        return (tally(replace(self.matrix, ties=HALF), self.entity_type) if self.tied else None) or self

    def parts(self, average: Average, *, apart: bool) -> Sequence[Tally]:
        """What is compared within it: its genders, or all of it at once."""
        return self.columns if apart or average == "columns" else [self]

    def compared(self, average: Average, *, apart: bool) -> list[ContextScore]:
        """The comparisons behind an average: a context of no gender stands in each column."""
        return [row for part in self.parts(average, apart=apart) for row in part.comparisons]

    def context_ids(self, average: Average, *, apart: bool) -> set[str]:
        """The contexts behind an average, each once."""
        return {name for part in self.parts(average, apart=apart) for name in part.contexts}

    def drawn(self, drawing: CamelDraws) -> tuple[Draw, ...]:
        """The draws of its entities, computed once."""
        if drawing not in self._drawn:
            self._drawn[drawing] = drawing.drawn(self.matrix)
        return self._drawn[drawing]


def tally(matrix: ScoreMatrix, entity_type: str = "") -> Tally | None:
    """The score of a matrix and of its genders; None where no context has entities of both sides."""
    found = placed(matrix)
    if found is None:
        return None
    sides = zip(matrix.native, matrix.western, strict=True)
    names = matrix.contexts or [str(number) for number in range(len(matrix.native))]
    rows = [(name, compare(native, western, matrix.ties)) for name, (native, western) in zip(names, sides, strict=True)]
    met = {name: row for name, row in rows if row is not None}
    genders = {gender: tally(column, entity_type) for gender, column in gender_columns(matrix).items()}
    parts = {gender: part for gender, part in genders.items() if part is not None}
    return Tally(matrix, found, list(met.values()), entity_type, list(met), parts)


def averaged(tallies: Sequence[Tally], average: Average, *, apart: bool = False) -> MeanScore:
    """The average over types, which rest on other contexts and other entities and so are independent."""
    return mean_score([of_type(some, average, apart=apart) for some in by_type(tallies)])


def by_type(tallies: Sequence[Tally]) -> list[list[Tally]]:
    """Those of each type of entities together: languages and cultures that may share contexts and entities."""
    found: dict[str, list[Tally]] = {}
    for one in tallies:
        found.setdefault(one.entity_type, []).append(one)
    return list(found.values())


def of_type(tallies: Sequence[Tally], average: Average, *, apart: bool) -> Weighted:
    """The score of one type in one or several languages, and what it counts in an average over types."""
    kept = tallies[0]._estimates if len(tallies) == 1 else {}
    if (average, apart) not in kept:
        terms = weighted_terms([one.parts(average, apart=apart) for one in tallies], average)
        whole = sum(float(weights.sum()) for _, weights in terms)
        kept[average, apart] = combined([(one, weights / whole) for one, weights in terms]), whole
    return kept[average, apart]


def weighted_terms(parts: Sequence[Sequence[Tally]], average: Average) -> list[Term]:
    """The parts of a type in each language, with the weight of each context in an average over types."""
    own = [np.unique(np.concatenate([part.placed.contexts for part in some])) for some in parts]
    units, counts = np.unique(np.concatenate(own), return_counts=True)
    terms = []
    for part, columns in ((part, len(some)) for some in parts for part in some):
        size = len(part.comparisons)
        if average == "contexts":  # the share of each language in what is one context
            weights = 1 / counts[np.searchsorted(units, part.placed.contexts)]
        elif average == "pairs":
            weights = part.placed.pairs
        else:
            weights = np.full(size, 1 / size / (columns if average == "types" else 1))
        terms.append((part.placed, weights))
    return terms


def contexts_in(tallies: Sequence[Tally], average: Average, *, apart: bool) -> int:
    """The contexts behind an average: of several languages, what is one context in them counts once."""
    if len(tallies) == 1:
        return len(tallies[0].context_ids(average, apart=apart))
    terms = weighted_terms([one.parts(average, apart=apart) for one in tallies], average)
    return len(np.unique(np.concatenate([one.contexts for one, _ in terms])))


def entities_in(tallies: Sequence[Tally], side: Literal["native", "western"]) -> int:
    """The entities of a side: of several languages, what is one entity in them counts once."""
    if len(tallies) == 1:
        return len(getattr(tallies[0].placed, f"{side}_units"))
    return len(np.unique(np.concatenate([getattr(one.placed, f"{side}_units") for one in tallies])))


def averaged_draws(
    tallies: Sequence[Tally], average: Average, drawing: CamelDraws, *, apart: bool = False
) -> SampledScores | None:
    """The same average in each draw; None where a draw was not asked whole, or leaves nothing to compare.

    None, too, over contexts of several languages that are translations of each other.
    """
    types = [one.parts(average, apart=apart) for one in tallies]
    if average == "contexts" and any(_share_contexts(some) for some in by_type(tallies)):
        return None  # a draw does not know which contexts are one
    if drawing.only and not drawing.genders_apart and any(_mixed(part.matrix) for parts in types for part in parts):
        return None
    drawn = [[part.drawn(drawing) for part in parts] for parts in types]
    runs = [draw_average([[each[draw] for each in parts] for parts in drawn], average) for draw in range(drawing.draws)]
    found = tuple(run for run in runs if run is not None)
    return SampledScores(found) if found and len(found) == len(runs) else None


def draw_average(of_types: Sequence[Sequence[Draw]], average: Average) -> float | None:
    """The average of one draw: of each type a draw of each column. None where nothing is compared."""
    types = [[draw for draw in columns if draw] for columns in of_types]
    types = [columns for columns in types if columns]
    if not types:
        return None
    if average in ("types", "columns"):
        means = [[float(np.mean([row.score for row in draw])) for draw in columns] for columns in types]
        every = [float(np.mean(each)) for each in means] if average == "types" else list(chain.from_iterable(means))
        return float(np.mean(every))
    rows = [row for columns in types for draw in columns for row in draw]
    weights = [row.pairs for row in rows] if average == "pairs" else None
    return float(np.average([row.score for row in rows], weights=weights))


def _share_contexts(tallies: Sequence[Tally]) -> bool:
    units = [np.unique(one.placed.contexts) for one in tallies]
    return len(np.unique(np.concatenate(units))) < sum(map(len, units))


def _mixed(matrix: ScoreMatrix) -> bool:
    """Is it the column of one gender in contexts of no gender? Draws over both hold fewer of it than they ask for."""
    known = matrix.genders
    if known is None or matrix.column is None:
        return False
    return bool(np.isin(known.contexts, ("", BOTH)).any())
