"""A run's numbers beside the published ones: one CSV with a line per cell of the study's tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.cache.schema.measured import EVERY
from polyculture.published.cells import NONE, PublishedCell
from polyculture.reports.escaping import table_text
from polyculture.reports.paper_tables.study_tables import OVERVIEW, WHOLE, StudyCell, StudyTable

COLUMNS = (
    "paper", "table", "measure", "row", "column", "language", "setting", "value", "low", "high", "no_interval", "ours",
    "linked_items", "responses", "cells", "missing", "thin", "published", "published_protocol", "differs",
    "note", "file",
)  # fmt: skip
_COUNTS = ("linked_items", "responses", "cells", "missing")
_DIGITS = 6
_UNKNOWN = "not compared: no published figure is known here"
_UNMEASURED = "not compared: this run has no number here"
_OURS = "extraction, linking and snapshot are this run's"
Place = tuple[str, str, str, str]


@dataclass(frozen=True)
class Beside:
    """A run's numbers with the published ones of the same measure, place and model."""

    published: Sequence[PublishedCell]
    cells: Sequence[StudyCell]
    manifest: Manifest | None

    @cached_property
    def _theirs(self) -> Mapping[Place, list[PublishedCell]]:
        found: dict[Place, list[PublishedCell]] = {}
        for one in self.published:
            found.setdefault(published_place(one), []).append(one)
        return found

    def of(self, cell: StudyCell) -> PublishedCell | None:
        """The published number of a cell: the first of its place and model."""
        return next((one for one in self._theirs.get(_place(cell), ()) if one.is_of(cell.model)), None)

    @cached_property
    def _met(self) -> frozenset[int]:
        found = (self.of(cell) for cell in self.cells if cell.value is not None)
        return frozenset(id(one) for one in found if one)

    def matched(self, some: Sequence[PublishedCell]) -> int:
        """How many of some published numbers have one of the run's beside them."""
        return sum(id(one) in self._met for one in some)

    def below(self, table: StudyTable) -> list[PublishedCell]:
        """The published numbers of a table's places, and of its setting where no place is the same."""
        places = {_place(cell) for cell in table.cells}
        return [one for one in self.published if published_place(one) in places]

    def text(self) -> str:
        """A line per cell, then the published numbers that no number of this run stands beside."""
        lines = [*map(self._line, self.cells), *map(self._alone, self._left())]
        return table_text(pd.DataFrame(lines, columns=list(COLUMNS)).astype(dict.fromkeys(_COUNTS, "Int64")))

    def _left(self) -> Iterator[PublishedCell]:
        return (one for one in self.published if id(one) not in self._met)

    def _line(self, cell: StudyCell) -> dict[str, Any]:
        theirs = self.of(cell) if cell.value is not None else None
        line = {
            "paper": "makieval", "measure": cell.measure, "row": cell.model, "column": cell.column,
            "language": cell.language, "setting": cell.setting, "value": rounded(cell.value),
            "low": rounded(cell.low), "high": rounded(cell.high), "no_interval": cell.no_interval,
            "ours": rounded(cell.ours), "linked_items": cell.linked_items, "responses": cell.responses,
            "cells": cell.cells, "missing": cell.missing, "thin": cell.thin, "differs": _UNKNOWN, "file": _file(cell),
        }  # fmt: skip
        if cell.value is None and cell.measure == "granularity" and cell.ours is not None:
            line["differs"] = "the study defines no specific kinds for these topics: column ours"
        return line if theirs is None else {**line, **_theirs(theirs), "differs": self._differences()}

    def _alone(self, one: PublishedCell) -> dict[str, Any]:
        measure, language, column, setting = published_place(one)
        where = {"paper": one.paper, "measure": measure, "row": one.name, "column": column}
        return {**where, "language": language, "setting": setting, **_theirs(one), "differs": _UNMEASURED}

    def _differences(self) -> str:
        """What is known of this run that a published number may not share."""
        if self.manifest is None:
            return _OURS
        sizes = [
            _counted(len(self.manifest.languages), "language"), _counted(len(self.manifest.topics), "topic"),
            f"{len(self.manifest.countries)} {'country' if len(self.manifest.countries) == 1 else 'countries'}",
            f"{_counted(self.manifest.n, 'response')} a prompt",
        ]  # fmt: skip
        return f"{_OURS}; {', '.join(sizes)}"


def _place(cell: StudyCell) -> Place:
    return cell.measure, cell.language, cell.column, cell.setting


def published_place(one: PublishedCell) -> Place:
    """The table by country, pair, topic or language that a number stands in; else the overview."""
    topic, language, country, condition = (
        "" if word in (NONE, EVERY) else word for word in (one.topic, one.language, one.culture, one.condition)
    )
    if column := one.facets.get("other_language") or country:
        return one.metric, language, column, condition
    return one.metric, "", topic or language or WHOLE, condition


def _theirs(one: PublishedCell) -> dict[str, Any]:
    note = None if one.note == NONE else one.note
    return {"table": one.table, "published": one.number, "published_protocol": one.protocol, "note": note}


def _file(cell: StudyCell) -> str:
    alone = ("", "") if cell.kind == OVERVIEW else (cell.measure, cell.setting)
    return StudyTable(cell.kind, *alone, ()).name


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def rounded(value: float | None) -> float | None:
    """A number with six digits: threads add up in any order."""
    return None if value is None else round(value, _DIGITS)
