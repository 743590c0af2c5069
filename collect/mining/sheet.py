"""Annotators' sheets: writes them, and reads them back after editing in a spreadsheet.

A row is identified by its `id`, which no spreadsheet converts to a number, a date or a formula; rows may be sorted,
filtered and annotated. Annotators agree on the words of their judgements: yes and no, or the cultures of an entity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.errors import StoreError
from polyculture.cache.spreadsheet import read_sheet_rows

COUNT_COLUMNS = ("id", "entity", "language", "count", "documents", "chosen")
KEPT_COLUMNS = ("language", "count", "documents", "patterns", "context_1", "context_2", "context_3")
SHEET_COLUMNS = ("id", "entity", "judgement", "note", *KEPT_COLUMNS)
_REMEDY = "Give a file of polyculture corpus mine, or a sheet of polyculture corpus mine export."

SheetRow = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AnnotatedSheet:
    """An annotator's sheet: rows by id, and the judgements of those that have one."""

    annotator: str
    rows: Mapping[str, SheetRow]
    judgements: Mapping[str, str]


def sheet_rows(counts: Path, limit: int | None, every: bool) -> list[list[str]]:
    """The rows of a sheet from a file of counts, in its order: the chosen n-grams, or every one.

    Raises `StoreError` for a file that `polyculture corpus mine` did not write.
    """
    rows = [row for row in read_sheet_rows(counts, COUNT_COLUMNS, _REMEDY) if every or row["chosen"].lower() == "true"]
    return [[row.get(name) or "" for name in SHEET_COLUMNS] for row in rows[:limit]]


def read_sheet(path: Path) -> AnnotatedSheet:
    """A sheet with its judgements, in lower case. Raises `StoreError` for any other file, or a repeated row."""
    rows: dict[str, SheetRow] = {}
    for row in read_sheet_rows(path, ("id", "entity", "judgement"), _REMEDY):
        if row["id"] in rows:
            what = f"has the row {row['id']} ({row['entity']}) twice"
            raise StoreError(what, where=path, remedy="Remove one of the two.")
        rows[row["id"]] = row
    judged = {key: row["judgement"].strip().casefold() for key, row in rows.items()}
    return AnnotatedSheet(path.stem, rows, {key: judgement for key, judgement in judged.items() if judgement})
