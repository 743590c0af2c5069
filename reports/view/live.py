"""A run's store for a live page: queries within limits."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from polyculture.cache.errors import StoreError
from polyculture.cache.store.queries import LiveStore, check_query
from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import Store
from polyculture.reports.view.question import FetchedRows, StoreQuery, ask, stop

SQL = Path(__file__).with_name("sql")
Process = subprocess.Popen[bytes]
StoreCall = Callable[[Store], FetchedRows]


@dataclass(frozen=True, slots=True)
class QueryRows:
    """Rows of a query; `more`: there are more than the limit."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    more: bool

    def records(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


@dataclass
class PageStore(LiveStore):
    """The store behind the pages. A query may take a minute, and answers with its first rows."""

    seconds: float | None = 60.0
    _running: set[Store] = field(default_factory=set)
    _told: dict[tuple[int, str], QueryRows] = field(default_factory=dict)  # by how often the store was opened
    _asking: set[Process] = field(default_factory=set)

    def ask(self, name: str, limit: int = 1_000, **values: Any) -> QueryRows:
        """The rows of `sql/<name>.sql`."""
        return self.answer(read_sql(SQL, name), values, limit)

    def told(self, name: str) -> QueryRows:
        """The same rows, kept until the run writes: for queries that read the whole store."""
        self.cursor().close()  # reopens the store where the run has written
        key = (self.opened, name)
        if key not in self._told:
            self._told = {known: answer for known, answer in self._told.items() if known[0] == self.opened}
            self._told[key] = self.ask(name)
        return self._told[key]

    def question(self, query: str, limit: int, longest: int) -> QueryRows:
        """The rows of a reader's own SELECT; texts and nested values as their first `longest` characters.

        Raises `StoreError` for any other statement, and where it fails.
        """
        try:
            check_query(query)
        except duckdb.Error as fault:
            raise StoreError(str(fault).splitlines()[0]) from fault
        asked = StoreQuery(self.run, self.layout, self.folder, query, limit, longest, self.seconds or 0)
        columns, rows = ask(asked, self._asking)
        return QueryRows(columns, rows[:limit], len(rows) > limit)

    def answer(self, query: str, values: Mapping[str, Any], limit: int) -> QueryRows:
        """At most `limit` rows of a query. Raises `StoreError` where it takes too long, else DuckDB's own errors."""
        return self._again(lambda cursor: _first_rows(cursor, query, values, limit), limit)

    def interrupt(self) -> None:
        """Stops all queries: nobody reads their answers any more."""
        for cursor in tuple(self._running):
            cursor.interrupt()
        for process in tuple(self._asking):
            stop(process)

    def _again(self, ask: StoreCall, limit: int) -> QueryRows:
        def watched(cursor: Store) -> FetchedRows:
            self._running.add(cursor)
            try:
                return ask(cursor)
            finally:
                self._running.discard(cursor)

        try:
            columns, rows = self.asked(watched)
        except duckdb.InterruptException as fault:
            remedy = "Ask for less, or use `polyculture sql`, which has a limit of its own."
            raise StoreError(
                f"that takes longer than {self.seconds:g} seconds, and was stopped", remedy=remedy
            ) from fault
        return QueryRows(columns, rows[:limit], len(rows) > limit)


def _first_rows(cursor: Store, query: str, values: Mapping[str, Any], limit: int) -> FetchedRows:
    found = cursor.execute(query, dict(values) or None)
    return tuple(column[0] for column in found.description or ()), found.fetchmany(limit + 1)
