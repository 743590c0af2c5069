"""Tables: CSV and TSV, workbooks, Parquet."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from polyculture.cache.errors import UserError
from polyculture.cache.spreadsheet import open_workbook
from polyculture.cache.workbook import WorkSheet
from polyculture.sources.compressed import plain
from polyculture.sources.headers import DEEPEST, KnownColumns, header_of, named, plain_title
from polyculture.sources.record import LONGEST_LINE, MOST_COLUMNS, BadRow, Record, Rows, folded, known_names, shown

_SEPARATORS = "\t;,|"
_PROMPTFOO = re.compile(r"\[[^\[\]]+\] ")
_SEP = re.compile('"?sep=(.)"?')
_CHUNK = 2**20
_BATCH_CELLS = 200_000
TITLE = "is above the header: a title, a note or a head over columns"
LOOKED_AT = 12  # rows below the first, in which the header may be
_LONGEST_NAME = 60  # characters of a column's name below a title


def read_separated(path: Path, encoding: str, *, quoted: bool = True) -> Rows:
    """The rows of a file by its header. A row with another number of cells is reported, not guessed at.

    `quoted`: False where a quotation mark is a sign like any other, as in tables that nobody's spreadsheet wrote. A
    table whose quotation marks do not match is read so, too (`unmatched_quotes`).
    """
    try:
        unmatched = quoted and unmatched_quotes(path, encoding)
        yield from _rows_of_lines(path, encoding, '"' if quoted and not unmatched else None, unmatched)
    except UnicodeDecodeError as fault:
        remedy = "Save it as UTF-8. If it holds no text: the content says what a file is, whatever its name."
        raise UserError(f"is no text: broken {encoding} ({fault.reason})", where=path, remedy=remedy) from fault
    except csv.Error as fault:  # of the header: those of rows are rows that are refused
        raise UserError(f"is no CSV: {fault}", where=path, remedy="Its first line must name the columns.") from fault


def read_known(path: Path, encoding: str, known: KnownColumns, *, quoted: bool = True) -> Rows:
    """The rows of a CSV or TSV under the header that has the names that are known.

    Raises `UserError` where it cannot be read, and in a table of people where a quotation mark stays open: it would
    merge later rows into one cell.
    """
    quoted = quoted and not (known.by_people and path.suffix.lower() == ".tsv")  # people's have signs, not quotation
    unmatched = quoted and not known.by_people and unmatched_quotes(path, encoding)
    rows: list[tuple[str, list[str]] | BadRow] = []
    try:
        with _open(path, encoding) as file:
            first, *more = (file.readline(LONGEST_LINE) for _ in range(1 + LOOKED_AT))
            separator = "\t" if path.suffix.lower() == ".tsv" else separator_of(first, more)
            file.seek(0)
            lines = csv.reader(
                file, delimiter=separator, strict=True, quotechar='"' if quoted and not unmatched else None
            )
            if _told(first):
                next(lines)
            while True:
                try:
                    cells = next(lines, None)
                except csv.Error as fault:
                    if known.by_people:
                        what = f"cannot be read: row {len(rows) + 1}: {fault}; is a quotation mark open?"
                        raise UserError(what, where=path, remedy="Save or fetch it again.") from fault
                    rows.append(BadRow(str(lines.line_num), f"no CSV: {fault}"))
                    continue
                if cells is None:
                    break
                rows.append((str(lines.line_num), [*map(_unquoted, cells)] if unmatched else cells))
    except UnicodeDecodeError as fault:
        raise UserError(
            f"is no text: broken {encoding} ({fault.reason})", where=path, remedy="Save it as UTF-8."
        ) from fault
    yield from _headed(rows, known, path)


def _headed(
    rows: Sequence[tuple[str, list[str]] | BadRow], known: KnownColumns, path: Path, *, notes: bool = False
) -> Rows:
    """The rows below the header of a table, and what is above it.

    `notes`: cells beyond the header are notes, as people write them beside a table in a workbook. In a text table they
    are damage: a separator within a cell that nobody quoted.
    """
    table = [row for row in rows if not isinstance(row, BadRow) and any(cell.strip() for cell in row[1])]
    top, columns = -1, [str(number) for number in range(max((len(cells) for _, cells in table), default=0))]
    if table and known.header:
        names = [[cell.strip("\ufeff \t\r\n") for cell in cells] for _, cells in table]
        header = header_of(names if known.by_people else names[:DEEPEST], known)
        if header is None:
            yield BadRow(table[0][0], f"no row of column names, and {len(table)} rows are not read. Name the columns.")
            return
        top = header
        if len(table) == 1 and not any(plain_title(cell) in known.names for cell in names[0]):
            yield BadRow(table[0][0], "is the only row of its table, and names no column that is read", lost=False)
            return
        width = max(len(cells) for _, cells in table[top:]) if notes else 0
        columns = _columns(names[top], width, known, path)
    for number, cells in table[: max(top, 0)]:
        yield BadRow(number, TITLE, shown(" ".join(filter(None, cells))), lost=False)
    above = {number for number, _ in table[: top + 1]}
    for row in rows:
        if isinstance(row, BadRow):
            yield row
        elif row[0] not in above and any(row[1]):
            number, cells = row
            yield _row(number, columns, [*cells, *[""] * (len(columns) - len(cells))] if known.by_people else cells)


def _columns(header: list[str], width: int, known: KnownColumns, path: Path) -> list[str]:
    """The keys of a table's columns. Raises `UserError` where two have a name that is read, unless people wrote it: the
    first of them counts then."""
    while header and not header[-1]:
        header = header[:-1]
    _bounded(header, path)
    read = Counter(name for name in header if plain_title(name) in known.names)
    twice = next((name for name, times in read.items() if times > 1), None)
    if twice and not known.by_people:
        what = f"has the column {twice!r} twice"
        raise UserError(what, where=path, remedy="Each column that is read needs a name of its own.")
    return named(header, width)


def unmatched_quotes(path: Path, encoding: str) -> bool:
    """Whether the quotation marks of a table are words of its texts: with them rows are broken or swallowed by a cell,
    and without them each line has as many cells as the header."""
    path = plain(path)
    return _unmatched_quotes(path, encoding, path.stat().st_mtime_ns, path.stat().st_size)


@lru_cache(maxsize=256)
def _unmatched_quotes(path: Path, encoding: str, _changed: int, _size: int) -> bool:
    with path.open("rb") as raw:
        if not any(b'"' in chunk for chunk in iter(lambda: raw.read(_CHUNK), b"")):
            return False
    with _open(path, encoding) as file:
        first, *more = (file.readline(LONGEST_LINE) for _ in range(1 + LOOKED_AT))
        separator = separator_of(first, more)
        file.seek(0)
        with suppress(csv.Error):
            rows = csv.reader(file, delimiter=separator, strict=True)
            if not any(_swallows(cells, separator) for cells in rows):
                return False
        file.seek(0)
        counts = Counter(len(cells) for cells in csv.reader(file, delimiter=separator, quoting=csv.QUOTE_NONE) if cells)
    return len(counts) == 1 and min(counts) > 1


def _swallows(cells: Sequence[str], separator: str) -> bool:
    """Whether a cell of a row holds other rows: lines with as many cells, of which one is as in this row."""
    for place, cell in enumerate(cells):
        for line in cell.split("\n")[1:] if "\n" in cell else ():
            others = line.split(separator)
            same = any(one and one == cells[at] for at, one in enumerate(others[: len(cells)]) if at != place)
            if len(others) == len(cells) > 1 and (separator == "\t" or same):
                return True
    return False


def _open(path: Path, encoding: str) -> IO[str]:
    """A byte that is no UTF-8 becomes a lone surrogate: the row that holds it is refused."""
    csv.field_size_limit(LONGEST_LINE)
    if encoding == "utf-8":
        return path.open(encoding="utf-8-sig", errors="surrogateescape", newline="")
    return path.open(encoding=encoding, newline="")


def _rows_of_lines(path: Path, encoding: str, quote: str | None, unmatched: bool) -> Rows:
    with _open(path, encoding) as file:
        first, *more = (file.readline(LONGEST_LINE) for _ in range(1 + LOOKED_AT))
        told, separator = _told(first), separator_of(first, more)
        file.seek(0)
        rows = csv.reader(file, delimiter=separator, strict=True, quotechar=quote)
        if told:
            next(rows)
        for _ in range(0 if told else _above_header(_split([first, *more], separator))):
            title = next(cells for cells in rows if any(cells))
            yield BadRow(str(rows.line_num), TITLE, shown(" ".join(filter(None, title))), lost=False)
        header = _header(next((cells for cells in rows if any(cells)), []), path)
        while True:
            try:
                cells = next(rows, None)
            except csv.Error as fault:
                yield BadRow(str(rows.line_num), f"no CSV: {fault}")
                continue
            if cells is None:
                return
            if cells:
                yield _row(str(rows.line_num), header, [*map(_unquoted, cells)] if unmatched else cells)


def _unquoted(cell: str) -> str:
    """A cell without the marks around it, where those within are doubled as a table's writer would have it."""
    inner = cell[1:-1]
    whole = len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if whole else cell


