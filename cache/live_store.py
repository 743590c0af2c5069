"""A run's store for many questions: read-only, and reopened when the run writes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import duckdb

from polyculture.cache.free_memory import memory_limit
from polyculture.cache.layout import Layout
from polyculture.cache.readonly_sql import interrupted_after
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.shards import committed_parts
from polyculture.cache.store import open_store

T = TypeVar("T")


@dataclass
class LiveStore:
    """The store of `run` with the views of `layout`, read-only; its database file and spilled data stand in `folder`.

    It is reopened when the run has written, at most every `pause` seconds. A question may take `seconds`. Several may
    be asked at once. `selections` are further schemas (`cache.selections`).
    """

    run: RunFolder
    folder: Path
    layout: Layout
    seconds: float | None = None
    pause: float = 5.0
    selections: Collection[str] = ()
    opened: int = field(default=0, init=False)  # how often
    _connection: duckdb.DuckDBPyConnection | None = field(default=None, init=False)
    _written: object = field(default=None, init=False)
    _looked: float = field(default=0.0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def asked(self, ask: Callable[[duckdb.DuckDBPyConnection], T], seconds: float | None = None) -> T:
        """What `ask` answers, asked once more where the run has written a file anew meanwhile.

        Raises `duckdb.InterruptException` where it takes longer than `seconds`, else DuckDB's own errors.
        """
        longest = seconds or self.seconds
        try:
            return self._answer(self.cursor(), ask, longest)
        except duckdb.Error as fault:
            if not _went_away(fault):
                raise
            return self._answer(self.cursor(afresh=True), ask, longest)

    def cursor(self, afresh: bool = False) -> duckdb.DuckDBPyConnection:
        """A connection of its own to the present store, to be closed."""
        with self._lock:
            now = time.monotonic()
            connection = self._connection
            if connection is None or afresh or now - self._looked >= self.pause:
                written = _written(self.run, self.layout)
                if connection is None or afresh or written != self._written:
                    # Questions to the one before are still being answered: its file has lost its name, and loses its
                    # room on the disk when nobody reads it any more.
                    connection = open_store(
                        self.run,
                        self.layout,
                        selections=self.selections,
                        at=self.folder / "store.duckdb",
                        memory=memory_limit(),
                    )
                    self.opened += 1
                self._connection, self._written, self._looked = connection, written, now
            return connection.cursor()

    def close(self) -> None:
        """Closes the store; the next question opens it anew."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @staticmethod
    def _answer(
        cursor: duckdb.DuckDBPyConnection, ask: Callable[[duckdb.DuckDBPyConnection], T], seconds: float | None
    ) -> T:
        try:
            with nullcontext() if seconds is None else interrupted_after(seconds, cursor):
                return ask(cursor)
        finally:
            cursor.close()


def _went_away(fault: duckdb.Error) -> bool:
    """Has the run written a file anew, so that the one of before is gone?"""
    return isinstance(fault, duckdb.IOException) or "FileNotFoundError" in str(fault)


def _written(run: RunFolder, layout: Layout) -> object:
    """A value that changes when the run writes: no part is ever written in place."""
    whole = [(str(path), path.stat().st_mtime_ns) for path in run.whole_files]
    parts = [committed_parts(run, table) for table in layout.tables if table.sharded]
    return run.manifest.read_bytes(), whole, parts
