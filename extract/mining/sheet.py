"""Sheets for annotators: what is written for them, and what is read back after a spreadsheet has been at it.

A row is known by its `id`, which no spreadsheet takes for a number, a date or a formula; rows may be sorted, filtered
and annotated further. The judgement is a word of the annotators' choosing, the same for all of them: yes and no, or the
cultures that an entity belongs to.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cache.errors import StoreError

COUNT_COLUMNS = ("id", "entity", "language", "count", "documents", "chosen")
KEPT_COLUMNS = ("language", "count", "documents", "patterns", "context_1", "context_2", "context_3")
SHEET_COLUMNS = ("id", "entity", "judgement", "note", *KEPT_COLUMNS)
_DELIMITERS = ",;\t"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Sheet:
    """An annotator's sheet as it came back: rows by id, and the judgements of those that have one."""

    annotator: str
    rows: Mapping[str, Row]
    judgements: Mapping[str, str]


def sheet_rows(counts: Path, limit: int | None, every: bool) -> list[list[str]]:
    """The rows of a sheet from a file of counts, in its order: the chosen n-grams, or every one.

    Raises `StoreError` for a file that is not of `polyculture mine`.
    """
    rows = [row for row in read_csv(counts, COUNT_COLUMNS) if every or row["chosen"].lower() == "true"]
    return [[row.get(name) or "" for name in SHEET_COLUMNS] for row in rows[:limit]]


def read_sheet(path: Path) -> Sheet:
    """A sheet with its judgements, in lower case. Raises `StoreError` where it is none, or has a row twice."""
    rows: dict[str, Row] = {}
    for row in read_csv(path, ("id", "entity", "judgement")):
        if row["id"] in rows:
            what = f"has the row {row['id']} ({row['entity']}) twice"
            raise StoreError(what, where=path, remedy="Remove one of the two.")
        rows[row["id"]] = row
    judged = {key: row["judgement"].strip().casefold() for key, row in rows.items()}
    return Sheet(path.stem, rows, {key: judgement for key, judgement in judged.items() if judgement})


def read_csv(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a CSV file that must have these columns, as Polyculture or a spreadsheet writes it.

    Raises `StoreError`, naming the file, where it cannot be read, is in another encoding or lacks a column.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as fault:
        raise StoreError("is not UTF-8", where=path, remedy="Save it from the spreadsheet as: CSV UTF-8.") from fault
    except OSError as fault:
        raise StoreError(f"cannot be read: {fault.strerror}", where=path, remedy="Check the path.") from fault
    header = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=header.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, restval="")
    missing = [name for name in columns if name not in (reader.fieldnames or ())]
    if missing:
        remedy = "Give a file of polyculture mine, or a sheet of polyculture mine export."
        raise StoreError(f"has no column {missing[0]!r}", where=path, remedy=remedy)
    return [{name: _plain(value) for name, value in row.items() if name} for row in reader if row["id"]]


def _plain(value: str) -> str:
    """A cell without the apostrophe that keeps a spreadsheet from taking it for a formula."""
    return value[1:] if value.startswith("'") and value[1:].startswith(_FORMULA) else value
