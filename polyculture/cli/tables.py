"""Writes rows as terminal tables, CSV, JSON or Parquet."""

from __future__ import annotations

import io
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.cache.errors import StoreError
from polyculture.cache.files import replacing, store_faults
from polyculture.cache.text.sanitize import escape_control_chars
from polyculture.cli.options import Format, rows_format

if TYPE_CHECKING:
    import duckdb
    from rich.table import Table


WIDTH = 100  # characters of a table in a file or pipe: what a letter or an issue shows
NAME = 22  # characters of a table's first column that are not broken, however narrow the table is
_WORD = 11  # characters of a word that a table does not break
_LONG_WORD = re.compile(r"[\w-]+:[^\s,;()]{30,}")  # may be a model whose name is a path
SHOWN_ROWS = 1_000  # the most rows of a terminal table
MORE = f"... more than {SHOWN_ROWS} rows; write them with --format csv --output FILE"


def write_rows(rows: duckdb.DuckDBPyRelation, format: Format, output: Path | None) -> None:
    """Writes a query's rows as `format` to `output`, or to standard output. Parquet goes to files only.

    A file has no tables for a terminal: `Format.TABLE` leaves it to the file's ending. Raises `StoreError` for one that
    says no format.
    """
    format = rows_format(format, output)
    if format is Format.TABLE and output is None:
        lines = _first_rows(rows)
        print_table(rows.columns, lines[:SHOWN_ROWS])
        if len(lines) > SHOWN_ROWS:
            sys.stdout.write(f"{MORE}\n")
        return
    if format is Format.PARQUET:
        _write_parquet(rows.to_arrow_table(), output)
        return
    table = _readable(rows.to_arrow_table(), rows)
    text = _json_lines(table) if format is Format.JSON else _csv(table)
    if output is None:
        machine_output()
        # Escape control sequences for a terminal; a pipe receives the data unchanged.
        sys.stdout.writelines(map(_on_a_terminal, text) if sys.stdout.isatty() else text)
        return
    if output.exists() and not output.is_file():  # a device or a pipe
        with store_faults(output), output.open("w", encoding="utf-8", newline="") as file:
            file.writelines(text)
        return
    with replacing(output) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        file.writelines(text)


def _print_vertical(heads: Sequence[str], texts: Sequence[Sequence[str]]) -> None:
    width = max(map(len, heads), default=0)
    for number, row in enumerate(texts, 1):
        sys.stdout.write(f"row {number}\n")
        sys.stdout.writelines(f"  {head:<{width}}  {text}\n" for head, text in zip(heads, row, strict=True))


