"""Tables: CSV and TSV, workbooks, Parquet."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import chain, count, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from polyculture.cache.errors import UserError
from polyculture.cache.spreadsheet import open_workbook
from polyculture.cache.workbook import WorkSheet
from polyculture.sources.compressed import plain
from polyculture.sources.headers import KnownColumns, header_of, named, plain_title
from polyculture.sources.record import LONGEST_LINE, MOST_COLUMNS, BadRow, ReadRecords, Record, known_names, shown

if TYPE_CHECKING:
    import pyarrow as pa

_SEPARATORS = "\t;,|"
_LINE_BREAK = re.compile(r"\r\n?|\n")
_PROMPTFOO = re.compile(r"\[[^\[\]]+\] ")
_SEP = re.compile('"?sep=(.)"?')
_CHUNK = 2**20
_BATCH_CELLS = 200_000
TITLE = "is above the header: a title, a note or a head over columns"
LOOKED_AT = 12  # rows below the first, in which the header may be
_FIRST_LINE = "Its first line must name the columns."
_OPEN_AT_END = "unexpected end of data"  # as `csv` says it
_OWN_NAMES = "Each column that is read needs a name of its own."


@cache
def usual_columns(told: frozenset[str] = frozenset()) -> KnownColumns:
    """What columns of texts are usually called, or `told` by who reads them; each column is read."""
    usual = (name for names in known_names()["names"].values() for name in names)
    return KnownColumns(frozenset(map(plain_title, (*usual, *told))), all_columns=True)


def read_separated(path: Path, encoding: str, known: KnownColumns | None = None, *, quoted: bool = True) -> ReadRecords:
    """The rows of a CSV or TSV by its header. A row with another number of cells is reported, not guessed at, and
    so are lines that an open quotation mark makes one row.

    `quoted`: False where a quotation mark is a sign like any other, as in tables that nobody's spreadsheet wrote. A
    table whose quotation marks do not match is read so, too (`unmatched_quotes`).

    Raises `UserError` where it cannot be read, and in a table of people where a quotation mark stays open: it would
    merge later rows into one cell.
    """
    known = known or usual_columns()
    quoted = quoted and not (known.by_people and path.suffix.lower() == ".tsv")  # people's have signs, not quotation
    unmatched = quoted and not known.by_people and unmatched_quotes(path, encoding, known)
    try:
        with _open(path, encoding) as file:
            rows = _rows_of(file, path, known, quoted=quoted, unmatched=unmatched)
            start = [*rows] if known.by_people else [*islice(rows, 1 + LOOKED_AT)]
            yield from _headed(start, rows, known, path)
    except UnicodeDecodeError as fault:
        remedy = "Save it as UTF-8. If it holds no text: the content says what a file is, whatever its name."
        raise UserError(f"is no text: broken {encoding} ({fault.reason})", where=path, remedy=remedy) from fault


NumberedRow = tuple[str, list[str]]


def _rows_of(
    file: IO[str], path: Path, known: KnownColumns, *, quoted: bool, unmatched: bool
) -> Iterator[NumberedRow | BadRow]:
    """The rows of a text table with their lines; in place of one that is no CSV, why."""
    first, *more = (file.readline(LONGEST_LINE) for _ in range(1 + LOOKED_AT))
    file.seek(0)
    quote = '"' if quoted and not unmatched else None
    separator = separator_of(path, first, more, known)
    lines = csv.reader(file, delimiter=separator, strict=True, quotechar=quote)
    if _told(first):
        next(lines)
    widths = Counter[int]()
    for row in count(1):
        start = lines.line_num + 1
        try:
            cells = next(lines, None)
        except csv.Error as fault:
            if known.by_people:
                what = f"cannot be read: row {row}: {fault}; is a quotation mark open?"
                raise UserError(what, where=path, remedy="Save or fetch it again.") from fault
            yield _broken(start, lines.line_num, known, str(fault))
            continue
        if cells is None:
            return
        usual = max(widths, key=lambda width: widths[width], default=0) if lines.line_num > start else 0
        lost = not known.by_people and len(cells) != usual
        if usual and _swallows(cells, separator, usual, is_lost=lost):
            yield _broken(start, lines.line_num, known)
            continue
        widths[len(cells)] += 1
        yield str(lines.line_num), [*map(_unquoted, cells)] if unmatched else cells


def _broken(start: int, end: int, known: KnownColumns, fault: str = "") -> BadRow:
    """Why the lines from `start` to `end` are no row: a quotation mark makes them one, or what the reader says."""
    at_end = fault == _OPEN_AT_END
    if start == end:
        return BadRow(str(start), "a quotation mark stays open in the last line" if at_end else f"no CSV: {fault}")
    what = "stays open" if at_end or not fault else "stays open, or is not doubled"
    lines = f"lines {start} to {end}{', the last of the file,' if at_end else ''} are in one cell"
    remedy = "Close it" if known.all_columns else "Close it, or write quotes = false"
    return BadRow(str(start), f"a quotation mark {what}: {lines} ({end - start + 1:,} lines). {remedy}")


def _headed(
    start: Sequence[NumberedRow | BadRow],
    rest: Iterator[NumberedRow | BadRow],
    known: KnownColumns,
    path: Path,
    *,
    notes: bool = False,
) -> ReadRecords:
    """The rows below the header of a table, which is among its first rows, and what is above it.

    `notes`: cells beyond the header are notes, as people write them beside a table in a workbook. In a text table they
    are damage: a separator within a cell that nobody quoted.
    """
    table = [row for row in start if not isinstance(row, BadRow) and any(cell.strip() for cell in row[1])]
    widths = Counter(len(cells) for _, cells in table)
    if not table and (bad := next((row for row in start if isinstance(row, BadRow)), None)) is not None:
        raise UserError(f"is no CSV: {bad.reason}", where=path, remedy=_FIRST_LINE)
    header, columns = None, [str(number) for number in range(widths.most_common(1)[0][0] if widths else 0)]
    if known.header and (table or known.all_columns):
        names = [[cell.strip("\ufeff \t\r\n") for cell in cells] for _, cells in table]
        top = header_of(names, known) if names else 0
        if top is None:
            yield BadRow(table[0][0], f"no row of column names, and {len(table)} rows are not read. Name the columns.")
            return
        if len(table) == 1 and not (known.all_columns or any(plain_title(cell) in known.names for cell in names[0])):
            yield BadRow(table[0][0], "is the only row of its table, and names no column that is read", lost=False)
            return
        width = max(len(cells) for _, cells in table[top:]) if notes else 0
        columns = _columns(names[top] if names else [], width, known, path)
        header = table[top][0]
    is_below = header is None
    for row in chain(start, rest):
        if isinstance(row, BadRow):
            if not is_below:
                raise UserError(f"is no CSV: {row.reason}", where=path, remedy=_FIRST_LINE)
            yield row
            continue
        number, cells = row
        if not is_below:
            is_below = number == header
            if not is_below and any(cells):
                yield BadRow(number, TITLE, shown(" ".join(filter(None, cells))), lost=False)
        elif any(cells) or (known.all_columns and cells):
            yield _row(number, columns, [*cells, *[""] * (len(columns) - len(cells))] if known.by_people else cells)


def _columns(header: list[str], width: int, known: KnownColumns, path: Path) -> list[str]:
    """The keys of a table's columns. Raises `UserError` where two have a name that is read, unless people wrote it: the
    first of them counts then."""
    while header and not header[-1]:
        header = header[:-1]
    _bounded(header, path)
    if any(map(_PROMPTFOO.match, header)):  # whose table has a column `Status` for each model
        before = Counter[str]()
        for place, name in enumerate(header):
            before[name] += 1
            header[place] = name if before[name] == 1 else f"{name} ({before[name]})"
    read = Counter(name for name in header if known.all_columns or plain_title(name) in known.names)
    twice = next((name for name, times in read.items() if times > 1), None)
    if (twice is not None and not known.by_people) or (known.all_columns and not any(header)):
        what = f"has the column {twice!r} twice" if any(header) else "has no header"
        remedy = "The first line must name each column once." if known.all_columns else _OWN_NAMES
        raise UserError(what, where=path, remedy=remedy)
    return header if known.all_columns else named(header, width)


def unmatched_quotes(path: Path, encoding: str, known: KnownColumns | None = None) -> bool:
    """Whether the quotation marks of a table are words of its texts: with them rows are broken or swallowed by a cell,
    and without them each line has as many cells as the header."""
    path = plain(path)
    return _unmatched_quotes(path, encoding, known or usual_columns(), path.stat().st_mtime_ns, path.stat().st_size)


@lru_cache(maxsize=256)
def _unmatched_quotes(path: Path, encoding: str, known: KnownColumns, _changed: int, _size: int) -> bool:
    with path.open("rb") as raw:
        if not any(b'"' in chunk for chunk in iter(lambda: raw.read(_CHUNK), b"")):
            return False
    with _open(path, encoding) as file:
        first, *more = (file.readline(LONGEST_LINE) for _ in range(1 + LOOKED_AT))
        separator = separator_of(path, first, more, known)
        file.seek(0)
        with suppress(csv.Error):
            rows = csv.reader(file, delimiter=separator, strict=True)
            if not any(_swallows(cells, separator) for cells in rows):
                return False
        file.seek(0)
        counts = Counter(len(cells) for cells in csv.reader(file, delimiter=separator, quoting=csv.QUOTE_NONE) if cells)
    return len(counts) == 1 and min(counts) > 1


def _swallows(cells: Sequence[str], separator: str, usual: int = 0, *, is_lost: bool = False) -> bool:
    """Whether a cell of a row holds other rows: a line with as many cells, of which one is as in this row; or first and
    last lines that are the ends of two such rows.

    `usual`: how many cells the rows before it have. Without it, tabs alone make a line a row. `is_lost`: the row cannot
    be read anyway, so that it needs no cell of the same text.
    """
    for place, cell in enumerate(cells):
        first, *others = _LINE_BREAK.split(cell) if "\n" in cell or "\r" in cell else (cell,)
        if not others:
            continue
        start, *lines = (one.split(separator) for one in (first, *others))
        if is_lost and 1 < usual in (place + len(start), *map(len, lines)):
            return True
        for line in lines:
            same = any(one and one == cells[at] for at, one in enumerate(line[: len(cells)]) if at != place)
            if 1 < len(line) in (len(cells), usual) and (same or (separator == "\t" and not usual)):
                return True
        end, after = lines[-1][:-1], cells[place + 1 :]
        if place == len(end) and len(after) == len(start) - 1 and end and after:
            pairs = (*zip(start[1:], after, strict=True), *zip(end, cells, strict=False))
            if any(one and one == other for one, other in pairs):
                return True
    return False


def _open(path: Path, encoding: str) -> IO[str]:
    """A byte that is no UTF-8 becomes a lone surrogate: the row that holds it is refused."""
    csv.field_size_limit(LONGEST_LINE)
    if encoding == "utf-8":
        return path.open(encoding="utf-8-sig", errors="surrogateescape", newline="")
    return path.open(encoding=encoding, newline="")


def _unquoted(cell: str) -> str:
    """A cell without the marks around it, where those within are doubled as a table's writer would have it."""
    inner = cell[1:-1]
    whole = len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if whole else cell


