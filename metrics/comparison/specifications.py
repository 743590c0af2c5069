"""In how many ways to count a comparison comes out alike (a multiverse analysis).

A specification says how often an entity counts, which entities do, what specificity is a share of, and how cells are
averaged. Those that a metric has no choice of are counted once: granularity has 12, specificity and its gain 18 each,
diversity 4, consensus 2. All are numbers of the view `specifications`, and compared as the headline is.

Sources: Steegen et al. 2016, Perspect. Psychol. Sci. 11, 702 (multiverse analysis); Simonsohn, Simmons and Nelson 2020,
Nat. Hum. Behav. 4, 1208 (specification curves).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path

import duckdb

from polyculture.cache.errors import StoreError
from polyculture.cache.sql_files import read_sql
from polyculture.metrics.comparison.blocks import Blocks
from polyculture.metrics.comparison.compare import (
    METRICS,
    NATIVE,
    ComparisonRow,
    Sides,
    compare,
    pairs_of,
)
from polyculture.metrics.comparison.effect import Effect
from polyculture.metrics.intervals.levels import PER_CONDITION

_SQL = Path(__file__).with_name("sql")
POOLED = "pooled"  # why a pooled number has no interval: blocks are compared by their means
MACRO = "macro"
Way = tuple[str, str, str]  # multiplicity, entities, denominator
Both = tuple[float, float]  # numbers of the two sides
Pooled = dict[tuple[str, str], Both]  # by metric, and condition where it is averaged under each
HEADLINE: Way = ("response", "linked", "all")
WAYS: tuple[Way, ...] = tuple(
    (multiplicity, *rest)
    for multiplicity in ("response", "union", "occurrence")
    for rest in (("linked", "all"), ("linked", "known"), ("all", "all"))
)
_ROUNDING = 1e-9
_PARTS = ("part", "whole", "neutral_part", "neutral_whole")
_CELL = ("model", "language", "topic", "condition", "country", "wording")


@dataclass(frozen=True, slots=True, order=True)
class Specification:
    """A way to count. None: the metric has no choice."""

    multiplicity: str | None  # 'union' | 'response' | 'occurrence'
    entities: str | None  # 'linked' | 'all'
    denominator: str | None  # 'all' | 'known': those whose country is known
    averaging: str  # 'macro' | 'pooled'


@dataclass(frozen=True, slots=True)
class SpecifiedRow:
    """A comparison under one specification."""

    metric: str
    condition: str  # of specificity and its gain; '' where it is over all
    specification: Specification
    headline: bool
    effect: Effect | None  # None where no pair has both numbers


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many specifications of a metric have the sign of the headline, and how many of these are significant."""

    metric: str
    condition: str
    above: bool  # the headline of `a` is above that of `b`
    alike: int
    equal: int  # specifications in which the sides do not differ
    specifications: int
    significant: int  # with the headline's sign
    tested: int


def compare_specifications(
    store: duckdb.DuckDBPyConnection,
    several: Sequence[Sides],
    metrics: Sequence[str] = METRICS,
    blocks: Blocks = Blocks.PROMPTS,
) -> list[list[SpecifiedRow]]:
    """Of each of the comparisons, the rows of every specification by metric and condition; p is not adjusted.

    Raises `StoreError` for a native comparison, for countries, for sides of several values (pooled, the larger side
    would have more distinct entities), and for metrics that are counted in one way only.
    """
    for sides in several:
        if sides == NATIVE or sides.dimension == "country" or sides.of_a or sides.of_b:
            what = "a native comparison, of countries, with the rest or of groups has no table of specifications"
            raise StoreError(what, remedy="Name two models, languages, conditions or wordings.")
    if others := sorted(set(metrics) - set(METRICS)):
        raise StoreError(f"{others[0]} is counted in one way only", remedy=f"Choose from {', '.join(METRICS)}.")
    found: list[list[SpecifiedRow]] = [[] for _ in several]
    with _specified(store):
        for way in WAYS:
            for rows, new in zip(found, _rows_of(store, several, metrics, blocks, way), strict=True):
                rows += new
    return [sorted(rows, key=_in_order) for rows in found]


def agreements(rows: Sequence[SpecifiedRow]) -> list[Agreement]:
    """One per metric and condition whose headline has a difference."""
    found = []
    for key in dict.fromkeys((row.metric, row.condition) for row in rows):
        known = [(row, row.effect) for row in rows if (row.metric, row.condition) == key and row.effect]
        sign = next((_sign(effect) for row, effect in known if row.headline), 0)
        if sign == 0:
            continue
        alike = [effect for _, effect in known if _sign(effect) == sign]
        tested = [effect for _, effect in known if effect.p is not None]
        significant = sum(effect.p is not None and effect.p < 0.05 for effect in alike)
        equal = sum(_sign(effect) == 0 for _, effect in known)
        found.append(Agreement(*key, sign > 0, len(alike), equal, len(known), significant, len(tested)))
    return found


def _sign(effect: Effect) -> int:
    """1, 0 or -1; 0 where the sides differ by rounding alone."""
    scale = max(abs(effect.a), abs(effect.b))
    return 0 if abs(effect.difference) <= _ROUNDING * scale else 1 if effect.difference > 0 else -1


