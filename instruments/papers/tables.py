"""The layout of a paper's tables: from its published cells, or of what is in figures alone from `tables.toml`.

A printed table has its model either in its rows or in its columns. What else stands in a cell's heads says what its
number is of; the same place of one's own model has the same heads.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from polyculture.cache.store.schema.measured import EVERY
from polyculture.instruments.papers.own import OwnNumber
from polyculture.published.cells import NONE, PublishedCell

_NO_RESULTS = ("data", "model", "tokens", "agreement")  # measures of published cells that no model of one's own has
_DIGITS = {"percent": 2, "share": 4}  # decimals of what is in figures alone
_PERCENT = ("camel", "camellia")
ALL = "all"  # the row of numbers that are of no part, where a figure has a row a part
NO_COLUMN = "without"  # the head of numbers that have none of a figure's columns


class Heads(NamedTuple):
    """A cell's place in a table, without its model."""

    row: str
    column: str


@dataclass(frozen=True)
class PaperTable:
    """A table's layout."""

    paper: str
    name: str  # as the paper counts it: '14', 'figure 4'
    title: str
    cells: Sequence[tuple[PublishedCell, Heads]] = ()
    across: bool = False  # models stand in the columns
    where: Mapping[str, Any] = field(default_factory=dict)  # of what is in figures alone
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    digits: int | None = None
    without: Mapping[str, str] = field(
        default_factory=dict
    )  # of what is in figures alone: numbers that another one has
    every: str = "average"  # what a number over all topics, languages or cultures is called

    @property
    def file(self) -> str:
        """The stem of its files."""
        stem = self.name if self.name[0].isalpha() else f"table {self.name}"
        return "-".join(re.findall(r"\w+", stem))

    @property
    def measures(self) -> frozenset[str]:
        """What measures its numbers."""
        return frozenset([self.where["measure"]] if self.where else (cell.measure for cell, _ in self.cells))

    def is_of(self, one: OwnNumber) -> bool:
        """Whether a number is of what the table measures, and of its data."""
        if self.where:
            wanted = self.where["measure"], self.where.get("dataset", one.dataset)
            return wanted == (one.measure, one.dataset)
        return (one.measure, one.dataset) in {(cell.measure, cell.dataset) for cell, _ in self.cells}

    @property
    def drawn_unit(self) -> str:
        """The unit of the paper's figures."""
        return "percent" if self.paper in _PERCENT else "share"

    @cached_property
    def _places(self) -> Mapping[tuple[Any, ...], Heads]:
        return {_place(one): heads for one, heads in reversed(self.cells)}

    def place_of(self, one: OwnNumber) -> Heads | None:
        """Where a number stands in it; None where it does not."""
        if not self.where:
            return self._places.get(_place(one))
        wanted = {key: [value] if isinstance(value, str) else value for key, value in self.where.items()}
        if any(_facet(one, key) not in values for key, values in wanted.items()):
            return None
        if any(_facet(one, key) == value for key, value in self.without.items()):
            return None
        if one.facets.keys() - {*wanted, *self.rows, *self.columns}:
            return None  # it is of a part that the table does not tell apart
        words: Mapping[str, str] = _layouts()["words"]
        said = [
            [words.get(found, found) for key in keys if (found := _facet(one, key)) != NONE]
            for keys in (self.rows, self.columns)
        ]
        row, column = (", ".join(dict.fromkeys(some)).replace(EVERY, self.every) for some in said)
        return Heads(row or (ALL if self.rows else ""), column or NO_COLUMN)

    def unit(self, one: OwnNumber, heads: Heads) -> tuple[str, int]:
        """In which unit a number is shown, and with how many decimals: as the paper prints its place."""
        if self.where:
            return self.drawn_unit, _DIGITS[self.drawn_unit] if self.digits is None else self.digits
        # Where models stand in the columns, one's own has no printed column: all cells say its unit and decimals.
        printed = [cell for cell, place in self.cells if place.column == heads.column] or [
            cell for cell, _ in self.cells
        ]
        found = {cell.unit for cell in printed if _place(cell) == _place(one)} or {cell.unit for cell in printed}
        if found == {"count"} and one.measure == "sentiment":
            return self.drawn_unit, _DIGITS[self.drawn_unit]
        return min(found), max(places(cell.value) for cell in printed)


