"""The store: a run's Parquet files, read through DuckDB views.

`store.duckdb` is tied to the place where it was written: a copied or moved one answers with an error. Its views name a
run's files by absolute paths, so that it can be opened from any folder. DuckDB has no paths relative to a database
file: relative ones are looked for in the present folder first, which may be another run's. A view cannot compute a path
either (DuckDB 2.0.0: `read_parquet` takes neither subqueries nor lateral columns). So a condition of each view compares
where the file is with where it was, and ends in an error. Our own connections need none: a temporary macro of the same
name takes its place, at no cost.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import duckdb
import pyarrow as pa

from polyculture.cache.database import connect, memory_database
from polyculture.cache.errors import StoreError
from polyculture.cache.files import replacing
from polyculture.cache.identity import content_id, file_sha256
from polyculture.cache.store.inventory import check_parts, require_moved_in, require_table
from polyculture.cache.store.layout import Layout, Measure, Table
from polyculture.cache.store.ledger import FOLDER as LEDGER
from polyculture.cache.store.ledger import charges
from polyculture.cache.store.manifest import Manifest, require_run, setup_id
from polyculture.cache.store.model_facts import ModelFacts
from polyculture.cache.store.parquet import SUFFIX, check_columns, read_rows
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.shards import committed_parts
from polyculture.cache.store.view_template import asks_of_schema, create_views, statements_of, write_view_template

_IN_PLACE = "in_place()"
_NOT_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS)
_IN_PLACE_SQL = Path(__file__).with_name("in_place.sql")
_opened: dict[Path, None] = {}  # folders of runs whose files this process has asked DuckDB for, the latest last


def opened_runs() -> list[Path]:
    """The folders of the runs that this process has opened, the latest first: an error of DuckDB may be about one of
    their files."""
    return list(reversed(_opened))


def _local(path: Path) -> str:
    """A file's name for DuckDB's own file system."""
    return str(path.resolve())


def _read_only(connection: duckdb.DuckDBPyConnection, run: RunFolder) -> Callable[[Path], str]:
    from polyculture.cache.store.readonly_files import register_run_files, run_address

    register_run_files(connection, run.root)
    root = run.root.resolve()  # a part that is itself a link keeps its name: it is refused, and the error names it
    return lambda path: run_address(root / path.relative_to(run.root))


def _confine(connection: duckdb.DuckDBPyConnection, run: RunFolder, at: Path | None) -> None:
    """Takes every file from a connection but those of the run; with `at` these are read-only."""
    if at is None:
        connection.execute("SET allowed_directories = [$folder]", {"folder": str(run.root.resolve())})
        connection.execute("SET enable_external_access = false")
        return
    from polyculture.cache.store.readonly_files import confine

    confine(connection, run.root, at.parent / "spill")


@contextmanager
def _built(
    run: RunFolder, layout: Layout, at: Path | None, asked: str | None
) -> Iterator[tuple[Path, Collection[str]]]:
    """Writes a new `store.duckdb`, or `at`: views over the run's files, then the layout's SQL. Gives the path and the
    names of its tables and views. `asked` as in `open_store`.

    The file holds no data and may be deleted at any time. During the block it has a temporary name, then it replaces
    the former one. Raises `StoreError` where there is no run.
    """
    manifest = require_run(run)
    path = at or run.store
    with replacing(path) as temporary, _disk_faults(path):
        known = asked is not None and not asks_of_schema(asked)
        there = {name for name, _ in statements_of(layout)}
        if not known:
            write_view_template(temporary, layout)
        # A connection of its own for `at`: the read-only file system is of all that share a DuckDB.
        with memory_database(temporary) if at is None else connect(temporary) as connection:
            if known:
                there = create_views(connection, layout, asked)
            connection.begin()  # each of some fifty statements would wait for the disk
            if at is None:
                _tie(connection, path, [temporary])
            address = _local if at is None else _read_only(connection, run)
            _put_rows(connection, run, manifest, layout, there, address, tied=at is None)
            connection.commit()
            connection.execute("CHECKPOINT")  # closing writes, too, but does not report a full disk
        yield temporary, there


@contextmanager
def _disk_faults(path: Path) -> Iterator[None]:
    """Turns DuckDB's own error for a full disk, or for a folder that one may only read, into the `OSError` that others
    raise."""
    try:
        yield
    except duckdb.Error as fault:
        number = next((one for one in _NOT_WRITTEN if os.strerror(one) in str(fault)), None)
        if number is None:
            raise
        raise OSError(number, os.strerror(number), str(path)) from fault


@contextmanager
def asked_store(
    run: RunFolder,
    asked: str | None,
    layout: Layout = CORE,
    *,
    manifest: Manifest | None = None,
    rows: Mapping[str, pa.Table] = MappingProxyType({}),
    keep: Sequence[str] = (),
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A store in memory for SQL of ours, `asked`: the views that it names, and what these rest on. Writes nothing.

    None: all views. The rows that count are those of the run's manifest, or of another `manifest`. `rows` stand in the
    place of those that the run has of a table, by name. `keep` as in `open_store`. Raises `StoreError` where there is
    no run.
    """
    manifest = manifest or require_run(run)
    needed = asked and " ".join([asked, *(f"FROM stored_{name}" for name in rows)])
    of_files = tuple(table for table in layout.tables if table.name not in rows)
    with memory_database() as connection:
        there = create_views(connection, layout, needed)
        _put_rows(connection, run, manifest, replace(layout, tables=of_files), there)
        for name, given in rows.items():
            connection.from_arrow(given).insert_into(f"stored_{name}")
        _keep(connection, [view for view in keep if view in there])
        yield connection


