"""Reads sheets that people filled in: CSV as Polyculture or any spreadsheet writes it."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from polyculture.cache.errors import StoreError

_DELIMITERS = ",;\t"
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r")


def read_sheet_rows(path: Path, columns: Sequence[str], remedy: str) -> list[dict[str, str]]:
    """The rows of a CSV file that must have these columns. The first is a row's id; rows without one are left out.

    Raises `StoreError`, naming the file, where it cannot be read, is in another encoding or lacks a column; `remedy`
    says what to give instead.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as fault:
        raise StoreError("is not UTF-8", where=path, remedy="Save it from the spreadsheet as: CSV UTF-8.") from fault
    except OSError as fault:
        raise StoreError(f"cannot be read: {fault.strerror}", where=path, remedy="Check the path.") from fault
    header = text.partition("\n")[0]
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(_DELIMITERS, key=header.count), restval="")
    missing = [name for name in columns if name not in (reader.fieldnames or ())]
    if missing:
        raise StoreError(f"has no column {missing[0]!r}", where=path, remedy=remedy)
    return [{name: _plain(value) for name, value in row.items() if name} for row in reader if row[columns[0]]]


def _plain(value: str) -> str:
    """A cell without the apostrophe that keeps a spreadsheet from taking it for a formula."""
    return value[1:] if value.startswith("'") and value[1:].startswith(_FORMULA) else value
