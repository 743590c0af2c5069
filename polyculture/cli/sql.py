"""`polyculture sql`: read-only queries to the store."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import duckdb
import typer
from typer.core import TyperCommand

from polyculture.cache.database import most_memory
from polyculture.cache.files import scratch_folder
from polyculture.cache.guard import begin
from polyculture.cache.store.layout import Layout
from polyculture.cache.store.queries import check_query, interrupted_after, known_view, query_faults
from polyculture.cache.store.schema import NUMBERS
from polyculture.cache.store.shards import unsealed
from polyculture.cache.store.sql_file import DICTIONARY
from polyculture.cache.store.store import Store, open_store
from polyculture.cache.store.views import asks_of_schema
from polyculture.cli.options import ExperimentFile, Format, OutputFile, OutputFormat, Runs, UsageError, rows_format
from polyculture.cli.tables import write_rows
from polyculture.console import say
from polyculture.experiment.run_place import stored_run
from polyculture.running.layout import layout_of, store_layout


def sql(
    experiment: ExperimentFile,
    query: Annotated[
        str | None,
        typer.Argument(help="A query; - reads it from standard input. Without one, all views and columns are listed."),
    ] = None,
    view: Annotated[
        str | None, typer.Option("--describe", metavar="VIEW", help="What a row of this view is, and its columns.")
    ] = None,
    runs: Runs = None,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="A query that takes longer is stopped.")
    ] = 600.0,
) -> None:
    """Query the store in SQL, read-only.

    Only the run's own files can be read, through the views. A query uses at most half of the free memory, and spills
    the rest into a temporary folder outside the run. It runs in a process of its own, which is stopped when it takes
    longer than --timeout, or three quarters of the free memory.
    """
    if " " in str(experiment) and not experiment.exists():
        raise UsageError(
            "the experiment comes first, then the query, in quotes: polyculture sql EXPERIMENT 'SELECT ...'"
        )
    format = rows_format(format, output)
    run = stored_run(experiment, runs)
    waiting = unsealed(run)
    if waiting:
        jobs = "job was cut off or is" if waiting == 1 else "jobs were cut off or are"
        say(f"{waiting} {jobs} running: the newest rows are in no table until the job is run again, or ends")
    asked = sys.stdin.read() if query == "-" else query
    if query and view is not None:
        raise UsageError("a query and --describe VIEW are asked one at a time")
    if not asked:
        _describe(view, format, output)
        return

    def ask(layout: Layout) -> None:
        with open_store(run, layout, sandbox=folder / "spill") as store, interrupted_after(timeout, store):
            rows = store.sql(asked)
            for line in out_of_date(store, experiment) if store.reads("run_measures") else ():
                say(line)
            write_rows(rows, format, output)

    with query_faults("polyculture sql EXPERIMENT", [run.root], timeout), scratch_folder("sql") as folder:
        check_query(asked)  # before the store is opened
        begin(timeout, most_memory(), output)
        try:  # instruments without rows here are not imported
            ask(store_layout() if asks_of_schema(asked) else layout_of(run))
        except duckdb.CatalogException:  # of an instrument without rows; or of none, and then DuckDB names those alike
            ask(store_layout())


def out_of_date(store: Store, experiment: Path) -> Iterator[str]:
    """A line where numbers are missing because the data of the run have changed since, or nobody measured it."""
    remedy = f"They are made by: polyculture run {shlex.quote(str(experiment))} --only measure"
    if not store.sql(f"FROM stored_{NUMBERS.name} LIMIT 1").fetchall():
        yield f"the run has no numbers yet. {remedy}"
    elif stale := [measure for (measure,) in store.sql("SELECT measure FROM stale_measures ORDER BY 1").fetchall()]:
        yield f"numbers of {', '.join(stale)} are left out, for they are of other data than the run has now. {remedy}"


def _describe(view: str | None, format: Format, output: Path | None) -> None:
    """Lists all views with their columns, or those of one view: the same for every run, whose files are not read."""
    with open_store(None, store_layout()) as store:
        if view is None:
            rows = store.sql(DICTIONARY)
        else:
            name = known_view(store, view)
            meaning, rows = store.describe(name)
            say(f"{name}: {meaning or 'not described'}")
        write_rows(rows, format, output)


class SqlCommand(TyperCommand):
    """Accepts a query that begins with a comment: no option has a space after its dashes."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [f" {arg}" if arg.startswith("-- ") else arg for arg in args])


COMMAND = SqlCommand