def _put_rows(
    connection: duckdb.DuckDBPyConnection,
    run: RunFolder,
    manifest: Manifest,
    layout: Layout,
    there: Collection[str],
    address: Callable[[Path], str] = _local,
    tied: bool = False,
) -> None:
    """Replaces the empty tables of a store by views over the run's files; `tied` ones ask whether they are in place.

    `there` are the names of its tables and views: DuckDB takes 10 ms to list them.

    The views on top exist already: DuckDB opens every file below a view when it creates one, and a large run has
    thousands.
    """
    require_moved_in(run)
    _opened.pop(run.root, None)
    _opened[run.root] = None
    tables = [table for table in layout.tables if f"stored_{table.name}" in there]
    measured = layout.measures if "run_measures" in there else ()
    inputs = [(measure.name, inputs_of(run, manifest, measure)) for measure in measured]
    charged = _charged(run, layout) if "run_charges" in there else []
    for name, rows in {**_run_rows(manifest), "run_measures": inputs, "run_charges": charged}.items():
        if rows and name in there:
            values = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO {name} VALUES ({values})", rows)  # noqa: S608
    for table in tables:
        _put_files(connection, run, table, address, tied)


def open_store(
    run: RunFolder,
    layout: Layout = CORE,
    keep: Sequence[str] = (),
    at: Path | None = None,
    memory: str | None = None,
    asked: str | None = None,
) -> duckdb.DuckDBPyConnection:
    """Builds the store and opens it read-only; it can read the run's folder and no other file.

    With `at`, a path in a temporary folder, the store is for somebody else's SQL: nothing can be written into the run's
    folder through the connection (`cache.store.readonly_files`), and DuckDB spills into a folder beside `at`. `memory`
    ('4GB') bounds what DuckDB holds. `asked` is the only SQL that will be asked of it: views that it does not name, and
    that nothing rests on that it names, are left out, and the files below them are not looked at. SQL of ours that is
    known beforehand is for `asked_store`, without a file.
    The views in `keep` are materialised now, in order, so that many queries do not read millions of mentions each; of
    those that `asked` leaves out, none is. Rows written later are not in them.
    """
    # Opened under its temporary name: DuckDB confuses two files of one name where the first is open.
    with _built(run, layout, at, asked) as (path, there):
        connection = connect(path, read_only=True, memory=memory)
    if at is None:
        # This connection has just written the store: the condition is left out of all its queries.
        connection.execute("CREATE TEMP MACRO in_place() AS true")
    _confine(connection, run, at)
    _keep(connection, [view for view in keep if view in there])
    connection.execute("SET lock_configuration = true")
    return connection


