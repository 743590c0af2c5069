"""Averages of Cultural Bias Scores by name: over contexts, types, columns (as CAMeL's tables) or pairs.

- contexts: each context counts alike. This is the house's average.
- types: each type counts alike, its genders together.
- columns: as types, but each gender of names and clothing is a column of its own: ten columns for CAMeL's eight types.
- pairs: each pair of a native and a Western entity counts alike; of a type, too.

With genders `apart`, as Camellia asks, a context of no gender is two comparisons under every average: one with the
entities of each gender.
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
from polyculture.instruments.cbs.score_interval import MeanScore, ScoreEstimate, mean_score
from polyculture.instruments.cbs.uncertainty import ScoreMatrix, bias, bias_over_columns, bias_over_pairs
from polyculture.instruments.datasets.model import BOTH

Average = Literal["contexts", "types", "columns", "pairs"]
AVERAGES: tuple[Average, ...] = ("contexts", "types", "columns", "pairs")


@dataclass(frozen=True)
class Tally:
    """The data of a type's score: its matrix, the score of each context, and the same of each gender."""

    matrix: ScoreMatrix
    comparisons: Sequence[ContextScore]
    estimate: ScoreEstimate
    contexts: Sequence[str] = ()  # the id of each comparison
    genders: Mapping[str, Tally] = field(default_factory=dict)
    _drawn: dict[CamelDraws, tuple[Draw, ...]] = field(default_factory=dict)
    _weighted: dict[tuple[Average, bool], ScoreEstimate] = field(default_factory=dict)

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
        return (tally(replace(self.matrix, ties=HALF)) if self.tied else None) or self

    def parts(self, average: Average, *, apart: bool) -> Sequence[Tally]:
        """What is compared within it: its genders, or all of it at once."""
        return self.columns if apart or average == "columns" else [self]

    def compared(self, average: Average, *, apart: bool) -> list[ContextScore]:
        """The comparisons behind an average: a context of no gender stands in each column."""
        return [row for part in self.parts(average, apart=apart) for row in part.comparisons]

    def context_ids(self, average: Average, *, apart: bool) -> set[str]:
        """The contexts behind an average, each once."""
        return {name for part in self.parts(average, apart=apart) for name in part.contexts}

    def weighted(self, average: Average, *, apart: bool) -> tuple[ScoreEstimate, int]:
        """Its score, and what it counts in an average over types."""
        parts = self.parts(average, apart=apart)
        weights = [weight_of(part, average) for part in parts]
        if (average, apart) not in self._weighted:
            over_pairs = average == "pairs"
            found = self.estimate
            if len(parts) > 1:
                columns = [(part.matrix, weight) for part, weight in zip(parts, weights, strict=True)]
                found = bias_over_columns(columns, over_pairs=over_pairs) or found
            elif over_pairs:
                found = bias_over_pairs(parts[0].matrix) or found
            else:
                found = parts[0].estimate
            self._weighted[average, apart] = found
        return self._weighted[average, apart], 1 if average == "types" else sum(weights)

    def drawn(self, drawing: CamelDraws) -> tuple[Draw, ...]:
        """The draws of its entities, computed once."""
        if drawing not in self._drawn:
            self._drawn[drawing] = drawing.drawn(self.matrix)
        return self._drawn[drawing]


def tally(matrix: ScoreMatrix) -> Tally | None:
    """The score of a matrix and of its genders; None where no context has entities of both sides."""
    estimate = bias(matrix)
    if estimate is None:
        return None
    sides = zip(matrix.native, matrix.western, strict=True)
    names = matrix.contexts or [str(number) for number in range(len(matrix.native))]
    rows = [(name, compare(native, western, matrix.ties)) for name, (native, western) in zip(names, sides, strict=True)]
    met = {name: row for name, row in rows if row is not None}
    genders = {gender: tally(column) for gender, column in gender_columns(matrix).items()}
    found = {gender: part for gender, part in genders.items() if part is not None}
    return Tally(matrix, list(met.values()), estimate, list(met), found)


def weight_of(part: Tally, average: Average) -> int:
    """What a column, or a whole type, counts in an average."""
    return {"contexts": len(part.comparisons), "types": 1, "columns": 1, "pairs": part.pairs}[average]


def averaged(tallies: Sequence[Tally], average: Average, *, apart: bool = False) -> MeanScore:
    """The average over types, which rest on other contexts and other entities and so are independent."""
    return mean_score([one.weighted(average, apart=apart) for one in tallies])


def averaged_draws(
    tallies: Sequence[Tally], average: Average, drawing: CamelDraws, *, apart: bool = False
) -> SampledScores | None:
    """The same average in each draw; None where a draw was not asked whole, or leaves nothing to compare."""
    types = [one.parts(average, apart=apart) for one in tallies]
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


def _mixed(matrix: ScoreMatrix) -> bool:
    """Is it the column of one gender in contexts of no gender? Draws over both hold fewer of it than they ask for."""
    known = matrix.genders
    if known is None or matrix.column is None:
        return False
    return bool(np.isin(known.contexts, ("", BOTH)).any())