def _rows_of(
    store: duckdb.DuckDBPyConnection, several: Sequence[Sides], metrics: Sequence[str], blocks: Blocks, way: Way
) -> list[list[SpecifiedRow]]:
    """Of each comparison the rows of one way to count, over cells and pooled."""
    wanted = [metric for metric in metrics if _distinct(metric, way)]
    _fill(store, way, "estimate")
    macro = [compare(store, sides, metrics=wanted, blocks=blocks) for sides in several]
    pooled: list[Pooled] = [{} for _ in several]
    if "diversity" in wanted:
        pooled = [_diversity(store, sides, blocks, way) for sides in several]
    parts = []
    for part in _PARTS:
        _fill(store, way, part)
        parts.append([_sums(store, sides, blocks) for sides in several])
    for found, *sums in zip(pooled, *parts, strict=True):
        found |= _ratios(*sums)
    return [[one for row in rows for one in _both(row, found, way)] for rows, found in zip(macro, pooled, strict=True)]


def _both(row: ComparisonRow, pooled: Pooled, way: Way) -> Iterator[SpecifiedRow]:
    condition = row.group.get("condition", "")
    for averaging in (MACRO, POOLED):
        effect = row.effect if averaging == MACRO else _effect(pooled.get((row.metric, condition)), row)
        headline = (way, averaging) == (HEADLINE, MACRO)
        yield SpecifiedRow(row.metric, condition, _named(row.metric, way, averaging), headline, effect)


def _distinct(metric: str, way: Way) -> bool:
    """Whether the metric differs under this way to count from those under the ways before it."""
    if metric in PER_CONDITION:
        return True
    if metric == "granularity":
        return way[2] == "all"
    return way == HEADLINE or (metric == "diversity" and way == ("response", "all", "all"))


def _named(metric: str, way: Way, averaging: str) -> Specification:
    multiplicity, entities, denominator = way
    return Specification(
        multiplicity if metric in PER_CONDITION or metric == "granularity" else None,
        None if metric == "consensus" else entities,
        denominator if metric in PER_CONDITION else None,
        averaging,
    )


@contextmanager
def _specified(store: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Lets the names of the headline's views stand for the values of one way to count, for the block."""
    store.execute("BEGIN TRANSACTION")
    try:
        store.execute(read_sql(_SQL, "specified"))
        yield
    finally:
        store.execute("ROLLBACK")


def _fill(store: duckdb.DuckDBPyConnection, way: Way, what: str) -> None:
    values = dict(zip(("multiplicity", "entities", "denominator"), way, strict=True))
    store.execute(read_sql(_SQL, "specified_values"), values | {"what": what})


def _pairs(store: duckdb.DuckDBPyConnection, sides: Sides, blocks: Blocks) -> duckdb.DuckDBPyRelation:
    """The pairs of the way to count that is filled in; without those that have no block."""
    pairs = pairs_of(store, sides).filter("a IS NOT NULL AND b IS NOT NULL")
    return pairs.filter("country IS NOT NULL") if blocks is Blocks.COUNTRIES else pairs


def _sums(store: duckdb.DuckDBPyConnection, sides: Sides, blocks: Blocks) -> Pooled:
    """The sums of the part that is filled in over all pairs."""
    pairs = _pairs(store, sides, blocks)
    condition = "condition" if "condition" in pairs.columns else "''"
    kept = f"CASE WHEN metric IN {PER_CONDITION} THEN {condition} ELSE '' END AS condition"
    rows = pairs.aggregate(f"metric, {kept}, sum(a ORDER BY a), sum(b ORDER BY b)").fetchall()
    return {(metric, condition): (a, b) for metric, condition, a, b in rows}


def _ratios(part: Pooled, whole: Pooled, neutral_part: Pooled, neutral_whole: Pooled) -> Pooled:
    """Part over whole of either side, less the same of the neutral prompts, where there are any."""
    found = {key: _ratio(part[key], whole[key]) for key in part}
    for key in neutral_part:
        (a, b), (neutral_a, neutral_b) = found[key], _ratio(neutral_part[key], neutral_whole[key])
        found[key] = a - neutral_a, b - neutral_b
    return found


def _ratio(part: Both, whole: Both) -> Both:
    return part[0] / whole[0], part[1] / whole[1]


def _diversity(store: duckdb.DuckDBPyConnection, sides: Sides, blocks: Blocks, way: Way) -> Pooled:
    """The distinct entities of either side over all cells that both have."""
    pairs = _pairs(store, sides, blocks).filter("metric = 'diversity'")
    columns = [name if name in pairs.columns else f"NULL::VARCHAR AS {name}" for name in _CELL]
    store.register("specified_pairs", pairs.project(", ".join(columns)).to_arrow_table())
    asked = {"dimension": sides.dimension, "entities": way[1]}
    query = read_sql(_SQL, "pooled_diversity")
    a, b = (store.execute(query, {**asked, "values": [side]}).fetchall()[0][0] for side in (sides.a, sides.b))
    store.unregister("specified_pairs")
    return {} if a is None or b is None else {("diversity", ""): (a, b)}


def _effect(pooled: Both | None, row: ComparisonRow) -> Effect | None:
    if pooled is None or row.effect is None:
        return None
    a, b = pooled
    return Effect(a, b, a - b, None, None, None, row.effect.pairs, row.effect.blocks, POOLED)


def _in_order(row: SpecifiedRow) -> tuple[object, ...]:
    return METRICS.index(row.metric), row.condition, not row.headline, *map(str, astuple(row.specification))