def read_workbook(path: Path, known: KnownColumns | None = None) -> ReadRecords:
    """The rows of the first sheet that is a table, and of others with the same columns, in any order."""
    known = known or usual_columns()
    header: list[str] | None = None
    first, sheets = "", open_workbook(path)
    for place, sheet in enumerate(sheets):
        name = sheet.name
        if sheet.is_hidden:
            yield BadRow(f"{name}!1", "is a hidden sheet, and is not read: unhide it", lost=False)
            continue
        _fill_merged(sheet, across=False)  # a model above its answers; a head over columns names none of them
        cells_of = (list(map(_cell, row[sheet.left :])) for row in sheet.rows)
        rows = ((number, cells) for number, cells in enumerate(cells_of, 1) if any(cells))
        start = list(islice(rows, 1 + LOOKED_AT))
        if not start:
            continue
        for _ in range(header_of([cells for _, cells in start], known) or 0):
            number, cells = start.pop(0)
            yield BadRow(f"{name}!{number}", TITLE, shown(" ".join(filter(None, cells))), lost=False)
        number, cells = start.pop(0)
        alone = len(list(filter(None, cells))) == 1
        if header is None and alone and any(other.width > 1 for other in sheets[place + 1 :]):
            yield BadRow(f"{name}!{number}", "is a sheet of notes before the table", shown(" ".join(cells)), lost=False)
            continue
        columns = _columns([name.strip("\ufeff \t") for name in cells], 0, known, path)
        if header is None:
            header, first = columns, name
        elif sorted(columns) != sorted(header):
            yield BadRow(f"{name}!{number}", f"the columns of this sheet are not those of {first}")
            continue
        for line, cells in chain(start, rows):
            yield _row(f"{name}!{line}", columns, cells)
    if header is None:
        raise UserError("is an empty workbook", where=path, remedy="Name the file with the texts.")


