"""Reads the data of the intervals: small sums per cell, and the items of one topic at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from polyculture.cache.sql_file import read_sql
from polyculture.metrics.intervals.assemblage import Assemblage, assemblage
from polyculture.metrics.intervals.ratio import Numbers

_OWN = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell under its number; `diversity` is None where its items are not known."""

    number: int
    model: str
    language: str
    topic: str
    condition: str
    country: str | None
    wording: str
    responses: int
    diversity: int | None
    wordings: int  # in how many wordings the same was asked
    texts: int
    distinct_texts: int  # within their prompt


@dataclass(frozen=True, slots=True)
class Sums:
    """The responses of a cell, those with equal sums in one row: how many, and what they add to a ratio."""

    responses: Numbers
    numerators: Numbers  # a row each; of a neutral cell a column per country
    denominators: Numbers


class CellReader:
    """A store with its cells numbered, read model by model. Uses temporary tables of the connection."""

    def __init__(self, store: duckdb.DuckDBPyConnection) -> None:
        self._store = store
        store.execute(read_sql(_OWN, "cell_data"))
        rows = store.execute("SELECT * FROM measured_cells ORDER BY cell").fetchall()
        cells = [Cell(*row) for row in rows]
        self.cells_of = {model: list(group) for model, group in groupby(cells, key=lambda cell: cell.model)}
        asked = store.execute("SELECT DISTINCT country FROM neutral_countries ORDER BY country").fetchall()
        self.column_of: dict[str, int] = {country: column for column, (country,) in enumerate(asked)}
        self.uncovered = frozenset(store.execute("SELECT topic, country FROM uncovered_countries").fetchall())
        self.defined_topics = {topic for (topic,) in store.execute("FROM defined_topics").fetchall()}
        self.countries: list[str] = [row[0] for row in store.execute("FROM countries ORDER BY country").fetchall()]

    def load(self, model: str) -> None:
        """Loads the items of `model`."""
        self._store.execute("DELETE FROM linked_items")
        items = "SELECT * EXCLUDE (model) FROM every_linked_item WHERE model = $model"
        self._store.execute(f"INSERT INTO linked_items {items}", {"model": model})

    def values(self, model: str) -> list[tuple[Any, ...]]:
        """The values of a model's cells: rows of `measured_values`."""
        return self._store.execute(
            "FROM measured_values WHERE model = $model ORDER BY ALL", {"model": model}
        ).fetchall()

    def granularity(self) -> Mapping[int, Sums]:
        """Per cell: the sum of labels over linked items, of the loaded model. An item counts once per response."""
        return self._sums("granularity_sums")

    def without_country(self) -> Mapping[int, Sums]:
        """Per cell: items of which no country is known over linked items, of the loaded model."""
        return self._sums("without_country_sums")

    def specificity(self) -> Mapping[int, Sums]:
        """Per cell that names a country: associated items over linked items, of the loaded model."""
        return self._sums("specificity_sums")

    def neutral_specificity(self) -> Mapping[int, Sums]:
        """Per neutral cell: items associated with a country, each in its column (`column_of`), over linked items.

        Of the loaded model.
        """
        rows = self._store.execute("FROM neutral_specificity_sums ORDER BY ALL").fetchall()
        found = {}
        for cell, group in groupby(rows, key=lambda row: int(row[0])):
            patterns = list(group)
            numerators = np.zeros((len(patterns), len(self.column_of)))
            for number, (_, _, associated, _) in enumerate(patterns):
                for one in associated:
                    numerators[number, self.column_of[one["country"]]] = one["items"]
            denominators, responses = (np.array([row[k] for row in patterns], dtype=float) for k in (1, 3))
            found[cell] = Sums(responses, numerators, denominators)
        return found

    def assemblages(self, topic: str, cells: Sequence[Cell]) -> dict[int, Assemblage]:
        """Per cell of this topic whose items are known, of the loaded model: the assemblage behind it."""
        items = "SELECT * EXCLUDE (topic) FROM topic_items WHERE topic = $topic ORDER BY ALL"
        columns = self._store.execute(items, {"topic": topic}).fetchnumpy()
        number, response, item = (np.asarray(columns[name]) for name in ("cell", "response", "item"))
        starts = np.searchsorted(number, [cell.number for cell in cells], side="left")
        ends = np.searchsorted(number, [cell.number for cell in cells], side="right")
        return {
            cell.number: assemblage(cell.responses, response[start:end], item[start:end])
            for cell, start, end in zip(cells, starts, ends, strict=True)
            if cell.diversity is not None
        }

    def _sums(self, view: str) -> Mapping[int, Sums]:
        columns = self._store.execute(f"FROM {view} ORDER BY ALL").fetchnumpy()
        cells = np.asarray(columns["cell"])
        values = [np.asarray(columns[name], dtype=float) for name in ("responses", "numerator", "denominator")]
        return {cell: Sums(*(value[rows] for value in values)) for cell, rows in _slices(cells)}


def _slices(cells: Any) -> Iterator[tuple[int, slice]]:
    """The runs of equal numbers in a sorted array."""
    numbers, starts = np.unique(cells, return_index=True)
    ends = np.append(starts[1:], len(cells))[: len(starts)]
    for number, start, end in zip(numbers.tolist(), starts.tolist(), ends.tolist(), strict=True):
        yield number, slice(start, end)