def read_workbook(path: Path) -> Rows:
    """The rows of the first sheet that is a table, and of others with the same columns, in any order."""
    header: list[str] | None = None
    first, sheets = "", open_workbook(path)
    for place, sheet in enumerate(sheets):
        name = sheet.name
        if sheet.is_hidden:
            yield BadRow(f"{name}!1", "is a hidden sheet, and is not read: unhide it", lost=False)
            continue
        cells_of = _merged(sheet, (list(map(_cell, row[sheet.left :])) for row in sheet.rows))
        rows = ((number, cells) for number, cells in enumerate(cells_of, 1) if any(cells))
        start = list(islice(rows, 1 + LOOKED_AT))
        for _ in range(_above_header([cells for _, cells in start])):
            number, cells = start.pop(0)
            yield BadRow(f"{name}!{number}", TITLE, shown(" ".join(filter(None, cells))), lost=False)
        if not start:
            continue
        number, cells = start.pop(0)
        alone = len(list(filter(None, cells))) == 1
        if header is None and alone and any(other.width > 1 for other in sheets[place + 1 :]):
            yield BadRow(f"{name}!{number}", "is a sheet of notes before the table", shown(" ".join(cells)), lost=False)
            continue
        columns = _header(cells, path)
        if header is None:
            header, first = columns, name
        elif sorted(columns) != sorted(header):
            yield BadRow(f"{name}!{number}", f"the columns of this sheet are not those of {first}")
            continue
        for line, cells in chain(start, rows):
            yield _row(f"{name}!{line}", columns, cells)
    if header is None:
        raise UserError("is an empty workbook", where=path, remedy="Name the file with the texts.")


