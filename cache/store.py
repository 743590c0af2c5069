"""The store: a run's Parquet files, read through DuckDB views."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from polyculture.cache.database import connect
from polyculture.cache.errors import StoreError
from polyculture.cache.files import replacing
from polyculture.cache.manifest import Manifest, read_manifest, setup_id
from polyculture.cache.parquet import missing_columns
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import TABLES, later_columns
from polyculture.cache.selections import COMPUTED, MAIN, file_of
from polyculture.cache.shards import committed_parts
from polyculture.cache.view_template import create_views, open_blank_store

# Tables that are written job by job, and the table whose part commits theirs.
SHARDED = {
    "responses": "responses",
    "extractions": "extractions",
    "mentions": "extractions",
    "scores": "scores",
    "representations": "representations",
    "swap_answers": "swap_answers",
}


@contextmanager
def _built(run: RunFolder, views: Sequence[Path], at: Path | None, selections: Collection[str]) -> Iterator[Path]:
    """Writes `store.duckdb`, or `at`, afresh: views over the run's files, then the SQL files in `views`, in order.

    All of them once more in a schema of its own for each of the `selections` (`cache.selections`).

    The file holds no data of its own and may be deleted at any time. During the block it stands under a passing
    name, then it takes the place of the one before. Raises `StoreError` where there is no run.
    """
    manifest = read_manifest(run.manifest)
    if manifest is None:
        raise StoreError("holds no run", where=run.root, remedy="Run `polyculture run` on an experiment file first.")
    path = at or run.store
    with replacing(path) as temporary, _disk_faults(path):
        with open_blank_store(temporary, views, selections) as connection:
            _put_rows(connection, run, manifest, selections)
            connection.execute("CHECKPOINT")  # closing writes, too, but says nothing where the disk is full
        yield temporary


@contextmanager
def _disk_faults(path: Path) -> Iterator[None]:
    """DuckDB has a fault of its own for a full disk."""
    full = os.strerror(errno.ENOSPC)
    try:
        yield
    except duckdb.Error as fault:
        if full not in str(fault):
            raise
        raise OSError(errno.ENOSPC, full, str(path)) from fault


@contextmanager
def current_store(run: RunFolder, manifest: Manifest) -> Iterator[duckdb.DuckDBPyConnection]:
    """The store's views in memory, under `manifest`: nothing is written, whoever else writes."""
    with connect() as connection:
        fill_store(connection, run, manifest)
        yield connection


def fill_store(connection: duckdb.DuckDBPyConnection, run: RunFolder, manifest: Manifest) -> None:
    """Creates the store's views: `stored_<table>` over all rows, and the current ones of `store.sql`."""
    create_views(connection)
    _put_rows(connection, run, manifest)


def _put_rows(
    connection: duckdb.DuckDBPyConnection, run: RunFolder, manifest: Manifest, selections: Collection[str] = ()
) -> None:
    """Fills a store that has its views over empty tables: the run's files take the place of these.

    Not the other way round: DuckDB opens all that a view rests on when it is made, and a large run has thousands of
    files.
    """
    _put_run(connection, manifest)
    for table in TABLES:
        _put_files(connection, run, table)
    for selection in selections:
        connection.execute(f"SET search_path = '{selection},{MAIN}'")
        for table in COMPUTED:
            _put_files(connection, run, table, selection)
    connection.execute(f"SET search_path = '{MAIN}'")


def open_store(
    run: RunFolder,
    views: Sequence[Path] = (),
    keep: Sequence[str] = (),
    selection: str = MAIN,
    selections: Collection[str] = (),
    at: Path | None = None,
    memory: str | None = None,
) -> duckdb.DuckDBPyConnection:
    """The store, built afresh and opened read-only; it can read the run's folder and no other file.

    With `at` nothing is written into the run's folder; `memory` ('4GB') bounds what DuckDB holds.
    Each of the views in `keep`, in order, is computed once, now: whoever asks many questions does not read millions of
    mentions for each. What is written later is not in them. With a `selection`, names without a schema are those of
    this one; what is kept is kept of it alone, and stands before the views of all schemas. `selections` are further
    schemas to ask.
    """
    # Opened under its passing name: DuckDB takes a second file of a name that is open for the first.
    with _built(run, views, at, {selection, *selections} - {MAIN}) as path:
        connection = connect(path, read_only=True, memory=memory)
    connection.execute("SET allowed_directories = [$folder]", {"folder": str(run.root.resolve())})
    connection.execute("SET enable_external_access = false")
    connection.execute("SET enable_progress_bar = false")
    # DuckDB 2.0.0 ends a join over millions of mentions with an internal error ("global dictionary column 0 changed
    # identity") where it gathers small chunks between operators; without that, it answers.
    connection.execute("SET debug_enable_caching_operators = false")
    connection.execute(f"SET search_path = '{selection},{MAIN}'")
    connection.execute("SET lock_configuration = true")
    for view in keep:  # a temporary table stands before the view of the same name, also where other views name it
        connection.execute(f"CREATE TEMP TABLE {view} AS FROM {selection}.{view}")
    return connection


def _put_files(connection: duckdb.DuckDBPyConnection, run: RunFolder, table: str, selection: str = MAIN) -> None:
    """Puts a view over the files of a table, where there are any, in the place of the empty table."""
    if table in SHARDED:
        files = committed_parts(run, table, SHARDED[table])
    else:
        files = [path for path in [run.table(file_of(table, selection))] if path.exists()]
    if files:
        _create_view(connection, table, files)


def _create_view(connection: duckdb.DuckDBPyConnection, table: str, files: Sequence[Path]) -> None:
    """A view over the rows of `files`; columns that came later than some of them are null there."""
    name = f"stored_{table}"
    blank = connection.table(name)
    types = dict(zip(blank.columns, blank.types, strict=True))
    connection.execute(f"DROP TABLE {name}")
    first = {path.parent: path for path in reversed(files)}  # of each job, the oldest
    older = bool(later_columns(table)) and any(missing_columns(path, table) for path in first.values())
    paths = [str(path.resolve()) for path in files]
    rows = connection.read_parquet(paths, hive_partitioning=False, union_by_name=older)
    if older:
        there = set(rows.columns)
        rows = rows.select(*(_column(column, kind, there=column in there) for column, kind in types.items()))
    rows.create_view(name)


def _column(name: str, kind: duckdb.sqltypes.DuckDBPyType, *, there: bool) -> duckdb.Expression:
    return duckdb.ColumnExpression(name) if there else duckdb.ConstantExpression(None).cast(kind).alias(name)


def _put_run(connection: duckdb.DuckDBPyConnection, manifest: Manifest) -> None:
    for name, rows in _run_rows(manifest).items():
        for row in rows:
            connection.table(name).insert(row)


def _run_rows(manifest: Manifest) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of the tables of `run.sql`."""
    return {
        "run": [(manifest.sampling_id, manifest.n)],
        "run_extractors": [(extractor,) for extractor in manifest.extractor_ids.values()],  # each is of one topic
        "run_models": [(model,) for model in manifest.models],
        "run_swap_prompts": [(prompt,) for prompt in sorted(set(manifest.swap_prompts.values()))],
        "run_setups": [(*key.split(" ", 1), setup_id(setup)) for key, setup in manifest.setups.items()],
        "run_prices": [
            (model, *map(price.get, ("input", "output", "batch_discount"))) for model, price in manifest.prices.items()
        ],
        "run_countries": [(country,) for country in manifest.countries],
    }
