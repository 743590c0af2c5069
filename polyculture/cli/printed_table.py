"""A declared table on the terminal: its printed columns, each number with its interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from polyculture.cache.layout import MAIN
from polyculture.cache.sql_file import OVER_ALL, REASONS, DeclaredTable, limits
from polyculture.cli.tables import SHOWN_ROWS, cell, print_table
from polyculture.console import say

if TYPE_CHECKING:
    import duckdb

    from polyculture.cache.sql_file import Header
    from polyculture.experiment.workspace import Workspace

_WORDINGS = ("wordings_low", "wordings_high")  # a second interval, of other wordings


def print_declared(
    table: DeclaredTable, rows: duckdb.DuckDBPyRelation, values: Mapping[str, Any] | None = None
) -> None:
    """Prints rows of a table under its title; without any, what its header says of there being none."""
    shown = rows.limit(SHOWN_ROWS + 1).fetchall()
    if not shown:
        say(table.header.no_rows or f"the table {table.name} has no rows")
        return
    lines = list(_lines(table.header, rows.columns, shown[:SHOWN_ROWS]))
    if table.header.side_by_side:
        lines = _side_by_side(lines, table.header.side_by_side)
    columns = [name for name in lines[0] if any(line[name] is not None for line in lines)]
    heads = [name.replace("_", " ") for name in columns]  # a head that is too wide goes on in the next line
    print_table(heads, [[line[name] for name in columns] for line in lines], title=table.shown_title(values))
    if len(shown) > SHOWN_ROWS:
        say(f"... more than {SHOWN_ROWS} rows; write them with --format csv --output FILE")


def _lines(header: Header, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """The printed columns of each row; a number that has limits is text with its interval or the reason for none."""
    bounded = limits(columns)
    hidden = {limit for both in bounded.values() for limit in both}
    printed = header.printed or [name for name in columns if name not in (*hidden, *REASONS)]
    for row in rows:
        values = dict(zip(columns, row, strict=True))
        yield {name: _value(name, values, bounded.get(name)) for name in printed}


def _value(name: str, row: Mapping[str, Any], bounds: tuple[str, str] | None) -> Any:
    value = row[name]
    if value is None and name in OVER_ALL:
        return "all"
    if bounds is None or isinstance(value, str):
        return value
    reason = next((row[reason] for reason in REASONS if row.get(reason) is not None), None)
    if row[bounds[0]] is None:
        return value if reason is None else f"{cell(value)} ({reason})"
    second = [_WORDINGS] if name == "estimate" and row.get(_WORDINGS[0]) is not None else []
    return " ".join([cell(value), " / ".join(_interval(row, each) for each in (bounds, *second))])


def _interval(row: Mapping[str, Any], bounds: tuple[str, str]) -> str:
    low, high = (cell(row[name]) for name in bounds)
    return f"[{low}, {high}]"


def _side_by_side(lines: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> list[dict[str, Any]]:
    """A line for all metrics of the same model, language, ...: the estimate of each is a column."""
    merged: dict[tuple[Any, ...], dict[str, Any]] = {}
    for line in lines:
        place = {name: value for name, value in line.items() if name not in ("metric", "estimate")}
        whole = merged.setdefault(tuple(place.values()), {**place, **dict.fromkeys(metrics)})
        if line["metric"] in metrics:
            whole[line["metric"]] = line["estimate"]
    return list(merged.values())


def print_metrics(workspace: Workspace, selection: str = MAIN) -> None:
    """Prints the four metrics per model and language."""
    from polyculture.running.tables import all_tables, table_rows

    table = all_tables()["headline"]
    with table_rows(workspace, table, selection=selection) as rows:
        if selection != MAIN:
            say(f"of the responses and links of {selection}:")
        print_declared(table.declared, rows)
