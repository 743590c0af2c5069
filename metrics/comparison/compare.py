"""Compares two sides of a run, paired: models, languages, conditions, countries or wordings; or native languages.

with open_store(run, METRICS) as store:
    rows = compare(store, sides_of(store, "openai:one", "openai:two"), by=["topic"])
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from polyculture.cache.errors import StoreError, did_you_mean
from polyculture.cache.sql_file import read_sql
from polyculture.metrics.comparison.blocks import COMPARED_AS, Blocks, block_of
from polyculture.metrics.comparison.effect import Effect, adjusted, mean_by_block, paired_effect
from polyculture.metrics.comparison.wording_mean import mean_of_wordings
from polyculture.metrics.intervals.estimate import METHODS, PER_CONDITION

Bounds = tuple[float, float]
_SQL = Path(__file__).with_name("sql")
_TWO = "Name two models, languages, conditions, countries or wordings."
_FILES = {
    "model": "models",
    "language": "languages",
    "condition": "conditions",
    "country": "countries",
    "wording": "wordings",
}
DIMENSIONS = tuple(_FILES)
METRICS = ("granularity", "diversity", "specificity", "specificity_gain", "consensus")
_NUMBERS = ("metric", "shared", "a", "b", "lowest", "highest")  # of a pair; its other columns say what it is of
NO_COUNTRY = "no country"  # of pairs of neutral prompts, in a row for each country
NO_MARGINS: Mapping[str, float] = MappingProxyType({})
NO_POINTS: Mapping[str, tuple[float, ...]] = MappingProxyType({})
RUN = "run"  # the dimension of two runs: `comparison.runs`
WITHIN = "within"  # the dimension of languages in groups: `claims`
COMPANIONS = (
    "hill_1",
    "hill_2",
    "coverage",
    "rarefied",
    "at_coverage",
    "dominance",
)  # of diversity: compared where they are asked for


@dataclass(frozen=True, slots=True)
class Sides:
    """The two sides of a comparison. A side of several values has the mean of their numbers, each counted once."""

    dimension: str  # one of `DIMENSIONS`, or 'native'
    a: str
    b: str
    of_a: tuple[str, ...] = ()  # the values of a side that is not one value: the rest, or a group of models
    of_b: tuple[str, ...] = ()

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the dimension's query."""
        if self.dimension in ("native", RUN, WITHIN):
            return {}
        if self.dimension == "condition":
            return {"a": self.a, "b": self.b}
        return {"a": list(self.of_a or [self.a]), "b": list(self.of_b or [self.b])}