def read_known_workbook(path: Path, known: KnownColumns) -> Rows:
    """The rows of each sheet under its own header, which has the names that are known. What a merged cell says is said
    in all its cells."""
    for sheet in open_workbook(path):
        if sheet.is_hidden and not known.by_people:
            yield BadRow(f"{sheet.name}!1", "is a hidden sheet: unhide it", lost=False)
            continue
        for (top, left), (bottom, right) in sheet.merged:
            for row in sheet.rows[top : bottom + 1]:
                row[left : right + 1] = [sheet.rows[top][left]] * len(row[left : right + 1])
        rows = [(f"{sheet.name}!{number}", [*map(_cell, row)]) for number, row in enumerate(sheet.rows, 1)]
        yield from _headed(rows, known, path, notes=known.by_people)


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


def read_arrow(path: Path) -> Rows:
    """The rows of a file of Arrow: a stream, as `datasets` writes one, or a file with an index (Feather)."""
    import pyarrow as pa

    number = 0
    try:
        with path.open("rb") as raw:
            indexed = raw.read(6) == b"ARROW1"
        with pa.memory_map(str(path)) as file:
            if indexed:
                reader = pa.ipc.open_file(file)
                batches = (reader.get_batch(place) for place in range(reader.num_record_batches))
            else:
                batches = (batch for batch in pa.ipc.open_stream(file))
            for batch in batches:
                _bounded(batch.schema.names, path)
                for values in batch.to_pylist():
                    number += 1
                    yield Record(str(number), values)
    except (pa.ArrowException, UnicodeDecodeError, OSError) as fault:
        where = f"is no Arrow file that can be read, after row {number}: {shown(fault)}"
        raise UserError(where, where=path, remedy="Get the file again.") from fault