@contextmanager
def reopen_store(at: Path, root: Path, memory: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """A store that another process has built at `at`, for somebody else's SQL. What it spills is removed with it."""
    from polyculture.cache.store.readonly_files import confine

    with (
        TemporaryDirectory(dir=at.parent, prefix="spill-") as spill,
        connect(at, read_only=True, memory=memory) as found,
    ):
        confine(found, root, Path(spill))
        found.execute("SET lock_configuration = true")
        yield found


def _keep(connection: duckdb.DuckDBPyConnection, views: Sequence[str]) -> None:
    """Materialises views."""
    for view in views:  # a temporary table takes precedence over the view of its name, in other views, too
        connection.execute(f"CREATE TEMP TABLE {view} AS FROM main.{view}")


def _tie(connection: duckdb.DuckDBPyConnection, store: Path, others: Iterable[Path]) -> None:
    """Creates `in_place()` in a store that will stand at `store`; it may stand at the `others`, too."""
    table = f"place_{content_id(str(store.resolve()))}"
    connection.execute(_IN_PLACE_SQL.read_text(encoding="utf-8").replace("$PLACE", table))
    paths = {str(path) for place in (store, *others) for path in (place.resolve(), place.absolute())}
    connection.execute(f"INSERT INTO here.{table} SELECT unnest($paths)", {"paths": sorted(paths)})


def _put_files(
    connection: duckdb.DuckDBPyConnection,
    run: RunFolder,
    table: Table[Any],
    address: Callable[[Path], str],
    tied: bool,
) -> None:
    """Replaces the empty table by a view over its files, where there are any.

    Raises `StoreError` for a file of another version, for a row that stands twice, and for a part that is gone.
    """
    if table.sharded:
        check_parts(run, table)
        files = committed_parts(run, table)
    elif table.by_measure:
        files = measure_files(run, table)
    else:
        require_table(run, table.name)
        files = [path for path in [run.table(table.name)] if path.exists()]
    if not files:
        return
    for path in {path.parent: path for path in files}.values():  # one of each job: a footer takes a millisecond to read
        check_columns(path, table)
    # As text: DuckDB's relations open the files again for each of their steps.
    paths = ", ".join("'{}'".format(address(path).replace("'", "''")) for path in files)
    rows = f"read_parquet([{paths}], hive_partitioning = false)"
    _check_unique(connection, rows, table, files)
    connection.execute(f"DROP TABLE stored_{table.name}")
    tie = f" WHERE {_IN_PLACE}" if tied else ""
    connection.execute(f"CREATE VIEW stored_{table.name} AS FROM {rows}{tie}")


def _check_unique(connection: duckdb.DuckDBPyConnection, rows: str, table: Table[Any], files: Sequence[Path]) -> None:
    """Raises `StoreError` where a row stands twice, as in a copied folder: every number would count it twice."""
    if table.key is None or len(files) < 2:
        return
    [(twice,)] = connection.execute(f"SELECT count(*) - count(DISTINCT {table.key}) FROM {rows}").fetchall()  # noqa: S608
    if not twice:
        return
    seen: dict[str, Path] = {}
    for file in files:
        for key in map(str, read_rows(file, table, [table.key])[table.key].to_pylist()):
            if key in seen:
                what = f"{twice} rows of {table.name} stand twice: one of them is in {seen[key]}, too"
                remedy = "Move the copy out of the run's folder; Polyculture writes a row once."
                raise StoreError(what, where=file, remedy=remedy)
            seen[key] = file


def _charged(run: RunFolder, layout: Layout) -> list[tuple[Any, ...]]:
    """The rows of `run_charges`. The ledger knows an account by its name alone."""
    named = charges(run.root / LEDGER)
    accounts = {
        f"{table.account} {job}": (table.account, job.model, job.language, job.topic)
        for table in layout.tables
        if table.account and named
        for job in run.jobs(table.name)
    }
    # A job without a row has no folder. No stage, language or topic has a space in its name.
    return [
        (*(accounts.get(name) or (name.split(" ", 1)[0], *name.split(" ", 1)[-1].rsplit(" ", 2))), *charged)
        for name, charged in sorted(named.items())
    ]


def _run_rows(manifest: Manifest) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of the tables of `run.sql`."""
    return {
        "run_extractors": [
            (extractor, manifest.reader_id, manifest.extractor.get("sample"))
            for extractor in manifest.extractor_ids.values()
        ],  # one a topic
        "run_models": [(model,) for model in manifest.models],
        "run_asked": [(name, key, id_) for name, asked in manifest.asked.items() for key, id_ in asked.items()],
        "run_setups": [
            (*key.split(" ", 1), setup_id(setup), json.dumps(setup, ensure_ascii=False))
            for key, setup in manifest.setups.items()
        ],
        "former_setups": [
            (key, json.dumps(setup, ensure_ascii=False)) for key, setup in manifest.former_setups.items()
        ],
        "run_prices": [
            (model, *map(price.get, ("input", "output", "batch_discount"))) for model, price in manifest.prices.items()
        ],
        "run_model_facts": [ModelFacts(**facts).row(model) for model, facts in manifest.model_facts.items()],
        "run_countries": [(country,) for country in manifest.countries],
    }


def inputs_of(run: RunFolder, manifest: Manifest, measure: Measure) -> str:
    """The hash of the data that a measure's numbers rest on: what the run asks, and the files of its tables.

    Parts of sharded tables are known by name and size: none is ever written to in place. The time of writing is not
    used, so that the numbers of a copied run are still those of its data.
    """
    return content_id(measure.settings(run, manifest), *data_of(run, measure.tables, measure.topics))


def data_of(
    run: RunFolder, tables: Sequence[Table[Any]], topics: str = ""
) -> tuple[dict[str, str], list[tuple[str, int]]]:
    """What tells whether tables have changed: the hashes of whole files, the names and sizes of parts.

    `topics` as in `Measure`.
    """
    whole = {
        table.name: file_sha256(run.table(table.name))
        for table in tables
        if not table.sharded and run.table(table.name).exists()
    }
    parts = [
        (str(part.relative_to(run.root)), part.stat().st_size)
        for table in tables
        if table.sharded
        for part in committed_parts(run, table)
        if part.parent.name.startswith(f"topic={topics}")
    ]
    return whole, parts


def measure_file(run: RunFolder, table: Table[Any], measure: str) -> Path:
    """The file of what a measure computed: its numbers, or its differences."""
    return run.root / table.name / f"{measure}{SUFFIX}"


def measure_files(run: RunFolder, table: Table[Any]) -> list[Path]:
    """The files of all measures."""
    return sorted((run.root / table.name).glob(f"*{SUFFIX}"))
