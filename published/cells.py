"""Numbers that papers print, `published("camellia")`: a row is a cell of a table, keyed as a run's `numbers` are.

`*` is a mean over all values of a facet, `-` says that there is none or that the paper does not tell. Each paper has a
file of its cells; `models.tsv` says which repository or version each of their models is.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
MODELS = "models"
PAPERS = tuple(sorted(file.stem for file in FOLDER.glob("*.tsv") if file.stem != MODELS))
NONE = "-"
UNITS = {"percent": 0.01, "share": 1.0, "index": 1.0, "p": 1.0, "count": 1.0, "words": 1.0, "characters": 1.0}
UNITS |= {"thousand": 1e3, "million": 1e6, "billion": 1e9}


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberKey:
    """What a number is, and of what: the columns by which a run's numbers are matched with a paper's cells."""

    measure: str  # as in `numbers`; 'data' of counts of data
    metric: str
    model: str = NONE  # one name a model, however the table spells it
    dataset: str = NONE
    language: str = NONE
    culture: str = NONE
    topic: str = NONE
    condition: str = NONE
    facets: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedCell(NumberKey):
    """A cell of a paper's table."""

    paper: str  # one of `PAPERS`
    table: str  # as the paper counts its tables; 'figure 4a'; 'text', where `row` is the section
    row: str  # heads as printed, those of several lines joined
    column: str
    value: Decimal  # as printed, in `unit`; its error is half a unit of the last place
    unit: str  # one of `UNITS`
    model_id: str = NONE  # the repository or version that the paper names
    method: str = NONE
    reader: str = NONE
    spread: Decimal | None = None
    spread_kind: str = NONE  # 'sd' | 'variance'
    section: str = NONE  # of the paper, that says how it was made
    note: str = NONE  # what the paper gets wrong, or leaves open

    @property
    def number(self) -> float:
        """The value as `numbers` have it: a share where the paper prints per cent."""
        return float(self.value) * UNITS[self.unit]

    @property
    def name(self) -> str:
        """The model, or else the row."""
        return self.row if self.model == NONE else self.model


@cache
def published(paper: str) -> tuple[PublishedCell, ...]:
    """The cells of a paper of `PAPERS`."""
    ids = {row["model"]: row["model_id"] for row in _rows(MODELS) if row["paper"] == paper}
    return tuple(_cell(paper, ids, row) for row in _rows(paper))


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (FOLDER / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


def _cell(paper: str, ids: Mapping[str, str], row: Mapping[str, str]) -> PublishedCell:
    words: dict[str, Any] = {**row, "paper": paper, "model_id": ids.get(row["model"], NONE)}
    words["value"] = _number(words["value"])
    words["spread"] = None if words["spread"] == NONE else _number(words["spread"])
    pairs = [pair.partition("=") for pair in words["facets"].split(";") if pair != NONE]
    words["facets"] = {name: value for name, _, value in pairs}
    return PublishedCell(**words)


def _number(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))
