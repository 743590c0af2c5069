"""The cells of a run, and the ratios of each with their uncertainty: granularity, specificity and its gain.

A ratio is of sums over the responses of a cell (`cells.sql`). The items of its responses are read here, too, one topic
at a time; what is counted of them stands in `assemblages`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from polyculture.cache.schema.measured import UNNAMED, WITHOUT
from polyculture.cache.sql_file import read_sql
from polyculture.metrics.intervals.assemblage import Assemblage, assemblage
from polyculture.metrics.intervals.estimate import (
    OF_COUNTRY,
    OF_LANGUAGE,
    OF_MODEL,
    OF_WORDINGS,
    Estimate,
    Level,
    Place,
    Uncertainty,
    by_condition,
    difference,
    mean,
    scaled,
)
from polyculture.metrics.intervals.ratio import Numbers, ratio_estimate

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

    @property
    def place(self) -> Place:
        """What its own numbers are of."""
        return Place(
            self.model, self.language, WITHOUT, self.topic, self.condition, self.country or UNNAMED, self.wording
        )

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels of its means. Of what was asked in one wording, that over wordings is the cell itself."""
        return OF_MODEL + OF_LANGUAGE + self.country_levels

    @property
    def country_levels(self) -> tuple[Level, ...]:
        """Those that keep the country."""
        return OF_COUNTRY + (OF_WORDINGS if self.wordings > 1 else ())


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
        store.execute(read_sql(_OWN, "cells"))
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

    def linked_by_english(self) -> Mapping[int, Sums]:
        """Per cell: items to which an English name alone leads over linked items, of the loaded model."""
        return self._sums("english_sums")

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


def add_granularity(reading: CellReader, model: str, uncertainty: Uncertainty) -> None:
    """The granularity of every cell that has linked items; that of topics which the study defines once more."""
    sums = reading.granularity()
    for cell in reading.cells_of[model]:
        estimate = _ratio(cell, sums.get(cell.number))
        if estimate is not None:
            names = ("granularity", "granularity_defined") if cell.topic in reading.defined_topics else ("granularity",)
            for name in names:
                uncertainty.add_cell(name, cell.place, estimate, cell.levels)


def add_shares(reading: CellReader, model: str, uncertainty: Uncertainty) -> None:
    """The shares of linked items without a known country, and of those that English names alone lead to, by cell."""
    for metric, sums in (
        ("share_without_country", reading.without_country()),
        ("linked_by_english", reading.linked_by_english()),
    ):
        for cell in reading.cells_of[model]:
            if (estimate := _ratio(cell, sums.get(cell.number))) is not None:
                uncertainty.add_cell(metric, cell.place, estimate, cell.levels)


def add_specificity(reading: CellReader, model: str, uncertainty: Uncertainty) -> None:
    """The specificity of every cell that has linked items, and the gain over the neutral cell."""
    sums, neutral = reading.specificity(), reading.neutral_specificity()
    by_topic = sorted(
        reading.cells_of[model], key=lambda cell: (cell.language, cell.topic, cell.wording, cell.condition, cell.number)
    )
    for _, group in groupby(by_topic, key=lambda cell: (cell.language, cell.topic, cell.wording)):
        cells = list(group)
        base = next(((cell, neutral[cell.number]) for cell in cells if cell.number in neutral), None)
        for _, same in groupby(cells, key=lambda cell: cell.condition):
            measured = {
                cell: found
                for cell in same
                if (cell.topic, cell.country) not in reading.uncovered
                and (found := _ratio(cell, sums.get(cell.number))) is not None
            }
            for cell, estimate in measured.items():
                uncertainty.add_cell("specificity", cell.place, estimate, by_condition(cell.levels))
            if base is not None:
                _add_gains(measured, *base, reading.column_of, uncertainty)
        for cell in cells:
            if cell.number in neutral:
                covered = [country for country in reading.countries if (cell.topic, country) not in reading.uncovered]
                named = {country: reading.column_of[country] for country in covered}
                _add_neutral(cell, neutral[cell.number], named, uncertainty)


def _add_neutral(cell: Cell, sums: Sums, column_of: Mapping[str, int], uncertainty: Uncertainty) -> None:
    """Specificity for every country from the same responses: a mean over countries is one ratio."""
    for country, column in column_of.items():
        estimate = _ratio(cell, sums, [column])
        if estimate is not None:
            place = cell.place._replace(country=country)
            uncertainty.add_cell("specificity", place, estimate, cell.country_levels)
    # Imported texts may be of no country at all: then there is nothing to be the mean over.
    whole = _ratio(cell, sums, list(column_of.values())) if column_of else None
    if whole is not None:
        uncertainty.add_part("specificity", by_condition(OF_MODEL + OF_LANGUAGE), cell.place, whole, len(column_of))


def _add_gains(
    measured: dict[Cell, Estimate], base: Cell, sums: Sums, column_of: Mapping[str, int], uncertainty: Uncertainty
) -> None:
    """Gains of the cells of one condition, with the common neutral responses of `base`."""
    columns = {cell: column_of[cell.country] for cell in measured if cell.country is not None}
    for cell, column in columns.items():
        neutral = _ratio(base, sums, [column])
        if neutral is not None:
            uncertainty.add_cell(
                "specificity_gain", cell.place, difference(measured[cell], neutral), cell.country_levels
            )
    neutral = _ratio(base, sums, list(columns.values())) if columns else None
    if neutral is not None:
        estimate = difference(mean(measured[cell] for cell in columns), neutral)
        uncertainty.add_part(
            "specificity_gain", by_condition(OF_MODEL + OF_LANGUAGE), next(iter(columns)).place, estimate, len(columns)
        )


def _ratio(cell: Cell, sums: Sums | None, columns: Sequence[int] = ()) -> Estimate | None:
    """The ratio of a cell; for a neutral cell, the mean of the ratios for the countries in these columns."""
    if sums is None:
        return None
    if not columns:
        return ratio_estimate(sums.responses, sums.numerators, sums.denominators, cell.responses)
    numerators = sums.numerators[:, list(columns)].sum(axis=1)
    together = ratio_estimate(sums.responses, numerators, sums.denominators, cell.responses)
    return together and scaled(together, 1 / len(columns))
