"""The cells that all models have: what means of models that stand side by side are over.

Models were not asked the same cells, or have no number in the same ones: a topic that one was not asked, a wording of
which nothing came, a run that is not finished. Their means over all their own cells differ by the cells alone. So a
metric in which models lack different cells has further means, at the levels 'model, shared' and so on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from polyculture.cache.schema.measured import EVERY
from polyculture.metrics.responses import CONSENSUS, PER_CONDITION, Level, Place, kept

SHARED = "shared"
LEAST = 0.5  # of a group's cells that a model must have, to be compared: one that has few would leave few to all
_LEVELS: tuple[Level, ...] = ((), ("language",))
# A row is a cell of any model, in one metric: the models that have a number there.
_CELLS = """
SELECT
    metric, language, other_language, topic, condition, country, wording,
    list(model) FILTER (estimate IS NOT NULL) AS models
FROM measured_values
WHERE metric IN ('granularity', 'diversity', 'specificity', 'specificity_gain', 'consensus')
GROUP BY ALL
"""
Group = tuple[Level, Place]


@dataclass(frozen=True, slots=True)
class SharedCells:
    """A metric's groups of cells of all models: how many cells, the models that are compared, and what these share."""

    cells: Mapping[Group, int]
    compared: Mapping[Group, frozenset[str]]
    shared: frozenset[tuple[Group, Place]]


def groups_of(metric: str, place: Place) -> list[Group]:
    """The groups that a cell of any model is in: that of all languages, and that of its own one or two."""
    levels = [(*level, "condition") for level in _LEVELS] if metric in PER_CONDITION else _LEVELS
    orders = [place]
    if metric == CONSENSUS:
        orders.append(place._replace(language=place.other_language))
    found = {(level, kept(order, level)): None for order in orders for level in levels}
    return list(found)


def shared_cells(store: duckdb.DuckDBPyConnection, models: int) -> dict[str, SharedCells]:
    """By metric, those in which some of the models lack a number that others have. `measured_values` is there."""
    by_metric: dict[str, list[tuple[Place, frozenset[str]]]] = defaultdict(list)
    for metric, *place, having in store.execute(_CELLS).fetchall():
        by_metric[metric].append((Place(EVERY, *place), frozenset(having or ())))
    return {
        metric: _shared(metric, cells)
        for metric, cells in by_metric.items()
        if any(0 < len(having) < models for _, having in cells)
    }


def _shared(metric: str, cells: list[tuple[Place, frozenset[str]]]) -> SharedCells:
    known: dict[Group, Counter[str]] = defaultdict(Counter)
    sizes: Counter[Group] = Counter()
    for place, having in cells:
        for group in groups_of(metric, place):
            known[group].update(having)
            sizes[group] += bool(having)
    compared = {
        group: frozenset(model for model, count in counts.items() if count >= LEAST * sizes[group])
        for group, counts in known.items()
    }
    shared = (
        (group, place)
        for place, having in cells
        for group in groups_of(metric, place)
        if compared[group] and compared[group] <= having
    )
    return SharedCells(sizes, compared, frozenset(shared))
