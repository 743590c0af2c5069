"""Prints declared tables (`cache.store.sql_file`): those of a study, of a run's metrics, and of `polyculture table`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from polyculture.cache.store.sql_file import OVER_ALL, REASONS, DeclaredTable, limits, read_table
from polyculture.cache.text.sanitize import escape_control_chars
from polyculture.cli.tables import MORE, SHOWN_ROWS, cell, fits, print_table
from polyculture.console import say
from polyculture.instruments.contract import Listing, PrintedTable
from polyculture.reports.sections import HEADLINE

if TYPE_CHECKING:
    import duckdb

    from polyculture.cache.store.sql_file import Header
    from polyculture.experiment.workspace import Workspace
    from polyculture.instruments.contract import Study

# Of print_metrics: no line of a model without a number that can be compared.
_TOLD = "language IS NOT NULL OR estimate IS NOT NULL"
_SHARED = "†"
_SIGNS = "¹²³⁴⁵⁶⁷⁸⁹"  # of reasons that recur in a table: more than these are written into their cells
_WIDE = ("wide_low", "wide_high")  # a second interval, of other prompts like these


def print_declared(
    table: DeclaredTable,
    rows: duckdb.DuckDBPyRelation,
    values: Mapping[str, Any] | None = None,
    title: str = "",
) -> None:
    """Prints rows of a table under its title, or another; without any, what its header says of there being none."""
    shown = rows.limit(SHOWN_ROWS + 1).fetchall()
    if not shown:
        say(table.header.no_rows or f"the table {table.name} has no rows")
        return
    reasons = _Reasons(table.header, rows.columns, shown[:SHOWN_ROWS])
    lines = list(_lines(table.header, rows.columns, shown[:SHOWN_ROWS], reasons))
    metrics: list[str] = []
    for column in table.header.side_by_side:
        metrics = list(dict.fromkeys(str(line[column]) for line in lines))
        lines = _side_by_side(lines, column, metrics)
    told = [name for name in lines[0] if any(line[name] is not None for line in lines)]
    # Of a wide table a label that all rows have in common is said once, above them: the others have its room.
    numbers = {*limits(rows.columns), *metrics}
    alike = [name for name in told[1:] if name not in numbers and len({str(line[name]) for line in lines}) == 1]
    if fits(told, [[cell(line[name]) for name in told] for line in lines]):
        alike = []
    columns = [name for name in told if name not in alike]
    of_all = "; ".join(f"{name.replace('_', ' ')} {cell(lines[0][name])}" for name in alike)
    heads = [name.replace("_", " ") for name in columns]  # a head that is too wide goes on in the next line
    heading = title or table.shown_title(values)
    print_table(heads, [[line[name] for name in columns] for line in lines], ". ".join(filter(None, [heading, of_all])))
    if "shared" in rows.columns and any(row[rows.columns.index("shared")] for row in shown):
        sys.stdout.write(f"{_SHARED} over the cells of all models that have at least half of them\n")
    sys.stdout.writelines(f"{line}\n" for line in reasons.footnotes())
    if (
        {"cells", "missing", "estimate"} <= {*rows.columns}
        and "missing" not in told
        and (lacking := _lacking(rows.columns, shown))
    ):
        sys.stdout.write(f"{lacking}\n")
    if len(shown) > SHOWN_ROWS:
        say(MORE)


def _lacking(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str | None:
    """A line where a mean is over too few of its cells for a claim about others: of which it has the fewest."""
    from polyculture.metrics.inference.prompts import MOST_FILLED

    named = [dict(zip(columns, row, strict=True)) for row in rows]
    known = [(row["cells"], row["missing"]) for row in named if row["estimate"] is not None]
    cells, missing = min(known, key=lambda of: of[0] / (of[0] + of[1]), default=(1, 0))
    if missing <= MOST_FILLED * (cells + missing):
        return None
    return (
        f"no number in up to {missing} of {cells + missing} cells of a mean: "
        "not done, nothing linked, or no item of the country"
    )


class _Reasons:
    """Why numbers, or their intervals, are missing. A reason of several cells has a sign there, and a line below the
    table; one of a single cell is written into it."""

    def __init__(self, header: Header, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        bounded, times = limits(columns), Counter[str]()
        printed = set(header.printed or columns)
        for row in rows:
            values = dict(zip(columns, row, strict=True))
            for name in printed & bounded.keys():
                if (reason := _reason(name, values, bounded[name])) is not None:
                    times[reason] += 1
        recurring = [reason for reason, number in times.items() if number > 1]
        self._signs = dict(zip(recurring, _SIGNS, strict=False))

    def mark(self, reason: str) -> str:
        """The sign of a reason that recurs, or the reason in brackets."""
        return self._signs.get(reason, f" ({reason})")

    def footnotes(self) -> Iterator[str]:
        """A line for each sign."""
        if self._signs:
            from polyculture.reports.texts import texts

            yield from (f"{sign} {texts().missing.get(reason, reason)}" for reason, sign in self._signs.items())


def _reason(name: str, row: Mapping[str, Any], bounds: tuple[str, str]) -> str | None:
    """Why a number, or its interval, is missing; None where both are there, or nobody says why."""
    value = row[name]
    if isinstance(value, str) or row[bounds[0]] is not None or (value is None and name in OVER_ALL):
        return None
    reasons = REASONS if value is not None else ("no_estimate", *REASONS)
    return next((str(row[reason]) for reason in reasons if row.get(reason) is not None), None)


def _lines(
    header: Header, columns: Sequence[str], rows: Sequence[Sequence[Any]], reasons: _Reasons
) -> Iterator[dict[str, Any]]:
    """The printed columns of each row; a number that has limits is text with its interval or the reason for none."""
    bounded = limits(columns)
    hidden = {limit for both in bounded.values() for limit in both}
    printed = [name for name in header.printed or columns if name not in (*hidden, *REASONS)]
    for row in rows:
        values = dict(zip(columns, row, strict=True))
        yield {name: _value(name, values, bounded.get(name), reasons) for name in printed}


def _value(name: str, row: Mapping[str, Any], bounds: tuple[str, str] | None, reasons: _Reasons) -> Any:
    value = row[name]
    if value is None and name in OVER_ALL:
        return "all"
    if bounds is None or isinstance(value, str):
        return value
    reason = _reason(name, row, bounds)
    if row[bounds[0]] is None and reason is None:
        return value
    told = f"{cell(value)}{_SHARED}" if row.get("shared") and value is not None else cell(value)
    if reason is not None:
        return f"{told}{reasons.mark(reason)}"
    second = [_WIDE] if bounds == ("low", "high") and row.get(_WIDE[0]) is not None else []
    return " ".join([told, " / ".join(_interval(row, each) for each in (bounds, *second))])


def _interval(row: Mapping[str, Any], bounds: tuple[str, str]) -> str:
    low, high = (cell(row[name]) for name in bounds)
    return f"[{low}, {high}]"


def _side_by_side(lines: Sequence[Mapping[str, Any]], column: str, metrics: Sequence[str]) -> list[dict[str, Any]]:
    """A line for all metrics of the same model, language, ...: the estimate of each is a column."""
    merged: dict[tuple[Any, ...], dict[str, Any]] = {}
    for line in lines:
        place = {name: value for name, value in line.items() if name not in (column, "estimate")}
        whole = merged.setdefault(tuple(place.values()), {**place, **dict.fromkeys(metrics)})
        whole[line[column]] = line["estimate"]
    return list(merged.values())


def print_metrics(workspace: Workspace) -> None:
    """Prints the metrics per model and language; those languages first in which most models can be compared."""
    from polyculture.cache.store.manifest import require_run
    from polyculture.cache.store.store import open_store
    from polyculture.metrics import METRICS_LAYOUT
    from polyculture.metrics.comparison.table import explained
    from polyculture.metrics.declared import DECLARED
    from polyculture.metrics.limits import disqualified

    table = HEADLINE.declared
    with open_store(workspace.run, METRICS_LAYOUT) as store:
        rows = table.select(store).filter(_TOLD)
        comparable = "count(DISTINCT model) OVER (PARTITION BY language) DESC"
        place = f"list_position({[metric.name for metric in DECLARED]}, metric)"
        print_declared(table, rows.order(f"{comparable}, language NULLS FIRST, model, {place}"))
        shown = {metric for (metric,) in rows.project("metric").distinct().fetchall()}
    fixed = disqualified(require_run(workspace.run))
    sys.stdout.writelines(f"{name}: {explained(why)}\n" for name, why in fixed.items() if name in shown)


def print_tables(workspace: Workspace, studies: Sequence[Study]) -> None:
    """Prints what studies list, then their tables, a table of several of them once."""
    tables: list[PrintedTable] = []
    for shown in chain.from_iterable(study.shown for study in studies):
        if isinstance(shown, Listing):
            print_table(shown.columns, shown.rows, shown.title or None)
            sys.stdout.writelines(f"{escape_control_chars(note)}\n" for note in shown.notes)
        elif shown not in tables:
            tables.append(shown)
    _print(workspace, tables)


def _print(workspace: Workspace, shown: Sequence[PrintedTable]) -> None:
    from polyculture.cache.store.store import open_store
    from polyculture.running.layout import store_layout

    tables = [(read_table(one.file), one.values) for one in shown]
    if not workspace.run.manifest.is_file():  # nothing could be asked
        for table, _ in tables:
            say(table.header.no_rows or f"the table {table.name} has no rows")
    elif tables:
        with open_store(workspace.run, store_layout()) as store:
            for table, values in tables:
                print_declared(table, table.select(store, values), values)
