"""Spreadsheets and text tables as rows under their column names, with the row number that a person sees."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from polyculture.cache.errors import DataSetError, UserError
from polyculture.cache.spreadsheet import is_error, open_workbook
from polyculture.cache.text.folding import fold
from polyculture.sources.encoding import UTF_8, encoding_of
from polyculture.sources.left_out import SourceLocation
from polyculture.sources.tables import LOOKED_AT, separator_of

if TYPE_CHECKING:
    from polyculture.cache.workbook import WorkSheet

_TABLES = (".csv", ".tsv")
RECORDS = (".json", ".jsonl", ".ndjson", ".parquet", ".pq")  # a row an object
SUFFIXES = (".xlsx", ".xlsm", ".xls", ".ods", *_TABLES, *RECORDS)
_LONGEST_CELL = 2**24  # characters
HEADER = 1  # the row of the column names, as a person counts, where no other row has them
_UNSEEN = "\ufeff"  # a byte order mark, also in mid-file
Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table. Cells are text without the spaces around it; columns are known by their name in lower case."""

    file: str
    name: str | None
    header: Row  # as written
    rows: tuple[Row, ...]
    header_row: int = HEADER

    def place(self, row: int | None = None) -> SourceLocation:
        return SourceLocation(self.file, self.name, row)

    def column(self, names: Sequence[str]) -> int | None:
        """The index of the first of these columns that exists."""
        known = {plain_title(title): number for number, title in reversed(list(enumerate(self.header)))}
        return next((known[plain_title(name)] for name in names if plain_title(name) in known), None)

    def numbered(self) -> Iterator[tuple[int, Row]]:
        """The rows with their numbers, those without any text left out."""
        return ((number, row) for number, row in enumerate(self.rows, start=self.header_row + 1) if any(row))

    def cells(self, column: int) -> list[str]:
        """The texts of a column, empty cells left out."""
        return [row[column] for row in self.rows if column < len(row) and row[column]]


def cell(row: Row, column: int | None) -> str:
    """The text of a column in a row; '' where the row is shorter, or there is no such column."""
    return "" if column is None or column >= len(row) else row[column]


def plain_title(title: str) -> str:
    """A column's name as names are compared: without case, underscores and repeated blanks."""
    return fold(title.replace("_", " "))


def read_sheets(folder: Path, path: Path) -> list[Sheet]:
    """All sheets of a file; a sheet without any text is none. What a merged cell says is said in all its cells.

    Raises `DataSetError` where the file cannot be read.
    """
    file = path.relative_to(folder).as_posix()
    suffix = path.suffix.lower()
    is_book = suffix in SUFFIXES and suffix not in (*_TABLES, *RECORDS)
    tables = _read_workbook(path) if is_book else _read_records(path) if suffix in RECORDS else _read_table(path)
    sheets = [(name, [tuple(_text(cell) for cell in row) for row in rows]) for name, rows in tables]
    return [Sheet(file, name, rows[0], tuple(rows[1:])) for name, rows in sheets if any(map(any, rows))]


def _read_workbook(path: Path) -> list[tuple[str | None, list[list[Any]]]]:
    return [(sheet.name, _unmerged(sheet)) for sheet in open_workbook(path)]


def _unmerged(sheet: WorkSheet) -> list[list[Any]]:
    for (top, left), (bottom, right) in sheet.merged:
        for row in sheet.rows[top : bottom + 1]:
            row[left : right + 1] = [sheet.rows[top][left]] * len(row[left : right + 1])
    return sheet.rows


def read_text(path: Path) -> str:
    """A file's text, in any encoding that `imports` reads. Raises `DataSetError`, with the row, where it is in none."""
    try:
        encoding = encoding_of(path)
        return path.read_bytes().decode("utf-8-sig" if encoding == UTF_8 else encoding)
    except UnicodeDecodeError as fault:
        row = fault.object.count(b"\n", 0, fault.start) + 1
        raise _unreadable(path, f"row {row}: it is not in UTF-8 (byte 0x{fault.object[fault.start]:02x})") from fault
    except UserError as fault:
        raise DataSetError(fault.what, where=path, remedy=fault.remedy) from fault
    except OSError as fault:
        raise _unreadable(path, str(fault)) from fault


def _read_table(path: Path) -> list[tuple[str | None, list[list[Any]]]]:
    """The rows. Raises `DataSetError` for an unclosed quotation mark, which would merge later rows into one cell."""
    text = read_text(path)
    rows: list[list[str]] = []
    first, *more = text.split("\n", 1 + LOOKED_AT)[: 1 + LOOKED_AT]
    delimiter = "\t" if path.suffix.lower() == ".tsv" else separator_of(first, more)
    # Files with tabs are written without quotation marks: one that begins a review must not take in other rows.
    quoting: Literal[0, 3] = (
        csv.QUOTE_NONE if delimiter == "\t" and path.suffix.lower() != ".csv" else csv.QUOTE_MINIMAL
    )
    csv.field_size_limit(_LONGEST_CELL)
    try:
        rows.extend(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting, strict=True))
    except csv.Error as fault:
        raise _unreadable(path, f"row {len(rows) + 1}: {fault}; is a quotation mark open?") from fault
    return [(None, [list(row) for row in rows])]


def _read_records(path: Path) -> list[tuple[str | None, list[list[Any]]]]:
    """Objects as rows under all names that they have. Raises `DataSetError` where a line is no object."""
    from polyculture.sources.files import read_file  # here: few data sets are so written
    from polyculture.sources.record import BadRow

    records = []
    for record in read_file(path):
        if isinstance(record, BadRow):
            raise _unreadable(path, f"row {record.row}: {record.reason}")
        records.append(record.values)
    names = list(dict.fromkeys(name for record in records for name in record))
    return [(None, [names, *([record.get(name) for name in names] for record in records)])]


def _unreadable(path: Path, why: str) -> DataSetError:
    return DataSetError(f"cannot be read: {why}", where=path, remedy="Save or fetch it again.")


def _text(cell: Any) -> str:
    """A workbook knows no whole numbers: the book 1984 is 1984.0 there. A formula that failed is an empty cell."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    text = "" if cell is None else str(cell).strip().strip(_UNSEEN).strip()
    return "" if is_error(text) else text