def machine_output() -> None:
    """Has standard output write UTF-8 from here on, whatever the terminal's language is: what follows is for programs,
    and a '?' in the place of a letter would be wrong data. A path of other bytes is written as it is."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")


def _first_rows(rows: duckdb.DuckDBPyRelation) -> Sequence[Sequence[Any]]:
    """One row more than is shown. By Arrow: for times with a zone DuckDB takes one more package."""
    first = rows.limit(SHOWN_ROWS + 1)
    if not any(_may_be_beyond(str(kind)) for kind in rows.types):
        return first.fetchall()
    columns = _readable(first.to_arrow_table(), first).columns
    return list(zip(*(column.to_pylist() for column in columns), strict=True))


def _may_be_beyond(kind: str) -> bool:
    """Whether a type may have values that Python has no object for: dates and times."""
    return "DATE" in kind or "TIME" in kind


def _readable(table: Any, rows: duckdb.DuckDBPyRelation) -> Any:
    """The rows as an Arrow table, dates and times as texts where a date is beyond those of Python."""
    try:
        for column, kind in zip(table.columns, rows.types, strict=True):
            if _may_be_beyond(str(kind)):
                column.to_pylist()
    except (OverflowError, ValueError):
        names = [f"c{place}" for place in range(len(rows.columns))]  # those of a query may stand there twice
        cells = (
            f"{name}::VARCHAR" if _may_be_beyond(str(kind)) else name
            for name, kind in zip(names, rows.types, strict=True)
        )
        query = f"SELECT {', '.join(cells)} FROM answer AS answer({', '.join(names)})"  # noqa: S608, our own names
        texts = rows.query("answer", query)
        return table if texts is None else texts.to_arrow_table().rename_columns(list(rows.columns))
    return table


def write_values(columns: Sequence[str], rows: Sequence[Sequence[Any]], format: Format, output: Path | None) -> None:
    """Writes plain rows as `write_rows` does; a column of only None has the type text."""
    import pyarrow as pa

    from polyculture.cache.database import memory_database

    cells = [pa.array([row[number] for row in rows]) for number in range(len(columns))]
    typed = [column.cast(pa.string()) if pa.types.is_null(column.type) else column for column in cells]
    with memory_database() as connection:
        write_rows(connection.from_arrow(pa.table(typed, names=list(columns))), format, output)


def write_records(records: Sequence[Mapping[str, Any]], format: Format, output: Path | None) -> None:
    """Writes rows as `write_rows` does; all have the columns of the first."""
    write_values(list(records[0]) if records else [], [list(one.values()) for one in records], format, output)


def write_sheet(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Writes CSV for spreadsheets: with a byte order mark, and with formulas defused."""
    import csv

    from polyculture.reports.escaping import defuse

    with replacing(path) as temporary, temporary.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([defuse(value) for value in row] for row in rows)


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str | None = None, headed: bool = True
) -> None:
    """Prints a table on standard output: as wide as the terminal, `WIDTH` characters in a file or pipe.

    A cell that is too wide goes on in the next line: no name is cut. Where columns would be so narrow that words break,
    each row is printed by itself, a line per column. Of a model that is a path the end stands in the cells, and the
    whole under the table.
    """
    from rich.console import Console

    texts = [
        [escape_control_chars(one) for one in columns],
        *([escape_control_chars(cell(v)) for v in row] for row in rows),
    ]
    ends = _ends_of_paths(_LONG_WORD.findall("\n".join([title or "", *(one for row in texts for one in row)])))

    def short(text: str) -> str:
        return _LONG_WORD.sub(lambda found: ends.get(found[0], found[0]), text)

    title = title and short(title)
    heads, *texts = [[short(one) for one in row] for row in texts]
    # With a height, too: otherwise Rich takes each dumb terminal (Emacs, some schedulers) to be of 80 columns.
    console = Console(width=_width(), height=25)
    if fits(heads, texts):
        console.print(_grid(heads, texts, title, headed, console.width))
    else:
        console.print(title or "", markup=False, highlight=False)
        _print_vertical(heads, texts)
    sys.stdout.writelines(f"{end} is {path}\n" for path, end in ends.items())


def _width() -> int:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH


def fits(heads: Sequence[str], texts: Iterable[Sequence[str]]) -> bool:
    """Whether a table is as narrow as the terminal without breaking words."""
    return _together(_narrowest(heads, texts)) - _EDGES <= _width()


_EDGES = 2  # blanks at the ends of a line, which a table goes without where it needs them


def _together(widths: Sequence[int]) -> int:
    """The characters of a line of `_grid`: behind each column are two blanks, and its edges."""
    return sum(widths) + 2 * len(widths) - 1 + _EDGES


def _narrowest(heads: Sequence[str], texts: Iterable[Sequence[str]]) -> list[int]:
    """The width of each column below which its words break, but for long ones; short names of the first stay whole."""
    from rich.cells import cell_len  # a Chinese letter takes two characters

    first, *others = zip(heads, *texts, strict=True)
    words = [max(cell_len(word) for text in column for word in text.split() or [""]) for column in others]
    return [min(max(map(cell_len, first)), NAME), *(min(longest, _WORD) for longest in words)]