def _facet(one: OwnNumber, name: str) -> str:
    """A column, or else a facet; '-' where it has none."""
    found = getattr(one, name, None)
    return found if isinstance(found, str) else one.facets.get(name, NONE)


def places(value: Decimal) -> int:
    """Decimals, as printed."""
    return max(0, -int(value.as_tuple().exponent))


def _place(one: OwnNumber | PublishedCell) -> tuple[Any, ...]:
    """What a number is of. How a model's kind was asked (`form`) is no part of it."""
    facets = frozenset((name, value) for name, value in one.facets.items() if name != "form")
    return one.measure, one.metric, one.dataset, one.language, one.culture, one.topic, one.condition, facets


@cache
def _layouts() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("tables.toml").read_text(encoding="utf-8"))


def paper_tables(paper: str, cells: Sequence[PublishedCell]) -> Iterator[PaperTable]:
    """The tables of a paper, as `tables.toml` lists them; `cells` are the published ones."""
    comparable = [rate for one in cells if one.measure not in _NO_RESULTS and (rate := _as_rate(one, cells))]
    for entry in _layouts()[paper]:
        name, title = entry["table"], entry["title"]
        if "where" in entry:
            yield PaperTable(
                paper, name, title, (), False, entry["where"], entry.get("rows", ()), entry["columns"],
                entry.get("digits"), entry.get("without", {}), entry.get("every", PaperTable.every),
            )  # fmt: skip
        else:
            yield _printed(paper, name, title, [one for one in comparable if one.table == name])


def _as_rate(one: PublishedCell, cells: Sequence[PublishedCell]) -> PublishedCell | None:
    """A count of wrong sentiments as a share of the texts of its set, where the paper prints how many these are.

    Its average over languages is of counts on sets of unequal sizes: None. A count whose size is not printed stays.
    """
    if one.measure != "sentiment" or one.unit != "count":
        return one
    sizes = {cell.language: cell.value for cell in cells if (cell.measure, cell.metric) == ("data", "texts")
             and cell.condition == one.condition}  # fmt: skip
    if one.language == EVERY and not any(cell.table == one.table and cell.language == "en" for cell in cells):
        return None
    if one.language not in sizes:
        return one
    rate = (100 * one.value / sizes[one.language]).quantize(Decimal("0.01"))
    printed = f"printed as a count of {sizes[one.language]} texts"
    return replace(one, value=rate, unit="percent", note=printed if one.note == NONE else f"{printed}; {one.note}")


def _printed(paper: str, name: str, title: str, cells: Sequence[PublishedCell]) -> PaperTable:
    """The layout of published cells: the model is taken out of the head that it stands in."""
    of_rows: dict[str, set[str]] = {}
    for one in cells:
        of_rows.setdefault(one.row, set()).add(one.model)
    across = any(len(models) > 1 for models in of_rows.values())
    heads = {id(one): (one.column if across else one.row).split() for one in cells}
    words = {one.model: set(heads[id(one)]) for one in cells}
    for one in cells:
        words[one.model] &= set(heads[id(one)])
    others = {model: {w for c in cells if c.model != model for w in heads[id(c)]} for model in words}
    placed = []
    for one in cells:
        named = set() if one.model == NONE else words[one.model] - others[one.model]
        rest = " ".join(word for word in heads[id(one)] if word not in named)
        placed.append((one, Heads(one.row, rest) if across else Heads(rest, one.column)))
    return PaperTable(paper, name, title, placed, across)
