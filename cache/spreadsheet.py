"""Reads sheets that people filled in: CSV as Polyculture or any spreadsheet writes it."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from polyculture.cache.errors import StoreError

LONGEST_CELL = 131_072  # letters: more is no cell that a spreadsheet holds
_DELIMITERS = ",;\t"
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r")


def read_sheet_rows(path: Path, columns: Sequence[str], remedy: str) -> list[dict[str, str]]:
    """The rows of a CSV file that must have these columns. The first is a row's id; rows without one are left out.

    Raises `StoreError`, naming the file, where it cannot be read, is in another encoding, lacks a column or has one
    twice, and naming the row, where that is no CSV. `remedy` says what to give instead.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as fault:
        raise StoreError("is not UTF-8", where=path, remedy="Save it from the spreadsheet as: CSV UTF-8.") from fault
    except OSError as fault:
        raise StoreError(f"cannot be read: {fault.strerror}", where=path, remedy="Check the path.") from fault
    header = text.partition("\n")[0]
    csv.field_size_limit(LONGEST_CELL)  # of the whole process: readers of longer texts set another
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(_DELIMITERS, key=header.count), restval="")
    rows = list(_rows(reader, path))
    names = reader.fieldnames or ()
    missing = [name for name in columns if name not in names]
    if missing:
        raise StoreError(f"has no column {missing[0]!r}", where=path, remedy=remedy)
    twice = [name for name, times in Counter(name.strip().casefold() for name in names).items() if name and times > 1]
    if twice:
        raise StoreError(f"has the column {twice[0]!r} twice", where=path, remedy="Remove one of the two.")
    return [{name: _plain(value) for name, value in row.items() if name} for row in rows if row[columns[0]]]


def require_csv(path: Path) -> None:
    """Raises `StoreError` where a sheet that is to be written has another ending: a spreadsheet would not open it."""
    if path.suffix.casefold() != ".csv":
        what = f"a sheet is CSV, and its name ends in {path.suffix!r}" if path.suffix else "a sheet's name ends in .csv"
        raise StoreError(what, where=path, remedy=f"Name it {path.with_suffix('.csv').name}.")


def _rows(reader: csv.DictReader[str], path: Path) -> Iterator[dict[str, str]]:
    """The rows below the header, which is row 1."""
    number = 1
    try:
        for number, row in enumerate(reader, start=2):  # noqa: B007 (the number of the last row that was read)
            yield row
    except csv.Error as fault:
        broken = number + 1 if reader.line_num > 1 else 1
        what = f"cannot be read as CSV: {fault}"
        raise StoreError(what, where=f"{path}, row {broken}", remedy="Mend the row in the spreadsheet.") from fault


def _plain(value: str) -> str:
    """A cell without the apostrophe that keeps a spreadsheet from taking it for a formula."""
    return value[1:] if value.startswith("'") and value[1:].startswith(_FORMULA) else value
