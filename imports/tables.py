"""Tables: CSV and TSV, workbooks, Parquet."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from polyculture.cache.errors import UserError
from polyculture.cache.spreadsheet import open_workbook
from polyculture.imports.record import LONGEST_LINE, MOST_COLUMNS, BadRow, Record, Rows, shown

_SEPARATORS = "\t;,|"
_SEP = re.compile('"?sep=(.)"?')
_BATCH_CELLS = 200_000
TITLE = "is a title above the header"
LOOKED_AT = 5  # lines below what may be a title
_LONGEST_NAME = 60  # characters of a column's name below a title


def read_separated(path: Path, encoding: str, *, quoted: bool = True) -> Rows:
    """The rows of a file by its header. A row with another number of cells is reported, not guessed at.

    `quoted`: False where a quotation mark is a sign like any other, as in tables that nobody's spreadsheet wrote.
    """
    try:
        yield from _rows_of_lines(path, encoding, '"' if quoted else None)
    except UnicodeDecodeError as fault:
        remedy = "Save it as UTF-8. If it holds no text: the content says what a file is, whatever its name."
        raise UserError(f"is no text: broken {encoding} ({fault.reason})", where=path, remedy=remedy) from fault
    except csv.Error as fault:  # of the header: those of rows are rows that are refused
        raise UserError(f"is no CSV: {fault}", where=path, remedy="Its first line must name the columns.") from fault


def _rows_of_lines(path: Path, encoding: str, quote: str | None) -> Rows:
    csv.field_size_limit(LONGEST_LINE)
    # A byte that is no UTF-8 becomes a lone surrogate: the row that holds it is refused.
    codec = "utf-8-sig" if encoding == "utf-8" else encoding
    with path.open(encoding=codec, errors="surrogateescape" if codec == "utf-8-sig" else "strict", newline="") as file:
        first, *more = (file.readline(LONGEST_LINE) for _ in range(1 + LOOKED_AT))
        told, below, separator = _told(first), _below_title(first, more), separator_of(first, more)
        file.seek(0)
        rows = csv.reader(file, delimiter=separator, strict=True, quotechar=quote)
        if told or below:
            next(rows)
        if below and not told:
            yield BadRow("1", TITLE, shown(first), lost=False)
        header = _header(next((cells for cells in rows if cells), []), path)
        while True:
            try:
                cells = next(rows, None)
            except csv.Error as fault:
                yield BadRow(str(rows.line_num), f"no CSV: {fault}")
                continue
            if cells is None:
                return
            if cells:
                yield _row(str(rows.line_num), header, cells)


def read_workbook(path: Path) -> Rows:
    """The rows of the first sheet that is a table, and of others with the same columns, in any order."""
    from python_calamine import CalamineError

    try:
        yield from _rows_of_sheets(path)
    except CalamineError as fault:  # of the XML of a sheet, which is read as its rows are
        raise UserError(
            f"is a broken workbook: {fault}", where=path, remedy="Save it again, or as CSV UTF-8."
        ) from fault


def _rows_of_sheets(path: Path) -> Rows:
    with open_workbook(path) as book:
        header: list[str] | None = None
        first, sheets = "", book.sheet_names
        for place, name in enumerate(sheets):
            cells_of = (list(map(_cell, row)) for row in book.get_sheet_by_name(name).iter_rows())
            rows = ((number, cells) for number, cells in enumerate(cells_of, 1) if any(cells))
            number, cells = next(rows, (0, list[str]()))
            if not cells:
                continue
            second = next(rows, None)
            if second is not None and len(list(filter(None, cells))) == 1 and _names_columns(second[1]):
                yield BadRow(f"{name}!{number}", TITLE, shown(" ".join(cells)), lost=False)
                (number, cells), second = second, None
            later = (book.get_sheet_by_name(other) for other in sheets[place + 1 :])
            if header is None and len(list(filter(None, cells))) == 1 and any(other.width > 1 for other in later):
                yield BadRow(
                    f"{name}!{number}", "is a sheet of notes before the table", shown(" ".join(cells)), lost=False
                )
                continue
            columns = _header(cells, path)
            if header is None:
                header, first = columns, name
            elif sorted(columns) != sorted(header):
                yield BadRow(f"{name}!{number}", f"the columns of this sheet are not those of {first}")
                continue
            for line, cells in chain([] if second is None else [second], rows):
                yield _row(f"{name}!{line}", columns, cells)
        if header is None:
            raise UserError("is an empty workbook", where=path, remedy="Name the file with the texts.")


def read_parquet(path: Path) -> Rows:
    """The rows of a file, batch by batch."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(path) as file:
            _bounded(file.schema_arrow.names, path)
            for batch in file.iter_batches(max(1, min(1_000, _BATCH_CELLS // max(1, file.metadata.num_columns)))):
                for values in batch.to_pylist():
                    number += 1
                    yield Record(str(number), values)
    except (pa.ArrowException, UnicodeDecodeError, OSError) as fault:
        where = f"is no Parquet file that can be read, after row {number}: {shown(fault)}"
        raise UserError(where, where=path, remedy="Get the file again.") from fault


def separator_of(first: str, more: Sequence[str]) -> str:
    """What separates the cells of a table, by its first line and the `LOOKED_AT` below it."""
    told = _told(first)
    return told[1] if told else _below_title(first, more) or max(_SEPARATORS, key=first.count)


def _told(first: str) -> re.Match[str] | None:
    """The separator, as a spreadsheet writes it for itself."""
    return _SEP.fullmatch(first.strip("\ufeff\r\n"))


def _below_title(first: str, lines: Sequence[str]) -> str | None:
    """The separator of a table below a title, which is one cell of several words; None where there is no title."""
    separator = max(_SEPARATORS, key="".join(lines).count)
    try:
        rows = csv.reader([first, *lines], delimiter=separator)
        title, *table = (list(filter(None, cells)) for cells in rows if any(cells))
    except (ValueError, csv.Error):
        return None
    is_table = len(table) > 1 and _names_columns(table[0]) and all(1 < len(row) <= len(table[0]) for row in table)
    return separator if len(title) == 1 and " " in title[0].strip() and is_table else None


def _names_columns(cells: Sequence[str]) -> bool:
    """Whether cells are names of several columns, rather than a text and what is said of it."""
    names = list(filter(None, cells))
    return len(names) > 1 and len(set(names)) == len(names) and max(map(len, names)) <= _LONGEST_NAME


def _header(cells: list[str], path: Path) -> list[str]:
    names = [name.strip("\ufeff \t") for name in cells]
    while names and not names[-1]:
        names.pop()
    _bounded(names, path)
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if not any(names) or twice is not None:
        what = f"has the column {twice!r} twice" if twice is not None and any(names) else "has no header"
        raise UserError(what, where=path, remedy="The first line must name each column once.")
    return names


def _bounded(names: Sequence[str], path: Path) -> None:
    if len(names) > MOST_COLUMNS:
        what = f"has {len(names)} columns; at most {MOST_COLUMNS} are read"
        raise UserError(
            what, where=path, remedy="Is it turned round? A text is a row, and what is said of it a column."
        )


def _row(row: str, header: list[str], cells: list[str]) -> Record | BadRow:
    if len(cells) > len(header) and not any(cells[len(header) :]):  # of columns without a name
        cells = cells[: len(header)]
    if len(cells) != len(header):
        return BadRow(row, f"has {len(cells)} cells, and the header {len(header)}", shown(" | ".join(cells)))
    return Record(row, dict(zip(header, cells, strict=True)), nulls=False)


def _cell(value: Any) -> str:
    """A cell as CSV would hold it. A workbook knows no whole numbers: 7 is 7.0 there."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)