def _merged(sheet: WorkSheet, rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """The rows with what a merged cell says in each row that it reaches down to: a model above its answers."""
    down = {top: right for top, right in sheet.merged if top[0] < right[0]}
    said = dict[tuple[int, int], str]()
    for number, cells in enumerate(rows):
        for top, bottom in down.items():
            place = top[1] - sheet.left
            if top[0] <= number <= bottom[0] and 0 <= place < len(cells):
                cells[place] = said.setdefault(top, cells[place])
        yield cells


def separator_of(first: str, more: Sequence[str]) -> str:
    """What separates the cells of a table, by its first line and the `LOOKED_AT` below it."""
    told = _told(first)
    usual = max(_SEPARATORS, key="".join(more).count)
    return (
        told[1]
        if told
        else usual
        if _above_header(_split([first, *more], usual))
        else max(_SEPARATORS, key=first.count)
    )


def _told(first: str) -> re.Match[str] | None:
    """The separator, as a spreadsheet writes it for itself."""
    return _SEP.fullmatch(first.strip("\ufeff\r\n"))


def _split(lines: Sequence[str], separator: str) -> list[list[str]]:
    """The rows of the first lines; none where they are none."""
    try:
        return [cells for cells in csv.reader(lines, delimiter=separator) if any(cells)]
    except (ValueError, csv.Error):
        return []


def _above_header(rows: Sequence[Sequence[str]]) -> int:
    """How many of the first rows are above a header: of one cell, with words, or heads over several columns."""
    filled = [len(list(filter(None, cells))) for cells in rows]
    above = next((place for place, cells in enumerate(filled) if cells > 1), 0)
    header, *table = rows[above:] or [[]]
    is_table = _names_columns(header) and all(1 < cells <= len(header) for cells in filled[above + 1 :])
    if above and not (table and is_table and any(" " in (cell or "").strip() for row in rows[:above] for cell in row)):
        return 0
    over = table and "" in header[: len(table[0])] and "" not in table[0] and filled[above] < filled[above + 1]
    usual = {folded(name) for words in known_names()["names"].values() for name in words}
    return above + 1 if over and len(usual & set(map(folded, table[0]))) > 1 else above


def _names_columns(cells: Sequence[str]) -> bool:
    """Whether cells are names of several columns, rather than a text and what is said of it."""
    names = list(filter(None, cells))
    return len(names) > 1 and len(set(names)) == len(names) and max(map(len, names)) <= _LONGEST_NAME


def _header(cells: list[str], path: Path) -> list[str]:
    names = [name.strip("\ufeff \t") for name in cells]
    while names and not names[-1]:
        names.pop()
    _bounded(names, path)
    if any(map(_PROMPTFOO.match, names)):  # whose table has a column `Status` for each model
        before = Counter[str]()
        for place, name in enumerate(names):
            before[name] += 1
            names[place] = name if before[name] == 1 else f"{name} ({before[name]})"
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
