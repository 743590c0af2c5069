"""`polyculture sql`: read-only queries to the store."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from polyculture.cli.options import ExperimentFile, Format, OutputFile, OutputFormat, Runs

if TYPE_CHECKING:
    import duckdb

# The schema lists neither rows of other settings nor the views below the public ones.
DICTIONARY = """
SELECT view, "column", type, meaning FROM dictionary WHERE view NOT SIMILAR TO '(stored|run)_.*' ORDER BY rowid
"""
COLUMNS = """
SELECT "column", type, meaning FROM dictionary WHERE view = $view AND "column" <> '' ORDER BY rowid
"""


def sql(
    experiment: ExperimentFile,
    query: Annotated[
        str | None, typer.Argument(help="A query; - reads it from standard input. Without one: as --schema.")
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="The views and columns with their meaning.")] = False,
    view: Annotated[
        str | None, typer.Option("--describe", metavar="VIEW", help="What a row of this view is, and its columns.")
    ] = None,
    vertical: Annotated[bool, typer.Option("--vertical", "-x", help="A line per column: for wide rows.")] = False,
    runs: Runs = None,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="A query that takes longer is stopped.")
    ] = 600.0,
) -> None:
    """Query the store in SQL, read-only.

    Only the run's own files can be read, through the views. A query uses at most half of the free memory, and spills
    the rest into a temporary folder outside the run.
    """
    import duckdb

    from polyculture.cache.corrupt_files import damaged_file
    from polyculture.cache.errors import StoreError
    from polyculture.cache.free_memory import memory_limit
    from polyculture.cache.readonly_sql import check_query, interrupted_after
    from polyculture.cache.scratch import scratch_folder
    from polyculture.cache.selections import SELECTIONS
    from polyculture.cache.shards import unsealed
    from polyculture.cache.store import open_store
    from polyculture.cli.tables import print_vertical, write_rows
    from polyculture.cli.usage import UsageError
    from polyculture.console import say
    from polyculture.experiment.workspace import open_workspace, require_run
    from polyculture.running.layout import store_layout

    run = open_workspace(experiment, runs).run
    require_run(run)
    waiting = unsealed(run)
    if waiting:
        jobs = "job was cut off or is" if waiting == 1 else "jobs were cut off or are"
        say(f"{waiting} {jobs} running: the newest rows are in no table until the job is run again, or ends")
    asked = sys.stdin.read() if query == "-" else query
    if [bool(query), schema, view is not None].count(True) > 1:
        raise UsageError("a query, --schema and --describe VIEW are asked one at a time")
    if vertical and (format is not Format.TABLE or output is not None):
        raise UsageError("--vertical is for the terminal: leave out --format and --output")
    question = asked or (DICTIONARY if view is None else COLUMNS)
    named = [selection for selection in SELECTIONS if selection in question.lower()]
    try:
        check_query(question)  # before the store is built
        with scratch_folder("sql") as folder:
            at = folder / "store.duckdb"
            with (
                open_store(run, store_layout(), selections=named, at=at, memory=memory_limit()) as store,
                interrupted_after(timeout, store),
            ):
                if view is not None:
                    name = known_view(store, view)
                    say(f"{name}: {meaning_of(store, name)}")
                    rows = store.sql(question, params={"view": name})
                else:
                    rows = store.sql(question)
                (print_vertical(rows) if vertical else write_rows(rows, format, output))
    except duckdb.InterruptException as fault:
        what = f"the query took longer than {timeout:g} seconds, and was stopped"
        raise StoreError(what, remedy="Ask for less, or give it longer: --timeout SECONDS.") from fault
    except duckdb.Error as fault:
        if damaged_file(fault):
            raise
        raise StoreError(f"the query cannot be answered: {_said(fault)}", remedy=_remedy(fault)) from fault


def known_view(store: duckdb.DuckDBPyConnection, asked: str) -> str:
    """The name of a view as the dictionary has it. Raises `StoreError` where there is none, with names like it."""
    from difflib import get_close_matches

    from polyculture.cache.errors import StoreError

    names = [name for (name,) in store.sql("SELECT DISTINCT view FROM dictionary ORDER BY view").fetchall()]
    wanted = asked.strip().strip('"').lower()
    wanted = wanted if wanted in names else wanted.rpartition(".")[2]  # a selection's views are those of all
    if wanted in names:
        return wanted
    near = get_close_matches(wanted, names, 3)
    remedy = f"Did you mean {' or '.join(near)}?" if near else "See all of them: polyculture sql EXPERIMENT --schema"
    raise StoreError(f"there is no view {asked}", remedy=remedy)


def meaning_of(store: duckdb.DuckDBPyConnection, view: str) -> str:
    """What a row of a view is."""
    asked = "SELECT meaning FROM dictionary WHERE view = $view AND \"column\" = ''"
    found = store.sql(asked, params={"view": view}).fetchall()
    return str(found[0][0]) if found and found[0][0] else "not described"


def _said(fault: Exception) -> str:
    """All that DuckDB says of a fault, its hints included, in one line."""
    lines = [line.strip() for line in str(fault).splitlines()]
    return " ".join(line for line in lines if line.strip("^ "))


def _remedy(fault: Exception) -> str:
    import duckdb

    if isinstance(fault, duckdb.BinderException | duckdb.CatalogException):
        return "See the views and their columns: polyculture sql EXPERIMENT"
    if isinstance(fault, duckdb.PermissionException | duckdb.InvalidInputException):
        return "The store is read-only and sees only the run's own files: use SELECT."
    if isinstance(fault, duckdb.OutOfMemoryException):
        return "Ask for less at a time, or free some memory."
    return "Correct the query."


class SqlCommand(TyperCommand):
    """Accepts a query that begins with a comment: no option has a space after its dashes."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [f" {arg}" if arg.startswith("-- ") else arg for arg in args])
