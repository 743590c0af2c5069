"""Spreadsheets and text tables as rows under their column names, with the row number that a person sees."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from python_calamine import CalamineError, CalamineWorkbook

from polyculture.cache.errors import DataSetError
from polyculture.instruments.datasets.model import SourceLocation

SUFFIXES = (".xlsx", ".xls", ".ods", ".csv", ".tsv")
HEADER = 1  # the row of the column names, as a person counts


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table. Cells are text without the spaces around it; columns are known by their name in lower case."""

    file: str
    name: str | None
    header: tuple[str, ...]  # as written
    rows: tuple[tuple[str, ...], ...]

    def place(self, row: int | None = None) -> SourceLocation:
        return SourceLocation(self.file, self.name, row)

    def column(self, names: Sequence[str]) -> int | None:
        """The index of the first of these columns that exists."""
        known = {_plain(title): number for number, title in reversed(list(enumerate(self.header)))}
        return next((known[_plain(name)] for name in names if _plain(name) in known), None)

    def numbered(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """The rows with their numbers, those without any text left out."""
        return ((number, row) for number, row in enumerate(self.rows, start=HEADER + 1) if any(row))


def read_sheets(folder: Path, path: Path) -> list[Sheet]:
    """All sheets of a file; a sheet without any text is none.

    Raises `DataSetError` where the file cannot be read.
    """
    file = path.relative_to(folder).as_posix()
    try:
        tables = _read_text(path) if path.suffix.lower() in (".csv", ".tsv") else _read_workbook(path)
    except (OSError, CalamineError, csv.Error) as fault:
        raise DataSetError(f"cannot be read: {fault}", where=path, remedy="Save or fetch it again.") from fault
    sheets = [(name, [tuple(_text(cell) for cell in row) for row in rows]) for name, rows in tables]
    return [Sheet(file, name, rows[0], tuple(rows[1:])) for name, rows in sheets if any(map(any, rows))]


def _read_workbook(path: Path) -> list[tuple[str | None, list[list[Any]]]]:
    with CalamineWorkbook.from_path(path) as book:
        return [(name, book.get_sheet_by_name(name).to_python(skip_empty_area=False)) for name in book.sheet_names]


def _read_text(path: Path) -> list[tuple[str | None, list[list[Any]]]]:
    file = io.StringIO(_decoded(path.read_bytes()), newline="")
    if path.suffix.lower() == ".tsv":
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    else:
        rows = _read_csv(file)
    return [(None, [list(row) for row in rows])]


def _decoded(data: bytes) -> str:
    """The text. Raises `csv.Error`, with the row, for a byte that is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        row = fault.object.count(b"\n", 0, fault.start) + 1
        raise csv.Error(f"row {row}: it is not in UTF-8 (byte 0x{fault.object[fault.start]:02x})") from fault


def _read_csv(file: TextIO) -> list[list[str]]:
    """The rows. Raises `csv.Error` for an unclosed quotation mark, which would merge later rows into one cell."""
    rows: list[list[str]] = []
    try:
        rows.extend(csv.reader(file, strict=True))
    except csv.Error as fault:
        raise csv.Error(f"row {len(rows) + 1}: {fault}; is a quotation mark open?") from fault
    return rows


def _text(cell: Any) -> str:
    """A workbook knows no whole numbers: the book 1984 is 1984.0 there."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell).strip()


def _plain(title: str) -> str:
    return " ".join(title.split()).casefold()
