"""The store: a run's Parquet files, read through DuckDB views in memory.

    with open_store(run, layout) as store:
        store.sql("SELECT language, count(*) FROM responses GROUP BY ALL").fetchall()

This is the one way to read a run's tables. Nothing is written. Tables and views are made when a query first names them,
with what these read: of a table that nobody asks for no file is looked at. `cache.store.store_file` writes the same
views to `store.duckdb`, for people who open a run with DuckDB; nothing here reads that file.

To create a view, DuckDB binds all that is below it. That took 0.9 s for the 254 views of all instruments, and with
thousands of files below them more. So a connection of its own creates them, for which what several views read is an
empty temporary table of the same columns: 0.35 s for all, 0.15 s for those of a report, whatever the number of files.
A run opens some twenty stores, one after the other. So what one of them asked for is bound once more, over empty tables
(`_bound_views`), and the later ones copy it from there: all views in a tenth of the time.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

import duckdb
import pyarrow as pa

from polyculture.cache.database import connect, cursor_of, kept_database, memory_database, memory_limit
from polyculture.cache.store.inventory import require_moved_in
from polyculture.cache.store.layout import Layout, Table
from polyculture.cache.store.manifest import Manifest, require_run
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.run_tables import RunTables
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.sql_file import describe, names_in
from polyculture.cache.store.views import RUN, ViewStatement, asks_of_schema, create_table, statements_of

DICTIONARY = "dictionary"  # the table that says what views and columns mean
_opened: dict[Path, None] = {}  # folders of runs whose files this process has asked DuckDB for, the latest last


def opened_runs() -> list[Path]:
    """The folders of the runs that this process has opened, the latest first: an error of DuckDB may be about one of
    their files."""
    return list(reversed(_opened))


def open_store(
    run: RunFolder | None,
    layout: Layout = CORE,
    keep: Sequence[str] = (),
    *,
    manifest: Manifest | None = None,
    rows: Mapping[str, pa.Table] = MappingProxyType({}),
    sandbox: Path | None = None,
) -> Store:
    """A run's store, to be closed. Raises `StoreError` where there is no run.

    The rows that count are those of the run's manifest, or of another `manifest`. `rows` replace those that the run has
    of a table, by name. Without a run all tables are empty.

    The views in `keep` are stored in memory when a query first needs them, so that many queries do not read millions of
    mentions each. What the run writes later is not in them.

    With a `sandbox`, a temporary folder, the store is for somebody else's SQL: it reads the run's Parquet files and no
    other, writes into no folder but this one, and takes at most half of the free memory (`cache.store.readonly_files`).
    """
    if run is not None:
        manifest = manifest or require_run(run)
        require_moved_in(run)
        _opened.pop(run.root, None)
        _opened[run.root] = None
    with ExitStack() as opening:
        statements = statements_of(layout)
        bound = None
        if sandbox is None or run is None:
            connection = opening.enter_context(memory_database())
            bound = _bound_views(layout, statements)
        else:
            # A DuckDB of its own: what is set here holds for all connections to one.
            connection = opening.enter_context(connect(memory=memory_limit()))
            _confine(connection, run, sandbox)
        source = RunTables(run, manifest, layout, rows, read_only=sandbox is not None)
        views = _Views(opening.enter_context(cursor_of(connection)), layout, statements, source, bound)
        return Store(connection, views, keep, opening.pop_all())


def _confine(connection: duckdb.DuckDBPyConnection, run: RunFolder, spill: Path) -> None:
    from polyculture.cache.store.readonly_files import confine  # fsspec, which our own SQL does not need

    confine(connection, run.root, spill)
    connection.execute("SET lock_configuration = true")


class Store:
    """A run's tables and views, open for reading (`open_store`). Each is made when a query first names it."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        views: _Views,
        keep: Sequence[str] = (),
        opened: ExitStack | None = None,
    ) -> None:
        """`opened` closes what was opened for this store; a cursor has nothing of its own but its connection."""
        self._connection, self._views, self._keep = connection, views, keep
        self._opened = opened or ExitStack()
        self._making = False

    @property
    def views(self) -> list[str]:
        """The names of all tables and views that can be asked for, in order, but for the dictionary."""
        return self._views.names

    def reads(self, name: str) -> bool:
        """Whether a query until now read a table or view, be it by another view."""
        return self._views.is_made(name)

    def sql(self, query: str, *, params: object = None) -> duckdb.DuckDBPyRelation:
        """What a query selects. Raises DuckDB's errors, and `StoreError` for a file of the run that cannot be used."""
        self._make(query)
        try:
            return self._connection.sql(query, params=params)
        except duckdb.CatalogException:  # it names a view where `names_in` does not look, as in PIVOT
            if not self._make(None):
                raise
            return self._connection.sql(query, params=params)

    def execute(self, query: str, parameters: object = None) -> duckdb.DuckDBPyConnection:
        """Executes a statement; returns the connection that has its rows. Raises as `sql`."""
        self._make(query)
        try:
            return self._connection.execute(query, parameters)
        except duckdb.CatalogException:
            if not self._make(None):
                raise
            return self._connection.execute(query, parameters)

    def table(self, name: str) -> duckdb.DuckDBPyRelation:
        """All rows of a table or view."""
        self._make(f'FROM "{name}"')
        return self._connection.table(f'"{name}"')

    def describe(self, view: str) -> tuple[str, duckdb.DuckDBPyRelation]:
        """What a row of a view is, and its columns: `column`, `type` and `meaning` of each."""
        self._make(f'FROM "{view}"')
        row, *columns = self._views.describe(view)
        query, rows = _rows_sql(columns, ("column", "type", "meaning"))
        return row["meaning"], self._connection.sql(query, params=rows)

    def from_arrow(self, rows: pa.Table) -> duckdb.DuckDBPyRelation:
        """The rows of an Arrow table, for a query of their own."""
        return self._connection.from_arrow(rows)

    def from_df(self, rows: Any) -> duckdb.DuckDBPyRelation:
        """The rows of a frame of pandas, for a query of their own."""
        return self._connection.from_df(rows)

    def register(self, name: str, rows: object) -> None:
        """Puts rows in the place of a table or view, for queries of this connection."""
        self._connection.register(name, rows)

    def unregister(self, name: str) -> None:
        """Takes registered rows away again."""
        self._connection.unregister(name)

    def copy_to(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Copies all tables and views to the empty database of another connection of the same DuckDB.

        The views are copied as they are bound: that takes 5 ms, where creating them again takes half a second.
        """
        self._make(None)
        _copy(self._connection, connection)

    def cursor(self) -> Store:
        """The same store for another thread, to be closed. What is kept and registered here is not in it."""
        return Store(cursor_of(self._connection), self._views)

    def interrupt(self) -> None:
        """Ends the query that another thread asks here with `duckdb.InterruptException`."""
        self._connection.interrupt()
        if self._making:
            self._views.interrupt()

    def close(self) -> None:
        """Drops what is in memory. Twice does no harm."""
        self._connection.close()
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _make(self, query: str | None) -> bool:
        """Makes the views that a query names, or all; returns whether there were any to make."""
        self._making = True
        try:
            made = self._views.make(query)
        finally:
            self._making = False
        for view in self._keep:
            if view in made:  # a temporary table takes precedence over the view of its name, in other views, too
                self._connection.execute(f"CREATE TEMP TABLE {view} AS FROM main.{view}")
        return bool(made)


class _Views:
    """What makes the views of a store, for all its cursors, one after the other."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        layout: Layout,
        statements: Iterable[ViewStatement],
        source: RunTables | None = None,
        bound: _Views | None = None,
    ) -> None:
        """The temporary tables of `connection` are the shapes of views: it must be used for nothing else.

        Without a `source` there are no tables but these shapes. What `bound` has is copied from there.
        """
        self._connection, self._layout, self._source, self._bound = connection, layout, source, bound
        self._statements = dict(statements)
        self._made: set[str] = set()
        self._shapes: set[str] = set()
        self._copied: set[str] = set()
        self._asked: set[str] = set()  # by stores for which these are bound
        self._dictionary: list[dict[str, str]] = []
        self._lock = threading.Lock()

    @cached_property
    def names(self) -> list[str]:
        return sorted(name for name, made in self._statements.items() if not _is(made, "MACRO"))

    def interrupt(self) -> None:
        self._connection.interrupt()

    def is_made(self, name: str) -> bool:
        return name in self._made

    def make(self, query: str | None) -> Collection[str]:
        """Makes what a query names and what that rests on, or all there is; returns the names of what was made."""
        with self._lock:
            if len(self._made) > len(self._statements):  # the dictionary, too
                return ()
            schema = query is None or asks_of_schema(query)
            missing = self._missing(None if query is None or schema else names_in(query))
            if not missing and not schema:
                return ()
            before = set(self._made), set(self._shapes), set(self._copied)
            self._connection.begin()
            try:
                if self._bound is not None and not self._made:
                    self._copied = self._bound.copy_to(self._connection)
                self._create_all(missing)
                if schema:
                    self._create_dictionary()
                    self._made.add(DICTIONARY)
                self._connection.commit()
            except BaseException:
                self._made, self._shapes, self._copied = before
                self._connection.rollback()
                raise
            if self._bound is not None:
                self._bound.ask(missing)
            return missing.keys()

    def ask(self, names: Iterable[str]) -> None:
        """Lets the next store have these views by copying."""
        with self._lock:
            self._asked.update(names)

    def copy_to(self, connection: duckdb.DuckDBPyConnection) -> set[str]:
        """Copies what was asked for to the database of a connection, as it is bound; returns the names."""
        with self._lock:
            if missing := self._missing(name.lower() for name in self._asked):
                self._create_all(missing)
            if self._made:
                _copy(self._connection, connection)
            return set(self._made)

    def describe(self, view: str) -> list[dict[str, str]]:
        """The rows of the dictionary about a view that is made."""
        with self._lock:
            return self._described(view)

    def _missing(self, asked: Iterable[str] | None) -> dict[str, Sequence[str]]:
        """What is asked for and not made yet, or all that is not, and what it rests on: the names that each reads, in
        the order in which they are to be made."""
        wanted, missing = set(asked or ()), dict[str, Sequence[str]]()
        for name, statement in reversed(self._statements.items()):
            if name not in self._made and (asked is None or name.lower() in wanted):
                missing[name] = names_in(statement) if isinstance(statement, str) else ()
                wanted.update(missing[name])
        return dict(reversed(missing.items()))

    def _create_all(self, missing: Mapping[str, Sequence[str]]) -> None:
        """Creates tables, views and macros, each with the names that it reads, in their order."""
        named = Counter(name for names in missing.values() for name in names)
        for name, reads in missing.items():
            statement = self._statements[name]
            if isinstance(statement, Table) or _is(statement, "TABLE"):
                self._create_table(name, statement)
            elif name not in self._copied:
                for read in reads:
                    self._shape(read, often=named[read] > 1)
                self._connection.execute(statement)
            self._made.add(name)

    def _create_table(self, name: str, statement: str | Table[Any]) -> None:
        if self._source is None:
            return
        if isinstance(statement, Table):
            self._source.put(self._connection, statement)
            return
        self._connection.execute(statement)
        if rows := self._source.rows(name):
            values = ", ".join("?" * len(rows[0]))
            self._connection.executemany(f"INSERT INTO {name} VALUES ({values})", rows)  # noqa: S608

    def _shape(self, name: str, *, often: bool) -> None:
        """Creates the shape of a table, or of a view that is read `often`."""
        statement = self._statements.get(name, "")
        if name in self._shapes or name not in self._made:  # which is the name of a part of a statement (WITH)
            return
        if isinstance(statement, Table):
            self._connection.execute(create_table(statement, temporary=True))
        elif _is(statement, "TABLE"):
            self._connection.execute(f"CREATE TEMP{statement.removeprefix('CREATE')}")
        elif often and _is(statement, "VIEW"):
            self._connection.execute(f"CREATE TEMP TABLE {name} AS FROM main.{name} WITH NO DATA")
        else:
            return
        self._shapes.add(name)

    def _create_dictionary(self) -> None:
        known = self if self._bound is None else self._bound
        known._dictionary = known._dictionary or self._described()  # what the views of a layout mean is the same always
        query, rows = _rows_sql(known._dictionary, ("view", "column", "type", "meaning"))
        self._connection.execute(f"CREATE TABLE {DICTIONARY} AS {query}", rows)

    def _described(self, view: str | None = None) -> list[dict[str, str]]:
        reads = {
            name: names_in(made)
            for name, made in self._statements.items()
            if isinstance(made, str) and _is(made, "VIEW")
        }
        return describe(self._connection, self._layout, [RUN, *self._layout.files], reads, view)


