"""The tables of the study (MAKIEval) from a run's store: the four metrics by model, language, topic and country."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from polyculture.reports.numbers import rests_on
from polyculture.reports.reading import Reading

SQL = Path(__file__).with_name("makieval.sql")
DEFINED = "granularity_defined"
MEASURES = ("granularity", "diversity", "specificity", "specificity_gain", "consensus")
OVERVIEW, BY_LANGUAGE, BY_TOPIC, BY_COUNTRY, BY_PAIR = "overview", "by-language", "by-topic", "by-country", "by-pair"
KINDS = (OVERVIEW, BY_LANGUAGE, BY_TOPIC, BY_COUNTRY, BY_PAIR)
WHOLE = "all"  # the column of a number of the whole design
_CONDITION = "explicit"  # of the overview's specificity and gain
# What a level's rows are: the kind of the table, and the column of the store that its columns are.
_LEVELS = {
    "model": (OVERVIEW, None),
    "model, condition": (OVERVIEW, None),
    "model, language": (BY_LANGUAGE, "language"),
    "model, language, condition": (BY_LANGUAGE, "language"),
    "model, topic": (BY_TOPIC, "topic"),
    "model, topic, condition": (BY_TOPIC, "topic"),
    "model, language, condition, country": (BY_COUNTRY, "country"),
    "model, language, other_language": (BY_PAIR, "other_language"),
}
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StudyCell:
    """A number of a table, with its 95 % interval and what it rests on.

    Granularity is of the topics whose specific kinds the study defines; `ours` is of all topics.
    """

    kind: str  # of the table: one of `KINDS`
    measure: str  # one of `MEASURES`
    model: str
    language: str  # of the row, where the table has a row per model and language
    column: str  # a code: 'ja', 'food', 'JP'; `WHOLE` in the overview
    setting: str  # the condition; '' for a mean over conditions
    value: float | None
    low: float | None
    high: float | None
    no_interval: str | None
    ours: float | None
    linked_items: int | None  # each counted once per response
    responses: int | None
    cells: int  # with a number: the mean is over these
    missing: int  # without one

    @property
    def thin(self) -> str | None:
        """'n = 6' where the number rests on few linked items. Of diversity few items are the result."""
        return None if self.measure == "diversity" or self.value is None else rests_on(self.linked_items)


@dataclass(frozen=True, slots=True)
class StudyTable:
    """Cells that stand in one table: all measures in the overview, else one in one setting."""

    kind: str
    measure: str
    setting: str
    cells: tuple[StudyCell, ...]

    @property
    def name(self) -> str:
        """The name of its files."""
        return "-".join(filter(None, (self.measure.replace("_", "-"), self.kind, self.setting.replace("_", "-"))))


def study_cells(reading: Reading) -> list[StudyCell]:
    """All numbers that the store has, those of one table beside one another."""
    rows = [row for row in reading.rows(SQL) if row["level"] != "model, condition" or row["condition"] == _CONDITION]
    ours = {_place(row): row["estimate"] for row in rows if row["metric"] == "granularity"}
    defined = {_place(row) for row in rows if row["metric"] == DEFINED}
    cells = [_cell(row, ours) for row in rows if row["metric"] != "granularity"]
    cells += [_undefined(row) for row in rows if row["metric"] == "granularity" and _place(row) not in defined]
    return sorted(cells, key=_order)


def study_tables(cells: Sequence[StudyCell]) -> list[StudyTable]:
    """The tables that have a number."""
    grouped = groupby(cells, key=_table_key)
    tables = [StudyTable(*key, tuple(group)) for key, group in grouped]
    return [table for table in tables if any(cell.value is not None for cell in table.cells)]


def _place(row: Row) -> tuple[Any, ...]:
    return tuple(
        row[name] for name in ("level", "model", "language", "other_language", "topic", "condition", "country")
    )


def _cell(row: Row, ours: Mapping[tuple[Any, ...], float | None]) -> StudyCell:
    measure = "granularity" if row["metric"] == DEFINED else row["metric"]
    return StudyCell(
        *_where(row, measure), row["estimate"], row["low"], row["high"], row["no_interval"],
        ours.get(_place(row)) if row["metric"] == DEFINED else row["estimate"],
        row["incidences"], row["responses"], row["cells"], row["missing"],
    )  # fmt: skip


def _undefined(row: Row) -> StudyCell:
    """A granularity of topics that the study says nothing of: our number alone."""
    where = _where(row, "granularity")
    return StudyCell(*where, None, None, None, None, row["estimate"], row["incidences"], row["responses"], 0, 0)


def _where(row: Row, measure: str) -> tuple[str, str, str, str, str, str]:
    kind, named = _LEVELS[row["level"]]
    language = row["language"] if kind in (BY_COUNTRY, BY_PAIR) else ""
    return kind, measure, row["model"], language, row[named] if named else WHOLE, row["condition"] or ""


def _table_key(cell: StudyCell) -> tuple[str, str, str]:
    return (cell.kind, "", "") if cell.kind == OVERVIEW else (cell.kind, cell.measure, cell.setting)


def _order(cell: StudyCell) -> tuple[Any, ...]:
    kind, measure, setting = _table_key(cell)
    places = KINDS.index(kind), MEASURES.index(measure) if measure else 0, setting
    return *places, cell.model, cell.language, MEASURES.index(cell.measure), cell.column