NATIVE = Sides("native", "native language", "other languages")


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two compared numbers, and the bounds of their difference if all mentions were linked."""

    block: Hashable
    a: float | None
    b: float | None
    lowest: float | None
    highest: float | None
    question: Hashable  # what the pair is of, but for the wording


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """A row of a comparison: one metric, over all pairs of its group."""

    metric: str
    group: Mapping[str, str]  # the columns that the comparison is by; '' where the row is over all values of one
    effect: Effect | None  # None where no pair has both numbers
    missing: int  # pairs of which a number is missing
    q: float | None  # p after Benjamini and Hochberg, over all rows of the comparison
    bounds: Bounds | None = None  # of the difference, were all mentions linked: `cell_bounds`; between languages only
    margin: float | None = None  # smaller differences are said to be none; None: nobody named one for this metric
    q_beyond: float | None = None  # `effect.p_beyond` after Benjamini and Hochberg, as `q`

    @property
    def keeps_sign(self) -> bool | None:
        """Whether the difference has the same sign throughout `bounds`. None without bounds or difference."""
        if self.bounds is None or self.effect is None or self.effect.difference == 0:
            return None
        return self.bounds[0] > 0 or self.bounds[1] < 0


def sides_of(store: duckdb.DuckDBPyConnection, a: str, b: str) -> Sides:
    """The sides `a` and `b`: two models, languages, conditions, countries or wordings of the run.

    Raises `StoreError`, with the nearest name, where they are not.
    """
    if a == b:
        raise StoreError(f"{a!r} is compared with itself", remedy=_TWO)
    known = values_of(store)
    for dimension, values in known.items():
        if a in values and b in values:
            return Sides(dimension, a, b)
    for dimension, values in known.items():  # 'jp' is JP, where no other side is written so
        folded = {value.casefold(): value for value in values}
        if a.casefold() in folded and b.casefold() in folded and len(folded) == len(values):
            return Sides(dimension, folded[a.casefold()], folded[b.casefold()])
    everything = sorted(set().union(*known.values()))
    for side in (a, b):
        if side not in everything:
            raise StoreError(f"the run has no {side!r} to compare", remedy=did_you_mean(side, everything))
    raise StoreError(f"{a!r} and {b!r} are of different kinds", remedy=_TWO)


def values_of(store: duckdb.DuckDBPyConnection) -> dict[str, set[str]]:
    """What can be a side, by dimension: the models, languages, conditions, countries and wordings of its cells."""
    cells = store.table("cells")
    found = {dimension: cells.project(dimension).distinct().fetchall() for dimension in DIMENSIONS}
    return {dimension: {value for (value,) in rows if value is not None} for dimension, rows in found.items()}


def lay_out_native(store: duckdb.DuckDBPyConnection, pairs: Iterable[tuple[str, str]]) -> None:
    """Makes the table `native_languages` visible to `store`: a row is a language and a country whose language it is."""
    rows = list(pairs)
    table = pa.table({"language": [row[0] for row in rows], "country": [row[1] for row in rows]})
    store.register("native_languages", table)


def compare(
    store: duckdb.DuckDBPyConnection,
    sides: Sides,
    by: Sequence[str] = (),
    metrics: Sequence[str] = METRICS,
    blocks: Blocks = Blocks.PROMPTS,
    margins: Mapping[str, float] = NO_MARGINS,
) -> list[ComparisonRow]:
    """A row per metric and group of pairs; all of them are the family over which p is adjusted.

    `by` names columns of the pairs: model, language, topic, condition, country, wording, but for the one compared. The
    metrics of `PER_CONDITION` have a row per condition also where `by` does not name it. `blocks` says what is taken
    for independent. `margins` has, per metric, the difference that counts for none. A native comparison needs
    `lay_out_native` first. Raises `StoreError` for a column that the pairs do not have, and for blocks of what is
    compared: countries, wordings.
    """
    return _adjusted(_compared(store, sides, by, metrics, blocks, margins))


def _adjusted(rows: Sequence[ComparisonRow]) -> list[ComparisonRow]:
    """The rows with their q: all of them are one family."""
    q_values = adjusted([row.effect.p if row.effect else None for row in rows])
    beyond = adjusted([row.effect.p_beyond if row.effect else None for row in rows])
    return [replace(row, q=q, q_beyond=other) for row, q, other in zip(rows, q_values, beyond, strict=True)]


def compare_all(
    store: duckdb.DuckDBPyConnection,
    several: Sequence[Sides],
    by: Sequence[str] = (),
    metrics: Sequence[str] = METRICS,
    blocks: Blocks = Blocks.PROMPTS,
    margins: Mapping[str, float] = NO_MARGINS,
    points: Mapping[str, tuple[float, ...]] = NO_POINTS,
) -> list[tuple[Sides, ComparisonRow]]:
    """The rows of several comparisons, each with its sides; p is adjusted over all of them together.

    `points` has, per metric, differences that are tested besides 0: `Effect.p_at`.
    """
    rows = [(sides, row) for sides in several for row in _compared(store, sides, by, metrics, blocks, margins, points)]
    return list(zip((sides for sides, _ in rows), _adjusted([row for _, row in rows]), strict=True))


def _compared(
    store: duckdb.DuckDBPyConnection,
    sides: Sides,
    by: Sequence[str],
    metrics: Sequence[str],
    blocks: Blocks,
    margins: Mapping[str, float],
    points: Mapping[str, tuple[float, ...]] = NO_POINTS,
) -> list[ComparisonRow]:
    """The rows of `compare`, without q."""
    if sides.dimension == COMPARED_AS.get(blocks):
        what = f"{blocks} are compared here, and cannot be the blocks, too"
        raise StoreError(what, remedy="Leave --blocks out, or take topics.")
    pairs = pairs_of(store, sides)
    known = [name for name in pairs.columns if name not in _NUMBERS]
    for column in by:
        if column not in known:
            what = f"a comparison of {sides.a} with {sides.b} has no column {column!r}"
            raise StoreError(what, remedy=did_you_mean(column, known))
    split = "condition" in known and any(metric in PER_CONDITION for metric in metrics)
    columns = list(dict.fromkeys([*by, "condition"] if split else by))
    groups: dict[tuple[str, ...], list[_Pair]] = defaultdict(list)
    for row in pairs.fetchall():
        values = dict(zip(pairs.columns, row, strict=True))
        if values["metric"] not in metrics or (pair := _pair(values, blocks)) is None:
            continue
        kept = columns if values["metric"] in PER_CONDITION else by
        group = (values["metric"], *(_named(column, values[column]) if column in kept else "" for column in columns))
        groups[group].append(pair)
    return [_row(group, columns, groups[group], margins, blocks, points) for group in sorted(groups, key=_in_order)]


def _pair(values: Mapping[str, Any], blocks: Blocks) -> _Pair | None:
    block = block_of(blocks, values, values["shared"])
    if block is None:
        return None
    question = tuple(value for name, value in values.items() if name not in (*_NUMBERS, "wording"))
    return _Pair(block, values["a"], values["b"], values.get("lowest"), values.get("highest"), question)


def _named(column: str, value: str | None) -> str:
    return value or (NO_COUNTRY if column == "country" else "")


def _in_order(group: tuple[str, ...]) -> tuple[int | str, ...]:
    return ((*METRICS, *COMPANIONS).index(group[0]), *group[1:])


def _row(
    group: tuple[str, ...],
    columns: Sequence[str],
    pairs: Sequence[_Pair],
    margins: Mapping[str, float],
    blocks: Blocks,
    points: Mapping[str, tuple[float, ...]],
) -> ComparisonRow:
    known = [pair for pair in pairs if pair.a is not None and pair.b is not None]
    if blocks is Blocks.WORDINGS:
        known = _in_all_blocks(known)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(pair.block for pair in known))}
    block = np.array([numbers[pair.block] for pair in known], dtype=np.int64)
    a, b, lowest, highest = (
        np.array([getattr(pair, name) for pair in known], dtype=np.float64) for name in ("a", "b", "lowest", "highest")
    )
    named = dict(zip(columns, group[1:], strict=True))
    _, least, most = METHODS[group[0]]
    margin = margins.get(group[0])
    mean_of = mean_of_wordings if blocks is Blocks.WORDINGS else None
    effect = paired_effect(a, b, block, most - least, margin, mean_of, points.get(group[0], ()))
    bounds = None
    if effect and not np.isnan([lowest, highest]).any():
        bounds = float(mean_by_block(lowest, block).mean()), float(mean_by_block(highest, block).mean())
    return ComparisonRow(group[0], named, effect, len(pairs) - len(known), None, bounds, margin)


def _in_all_blocks(pairs: Sequence[_Pair]) -> list[_Pair]:
    """The pairs of questions that have one in every block: means of wordings are over the same questions."""
    asked: dict[Hashable, set[Hashable]] = defaultdict(set)
    for pair in pairs:
        asked[pair.question].add(pair.block)
    blocks = {pair.block for pair in pairs}
    return [pair for pair in pairs if asked[pair.question] == blocks]


def pairs_of(store: duckdb.DuckDBPyConnection, sides: Sides) -> duckdb.DuckDBPyRelation:
    """The pairs, in a fixed order: the last digits depend on the order of summation."""
    query = read_sql(_SQL, _FILES.get(sides.dimension, sides.dimension))
    return store.sql(query, params=sides.parameters)