_bound: dict[tuple[object, ...], _Views] = {}  # by process, which a fork is another of, and what is made


def _bound_views(layout: Layout, statements: Sequence[ViewStatement]) -> _Views:
    """The views of a layout, bound over empty tables, that the stores of this process copy."""
    key = (os.getpid(), *statements)
    if key not in _bound:
        _bound[key] = _Views(kept_database(), layout, statements)
    return _bound[key]


def _copy(source: duckdb.DuckDBPyConnection, to: duckdb.DuckDBPyConnection) -> None:
    """Copies a database to the empty one of another connection of the same DuckDB."""
    [(own,)] = source.execute("SELECT current_database()").fetchall()
    [(other,)] = to.execute("SELECT current_database()").fetchall()
    to.execute(f"COPY FROM DATABASE {own} TO {other}")


def _rows_sql(rows: Sequence[Mapping[str, str]], columns: Sequence[str]) -> tuple[str, dict[str, list[str]]]:
    """A query for rows of text, and its parameters. To make an Arrow table of them would load pandas."""
    cells = ", ".join(f'unnest(${name}) AS "{name}"' for name in columns)
    return f"SELECT {cells}", {name: [row[name] for row in rows] for name in columns}


def _is(statement: str | Table[Any], kind: str) -> bool:
    return isinstance(statement, str) and statement[:20].upper().startswith(f"CREATE {kind} ")