def read_known_workbook(path: Path, known: KnownColumns) -> ReadRecords:
    """The rows of each sheet under its own header, which has the names that are known. What a merged cell says is said
    in all its cells."""
    for sheet in open_workbook(path):
        if sheet.is_hidden and not known.by_people:
            yield BadRow(f"{sheet.name}!1", "is a hidden sheet: unhide it", lost=False)
            continue
        _fill_merged(sheet, across=True)
        rows = [(f"{sheet.name}!{number}", [*map(_cell, row)]) for number, row in enumerate(sheet.rows, 1)]
        yield from _headed(rows, iter(()), known, path, notes=known.by_people)


def read_parquet(path: Path) -> ReadRecords:
    """The rows of a file, batch by batch."""
    return _rows_of_batches(_parquet_batches(path), path, "Parquet")


def read_arrow(path: Path) -> ReadRecords:
    """The rows of a file of Arrow: a stream, as `datasets` writes one, or a file with an index (Feather)."""
    return _rows_of_batches(_arrow_batches(path), path, "Arrow")


def _parquet_batches(path: Path) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        _bounded(file.schema_arrow.names, path)
        yield from file.iter_batches(max(1, min(1_000, _BATCH_CELLS // max(1, file.metadata.num_columns))))


def _arrow_batches(path: Path) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    with path.open("rb") as raw:
        indexed = raw.read(6) == b"ARROW1"
    with pa.memory_map(str(path)) as file:
        if indexed:
            reader = pa.ipc.open_file(file)
            yield from (reader.get_batch(place) for place in range(reader.num_record_batches))
        else:
            yield from pa.ipc.open_stream(file)


def _rows_of_batches(batches: Iterable[pa.RecordBatch], path: Path, kind: str) -> ReadRecords:
    """The rows of batches. Raises `UserError` where the file breaks off, or is none of its kind."""
    import pyarrow as pa

    number = 0
    try:
        for batch in batches:
            _bounded(batch.schema.names, path)
            for values in batch.to_pylist():
                number += 1
                yield Record(str(number), values)
    except (pa.ArrowException, UnicodeDecodeError, OSError) as fault:
        where = f"is no {kind} file that can be read, after row {number}: {shown(fault)}"
        raise UserError(where, where=path, remedy="Get the file again.") from fault


def _fill_merged(sheet: WorkSheet, *, across: bool) -> None:
    """Writes what a merged cell says into each row that it reaches down to; with `across`, into each column, too."""
    for (top, left), (bottom, right) in sheet.merged:
        end = 1 + (right if across else left)
        for row in sheet.rows[top : bottom + 1]:
            row[left:end] = sheet.rows[top][left : left + 1] * len(row[left:end])  # none of a cell beyond the table


def separator_of(path: Path, first: str, more: Sequence[str], known: KnownColumns) -> str:
    """What separates the cells of a table, by its first line and the `LOOKED_AT` below it: where the first is a title,
    it says nothing of them."""
    if (told := _told(first)) is not None:
        return told[1]
    if path.suffix.lower() == ".tsv" and any("\t" in line for line in (first, *more)):
        return "\t"
    usual = max(_SEPARATORS, key="".join(more).count)
    rows = [[cell.strip() for cell in cells] for cells in _split([first, *more], usual)]
    titled = any(map(any, rows)) and header_of(rows, known)
    return usual if titled else max(_SEPARATORS, key=lambda one: (_alike([first, *more], one), first.count(one)))


def _told(first: str) -> re.Match[str] | None:
    """The separator, as a spreadsheet writes it for itself."""
    return _SEP.fullmatch(first.strip("\ufeff\r\n"))


def _split(lines: Sequence[str], separator: str) -> list[list[str]]:
    """The rows of the first lines; none where they are none."""
    try:
        return [cells for cells in csv.reader(lines, delimiter=separator) if any(cells)]
    except (ValueError, csv.Error):
        return []


def _alike(lines: Sequence[str], separator: str) -> int:
    """How many rows have as many cells as the first one, if it has several. A sign within quotation marks is text."""
    widths = [len(cells) for cells in _split(lines, separator)]
    return widths.count(widths[0]) if widths and widths[0] > 1 else 0


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