def _grid(heads: Sequence[str], texts: Sequence[Sequence[str]], title: str | None, headed: bool, width: int) -> Table:
    """A rich table. The widest columns give way, but for the first, whose names of models have no spaces to break at,
    and none below its narrowest: Rich itself would cut off the last one."""
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    widths = [max(map(cell_len, column)) for column in zip(heads, *texts, strict=True)]
    narrowest, first = _narrowest(heads, texts), widths[0]
    edged, most = _together(narrowest) <= width, max(widths)
    room = width if edged else width + _EDGES
    if _together(widths) > room:
        widths[0] = narrowest[0]
    while _together(shown := [max(min(most, one), least) for one, least in zip(widths, narrowest, strict=True)]) > room:
        most -= 1
    shown[0] = min(first, shown[0] + room - _together(shown))  # what the others leave
    table = Table(title=title and Text(title), box=box.SIMPLE_HEAD, show_header=headed, padding=(0, 1, 0, 0),
                  show_edge=edged, title_justify="left")  # fmt: skip
    for head, size in zip(heads, shown, strict=True):
        table.add_column(Text(head), overflow="fold", width=size)
    for row in texts:
        table.add_row(*map(Text, row))
    return table


def _ends_of_paths(texts: Iterable[str]) -> dict[str, str]:
    """Of the texts that are models with a path of several folders: `engine:…/` and as many last parts as differ."""
    parts = {text: re.split(r"[/\\\\]", text) for text in texts if ":" in text}
    long = {text: words for text, words in parts.items() if len(words) > 2}
    if long:
        from polyculture.generate.engines import ENGINES  # here: most tables have no such text, and need no engine

        long = {text: words for text, words in long.items() if text.partition(":")[0] in ENGINES}
    for count in range(1, max(map(len, long.values()), default=0) - 1):
        ends = {text: f"{text.partition(':')[0]}:…/{'/'.join(words[-count:])}" for text, words in long.items()}
        if len(set(ends.values())) == len(ends):
            return {text: end for text, end in ends.items() if len(end) < len(text)}
    return {}


def cell(value: Any) -> str:
    """A value as text: – where it is missing, fractions with three digits."""
    if value is None:
        return "–"
    if not isinstance(value, float):
        return str(value)
    if 0 < abs(value) < 0.0005:  # a small number is never shown as zero
        return "<0.001" if value > 0 else ">-0.001"
    return f"{value:.3f}"


def _on_a_terminal(text: str) -> str:
    return escape_control_chars(text.replace("\r\n", "\n"))


def _csv(table: Any) -> Iterable[str]:
    import csv

    from polyculture.reports.escaping import defuse

    for batch in [table.slice(0, 0), *table.to_batches()]:
        buffer = io.StringIO()
        writer = csv.writer(buffer)
        if batch.num_rows == 0:
            writer.writerow([defuse(name) for name in table.column_names])  # a PIVOT makes values into names
        columns = [column.to_pylist() for column in batch.columns]  # two columns may have the same name
        writer.writerows([defuse(value) for value in row] for row in zip(*columns, strict=True))
        yield buffer.getvalue()
        if batch.num_rows == 0 and table.num_rows == 0:
            return


def _json_lines(table: Any) -> Iterable[str]:
    import orjson

    for batch in table.to_batches():
        for row in batch.to_pylist():
            yield orjson.dumps(row, default=str).decode() + "\n"


def _write_parquet(table: Any, output: Path | None) -> None:
    import pyarrow as pa

    from polyculture.cache.store.parquet import write_parquet

    if output is None:
        raise StoreError("Parquet is not for the terminal", remedy="Name a file with --output FILE.")
    try:
        write_parquet(table, output)
    except pa.ArrowNotImplementedError as fault:
        raise StoreError(f"Parquet cannot hold this: {fault}", remedy="Cast the column in the query.") from fault
