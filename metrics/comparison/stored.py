"""The differences that other measures wrote: CBS, sentiment, QA, questions, as rows of a comparison.

A measure compares its own sides, paired over what both were asked, and writes the table `differences` at several
levels: of a type of entities, over a language's types, over all. Here are the rows of sides that somebody names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

from polyculture.cache.store.schema.measured import EVERY, WITHOUT, Difference
from polyculture.metrics import MEASURE
from polyculture.metrics.comparison.compare import ComparisonRow
from polyculture.metrics.comparison.sides import Sides
from polyculture.metrics.inference.limits import StudentInterval

if TYPE_CHECKING:
    from polyculture.cache.store.store import Store

NEW_ALONE = "new prompts alone"  # why a sampled measure has no interval of these prompts: it is of others
LEVELS = ("model", "language", "country", "topic", "condition", "wording")  # facets that a mean may be over
_NUMBERS = """
SELECT
    measure, metric, 'than' AS dimension, model AS a, $than::VARCHAR AS b, target, 'all' AS selection, model, dataset,
    language, country, topic, condition, wording, method, reader, facets, estimate AS a_estimate, $than AS b_estimate,
    estimate - $than AS difference, low - $than AS low, high - $than AS high, coalesce(reason, no_estimate) AS reason,
    unit, units, cells, greatest(units - 1, 1)::DOUBLE AS freedom
FROM (
    SELECT * EXCLUDE (low, high), 'same_prompts' AS target, low, high, no_interval AS reason
    FROM numbers WHERE measure = $own
    UNION ALL BY NAME
    SELECT * EXCLUDE (low, high), 'new_prompts' AS target, if(measure = $own, wide_low, low) AS low,
        if(measure = $own, wide_high, high) AS high, if(measure = $own, no_wide, no_interval) AS reason
    FROM numbers
)
WHERE measure = $measure AND metric = $metric AND estimate IS NOT NULL
ORDER BY ALL
"""
_ORDER = ", ".join(("measure", "metric", "dataset", "method", "reader", *LEVELS))


class StoredDifferences:
    """The differences of a store that are not of texts' entities."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @cached_property
    def rows(self) -> Sequence[Difference]:
        """All rows, as they were written."""
        names = [field.name for field in fields(Difference) if field.name != "inputs"]  # the view shows present data
        rows = f"SELECT {', '.join(names)} FROM differences WHERE measure <> $own ORDER BY {_ORDER}"  # noqa: S608
        found = self._store.execute(rows, {"own": MEASURE.name}).fetchall()
        return [Difference(**dict(zip(names, row, strict=True)), inputs="") for row in found]

    def numbers(self, measure: str, metric: str, than: float) -> list[Difference]:
        """A metric's numbers less a stated one, of both targets; what no number has is None.

        The first interval of `numbers` is of other samples of the same prompts where texts are measured; instruments
        resample contexts or questions, and theirs is of others. No degrees of freedom are kept: units less 1, so that
        the p-value is 0.05 where the interval ends, and no smaller beyond it than few units allow.
        """
        given = {"measure": measure, "metric": metric, "than": than, "own": MEASURE.name}
        cursor = self._store.execute(_NUMBERS, given)
        names = [column[0] for column in cursor.description or ()]
        lacking = dict.fromkeys(field.name for field in fields(Difference))
        return [
            Difference(**{**lacking, "inputs": "", **dict(zip(names, row, strict=True))}) for row in cursor.fetchall()
        ]

    @property
    def metrics(self) -> list[str]:
        return sorted({row.metric for row in self.rows})

    @property
    def conditions(self) -> set[str]:
        return {row.condition for row in self.rows} - {EVERY, WITHOUT}

    @property
    def values(self) -> Mapping[str, set[str]]:
        """What can be named as a side, by dimension."""
        found: dict[str, set[str]] = defaultdict(set)
        for row in self.rows:
            found[row.dimension] |= {row.a, row.b}
        return found

    def of_sides(
        self, several: Sequence[Sides], metrics: Collection[str], targets: Sequence[str], by: Sequence[str]
    ) -> list[ComparisonRow]:
        """The rows of these sides, each at the level that keeps the columns `by` and no more than it must."""
        found: list[Difference] = []
        for sides in several:
            groups: dict[Any, list[Difference]] = defaultdict(list)
            for row in self.rows:
                if row.dimension == sides.dimension and {row.a, row.b} == {sides.a, sides.b} and row.metric in metrics:
                    key = (row.measure, row.metric, row.dataset, row.method, row.reader, *sorted(row.facets.items()))
                    groups[key].append(row if row.a == sides.a else turn(row))
            for group, target in product(groups.values(), targets):
                found += _coarsest(_of_target(group, target), frozenset(by))
        return [_row(told) for told in found]


def stated(
    rows: Sequence[Difference], target: str, where: Mapping[str, str], by: Collection[str]
) -> list[ComparisonRow]:
    """The rows that have the facets of `where`, and per data set, method, reader and sides no others but `by`.

    '-' in `where` is a facet that a row lacks. Where every row has a further facet, such as a form, all of these stay.
    """
    groups: dict[Any, list[Difference]] = defaultdict(list)
    for row in rows:
        if all(facet_of(row, name) == value for name, value in where.items()):
            groups[row.dataset, row.method, row.reader, row.dimension, row.a, row.b].append(row)
    return [_row(told) for some in groups.values() for told in _of_target(_coarsest(some, frozenset(by)), target)]


def facet_of(row: Difference, name: str) -> str:
    """A column of its key, or else a facet; '-' where it has none."""
    found = getattr(row, name, None)
    return found if isinstance(found, str) else row.facets.get(name, WITHOUT)


def _coarsest(rows: Sequence[Difference], by: frozenset[str]) -> list[Difference]:
    names = [(*LEVELS, *row.facets) for row in rows]
    kept = [
        frozenset(name for name in own if facet_of(row, name) not in (EVERY, WITHOUT))
        for row, own in zip(rows, names, strict=True)
    ]
    able = {one for one in kept if one >= by}
    return [row for row, own in zip(rows, kept, strict=True) if own in able and not any(one < own for one in able)]


def turn(row: Difference) -> Difference:
    """The same with `b` first."""
    return replace(
        row,
        a=row.b,
        b=row.a,
        a_estimate=row.b_estimate,
        b_estimate=row.a_estimate,
        missing_a=row.missing_b,
        missing_b=row.missing_a,
        difference=_less(row.difference),
        low=_less(row.high),
        high=_less(row.low),
        without_largest=_less(row.without_largest),
    )


def _less(value: float | None) -> float | None:
    return None if value is None else -value


def _of_target(rows: Sequence[Difference], target: str) -> list[Difference]:
    """The rows of a target; where a measure tells of other prompts alone, these prompts with that as their reason."""
    own = [row for row in rows if row.target == target]
    return own or [
        replace(row, target=target, low=None, high=None, p=None, freedom=None, chance=None, reason=NEW_ALONE)
        for row in rows
    ]


def _row(told: Difference) -> ComparisonRow:
    if None in (told.low, told.high, told.difference, told.freedom):
        return ComparisonRow(told, None)
    value, low, high, freedom = told.difference, told.low, told.high, told.freedom
    return ComparisonRow(told, StudentInterval(value, value - low, high - value, freedom))  # type: ignore[operator, arg-type]
