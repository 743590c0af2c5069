"""Published figures as rows: those that come along with a paper, and a user's own in the same form.

A row is a cell of a paper's table. The form: `docs/papers.md`.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from polyculture.cache.errors import DataSetError

UNITS = {"percent": 0.01, "share": 1.0, "count": 1.0, "index": 1.0}


@dataclass(frozen=True, slots=True)
class PublishedCell:
    """A number that a paper prints."""

    paper: str  # the name of its command: 'camel'
    table: str  # as the paper counts its tables and figures
    measure: str  # 'granularity', ...: as the files of this paper are named
    row: str  # the model, as the paper names it; as the experiment does, where both are to stand beside one another
    column: str  # 'food', 'names, female', 'average', ...
    language: str
    culture: str
    setting: str  # '' where it is not known, or there is none
    value: float  # a share where the paper prints per cent
    protocol: str  # how the paper made it, in words
    source: str


def read_published(file: Path) -> tuple[PublishedCell, ...]:
    """The cells of a table with tabs. Raises `DataSetError` that names the line and what is wrong with it."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise DataSetError("cannot be read as a table of published figures", where=file, remedy=_REMEDY) from fault
    reader = csv.DictReader(text.splitlines(), delimiter="\t")
    lacking = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
    if lacking:
        raise DataSetError(f"no column {lacking[0]!r}", where=file, remedy=_REMEDY)
    return tuple(_cell(file, reader.line_num, row) for row in reader)


_COLUMNS = ("unit", *(field.name for field in fields(PublishedCell)))
_REMEDY = "Its columns, with tabs between them: see docs/papers.md."


def _cell(file: Path, line: int, row: Mapping[str, str | None]) -> PublishedCell:
    words = {name: (row[name] or "").strip() for name in _COLUMNS}
    unit, value = words.pop("unit"), words.pop("value")
    if unit not in UNITS:
        remedy = f"Write one of {', '.join(UNITS)}."
        raise DataSetError(f"line {line}: unit {unit!r} is not known", where=file, remedy=remedy)
    try:
        number = float(value) * UNITS[unit]
    except ValueError as fault:
        raise DataSetError(f"line {line}: value {value!r} is no number", where=file, remedy=_REMEDY) from fault
    return PublishedCell(value=number, **words)
