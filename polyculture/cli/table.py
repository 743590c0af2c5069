"""`polyculture table`: every table that a run can be shown as, on the terminal or as a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyculture.cache.errors import StoreError
from polyculture.cache.store.manifest import require_run
from polyculture.cache.store.sql_file import OVER_ALL, typed
from polyculture.cache.text.suggestions import did_you_mean, near_words
from polyculture.cli.declared import print_declared
from polyculture.cli.options import Format, OutputFile, OutputFormat, Runs
from polyculture.cli.tables import print_table, write_rows
from polyculture.console import say
from polyculture.running.opening import open_workspace
from polyculture.running.tables import all_tables, table_columns, table_rows

if TYPE_CHECKING:
    from polyculture.experiment.workspace import Workspace
    from polyculture.reports.section import ReportTable

_NAMED = 20  # values that a line names
_LIKE = 75  # of 100: how alike a name must be to that of a table; there are many of them, and a word is like some


def table(
    name: Annotated[str | None, typer.Argument(help="The table. Without one, all tables are listed.")] = None,
    experiment: Annotated[
        Path | None, typer.Argument(metavar="EXPERIMENT", help="Without one, what the table's columns mean is listed.")
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY=VALUE", help="A parameter of the table; or a column: only rows that have the value."
        ),
    ] = None,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
    runs: Runs = None,
) -> None:
    """Show a table of a run, or write it as a file with all columns.

    The same tables are in the report and in what `report --format` writes. A column that the terminal leaves out is in
    every file.

    `texts` has the share of texts of each region, of several (mixed) or of none (neutral), by the countries of what
    they name. `leaderboard` ranks the models as far as paired differences tell them apart: others share a range.
    """
    tables = all_tables()
    if name is None:
        print_table(("table", "title"), [(one, table.declared.header.title) for one, table in tables.items()])
    elif name not in tables and (name.endswith(".toml") or Path(name).is_dir()):
        what = f"{name} is no table: the table's name comes first"
        raise StoreError(what, remedy=f"Write: polyculture table NAME {name}. Without any, all tables are listed.")
    elif name not in tables:
        near = near_words(name, tables, alike=_LIKE)
        meant = f"Did you mean {near[0]!r}? " if near else ""
        raise StoreError(f"there is no table {name}", remedy=f"{meant}`polyculture table` lists all.")
    elif experiment is None:
        _describe(tables[name])
    else:
        _show(tables[name], experiment, _values(values or ()), format, output, runs)


def _show(
    table: ReportTable,
    experiment: Path,
    values: dict[str, Any],
    format: Format,
    output: Path | None,
    runs: Path | None,
) -> None:
    workspace = open_workspace(experiment, runs)
    require_run(workspace.run)
    on_terminal = format is Format.TABLE and output is None
    with table_rows(workspace, table, values) as rows:
        if not on_terminal:
            write_rows(rows, format, output)
            return
        if not values or rows.limit(1).fetchall():
            print_declared(table.declared, rows, values)
            return
    say(_nothing_fits(workspace, table, values) or f"the table {table.name} has no row with all of these")


def _nothing_fits(workspace: Workspace, table: ReportTable, values: dict[str, Any]) -> str | None:
    """Which of the values leaves no row, with those that there are; None where no single one does."""
    for name, value in values.items():
        others = {one: given for one, given in values.items() if one != name}
        parameter = table.declared.header.parameters.get(name)
        if parameter is not None and parameter.allowed and "any" not in parameter.allowed:
            continue
        if parameter is not None and isinstance(parameter.default, str):
            others[name] = "any"
        with table_rows(workspace, table, others) as rows:
            found = rows.project(f'"{name}"').distinct().fetchall() if name in rows.columns else []
        if found == [(None,)] and name in OVER_ALL:
            return f"the table {table.name} has no row with {name}={value}: its rows are over all of them"
        if there := sorted(str(one) for (one,) in found if one is not None):
            near = did_you_mean(str(value), there, otherwise=f"There are {', '.join(there[:_NAMED])}")
            return f"the table {table.name} has no row with {name}={value}. {near}"
    return None


def _describe(table: ReportTable) -> None:
    """Prints what a row of the table is, its parameters and its columns."""
    header = table.declared.header
    say(f"{header.title}: {header.row}")
    if header.parameters:
        rows = [(name, one.default, one.meaning) for name, one in header.parameters.items()]
        print_table(("parameter", "default", "meaning"), rows)
    print_table(("column", "type", "meaning"), table_columns(table))


def _values(words: Sequence[str]) -> dict[str, Any]:
    unclear = [word for word in words if "=" not in word]
    if unclear:
        raise typer.BadParameter(f"{unclear[0]}: write KEY=VALUE, as language=ja")
    return {key: typed(value) for key, _, value in (word.partition("=") for word in words)}
