"""CSV and TSV, with a header."""

from __future__ import annotations

import csv
from pathlib import Path

from polyculture.cache.errors import UserError
from polyculture.imports.record import LONGEST_LINE, BadRow, Reader, Record, Rows, shown

_SEPARATORS = ("\t", ";", ",")


def read_separated(path: Path, _inputs: Path | None = None) -> Rows:
    """The rows of a file by its header. A row with another number of cells is told, not guessed at.

    Raises `UserError` where there is no header, or where a column stands twice.
    """
    csv.field_size_limit(LONGEST_LINE)
    # A byte that is no UTF-8 becomes a lone surrogate: only the row that holds it is refused.
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        first = file.readline(LONGEST_LINE)
        if "\0" in first:
            raise UserError("is no CSV in UTF-8", where=path, remedy="Write it anew as UTF-8.")
        separator = max(_SEPARATORS, key=first.count)
        file.seek(0)
        rows = csv.reader(file, delimiter=separator, strict=True)
        header = [name.strip() for name in next(rows, [])]
        twice = sorted({name for name in header if header.count(name) > 1})
        if not header or twice:
            what = f"has the column {twice[0]!r} twice" if twice else "has no header"
            raise UserError(what, where=path, remedy="The first line must name each column once.")
        while True:
            try:
                cells = next(rows, None)
            except csv.Error as fault:
                yield BadRow(str(rows.line_num), f"no CSV: {fault}")
                continue
            if cells is None:
                return
            if cells and len(cells) != len(header):
                reason = f"has {len(cells)} cells, and the header {len(header)}"
                yield BadRow(str(rows.line_num), reason, shown(separator.join(cells)))
            elif cells:
                # A cell cannot say that it is missing otherwise than by being empty.
                yield Record(str(rows.line_num), {k: v or None for k, v in zip(header, cells, strict=True)})


READER = Reader(
    "csv",
    "CSV or TSV with a header; separated by comma, semicolon or tab",
    lambda path: path.suffix.lower() in (".csv", ".tsv"),
    read_separated,
    {},
)
