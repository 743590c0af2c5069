"""Somebody's queries to a store: checked, ended in time, and their errors in one line.

A query is one SELECT. The connection itself cannot write (`cache.store.readonly_files`); `check_query` refuses in one
line what would, before DuckDB binds it.

An error about a Parquet file that another program has truncated or removed is for `cache.store.damage`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import duckdb

from polyculture.cache.errors import StoreError
from polyculture.cache.store.damage import damaged_file
from polyculture.cache.store.layout import Layout
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.shards import committed_parts
from polyculture.cache.store.store import Store, open_store
from polyculture.cache.text.suggestions import did_you_mean

# SELECT has many forms (WITH, FROM, VALUES, DESCRIBE, SUMMARIZE, SHOW). PIVOT counts as several statements: it first
# collects the values that become columns.
_QUESTIONS = (duckdb.StatementType.SELECT, duckdb.StatementType.MULTI)
ALL_VIEWS = "polyculture sql EXPERIMENT"
_ACTS = frozenset({"copy", "insert", "update", "delete", "merge", "create", "explain", "export"})
T = TypeVar("T")


def check_query(query: str) -> None:
    """Raises `StoreError` unless `query` is one SELECT, in any of the forms that DuckDB has for it.

    Raises `duckdb.Error` for what is no SQL.
    """
    try:
        kinds = [statement.type for statement in duckdb.extract_statements(query)]
    except ValueError:  # DuckDB's Python has no name for some kinds of statements, such as UPDATE EXTENSIONS
        kinds = []
    if len(kinds) != 1 or kinds[0] not in _QUESTIONS or _acts(query):
        raise StoreError("only one SELECT is allowed here", remedy="The store is read-only.")


@contextmanager
def interrupted_after(seconds: float, store: Store) -> Iterator[None]:
    """A block whose query ends with `duckdb.InterruptException` after `seconds`."""
    ended = threading.Event()

    def watch() -> None:
        left = seconds
        while not ended.wait(left):
            store.interrupt()
            left = 0.1  # again: between two statements it has no effect

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        watching.join()


def _acts(query: str) -> bool:
    """Is there a keyword of a statement that acts, at the start or in a WITH?

    DuckDB's types do not tell: `COPY (PIVOT ...) TO` is a MULTI, as a PIVOT is; `WITH x AS (COPY ...) FROM x` is a
    SELECT. A column of that name is asked for in quotation marks.
    """
    text = query.encode()
    tokens = duckdb.tokenize(query)
    ends = [start for start, _ in tokens[1:]] + [len(text)]
    words = (
        text[start:end] for (start, kind), end in zip(tokens, ends, strict=True) if kind == duckdb.token_type.keyword
    )
    return any(word.decode(errors="replace").strip().lower() in _ACTS for word in words)


@contextmanager
def query_faults(
    see: str, runs: Iterable[Path], seconds: float | None = None, longer: str = "--timeout SECONDS"
) -> Iterator[None]:
    """Turns DuckDB's errors of a block into a `StoreError`; those about a damaged file are left as they are.

    `see` says where views and columns are listed. `runs` are the folders that the query reads. `seconds` is the time
    after which the query was stopped, `longer` how to give it more.
    """
    try:
        yield
    except duckdb.InterruptException as fault:
        if seconds is None:
            raise
        raise over_limit("time", seconds, longer) from fault
    except duckdb.Error as fault:
        if damaged_file(fault, runs=runs):
            raise
        raise StoreError(f"the query cannot be answered: {_said(fault)}", remedy=_query_remedy(fault, see)) from fault


def over_limit(limit: str, most: float, longer: str) -> StoreError:
    """The error of a query that was stopped at a limit, 'time' (seconds) or 'memory' (bytes)."""
    if limit == "time":
        what = f"the query took longer than {most:g} seconds, and was stopped"
        return StoreError(what, remedy=f"Ask for less, or give it longer: {longer}.")
    what = f"the query took more than {most / 2**30:.1f} GiB of memory, and was stopped"
    return StoreError(what, remedy="Ask for less at a time, or free some memory.")


def _said(fault: Exception) -> str:
    """All that DuckDB says of a fault, its hints included, in one line."""
    lines = [line.strip() for line in str(fault).splitlines()]
    return " ".join(line for line in lines if line.strip("^ "))


def _query_remedy(fault: Exception, see: str) -> str:
    if isinstance(fault, duckdb.BinderException | duckdb.CatalogException):
        return f"See the views and their columns: {see}"
    if isinstance(fault, duckdb.PermissionException | duckdb.InvalidInputException):
        return "The store is read-only and sees only the run's own files: use SELECT."
    if isinstance(fault, duckdb.OutOfMemoryException):
        return "Ask for less at a time, or free some memory."
    return "Correct the query."


def known_view(store: Store, asked: str, see: str = ALL_VIEWS) -> str:
    """The name of a view as the store has it. Raises `StoreError` where there is none, with names like it.

    `see` says where all views are listed.
    """
    wanted = asked.strip().strip('"').lower()
    wanted = wanted if wanted in store.views else wanted.rpartition(".")[2]  # 'main.diversity' is diversity
    if wanted in store.views:
        return wanted
    remedy = did_you_mean(wanted, store.views, most=3, otherwise=f"See all of them: {see}")
    raise StoreError(f"there is no view {asked}", remedy=remedy)


@dataclass
class LiveStore:
    """The store of `run` with the views of `layout`, for somebody else's SQL; what it spills lies in `folder`.

    It is reopened when the run has written, at most every `pause` seconds. A question may take `seconds`. Several may
    be asked at once.
    """

    run: RunFolder
    folder: Path
    layout: Layout
    seconds: float | None = None
    pause: float = 5.0
    opened: int = field(default=0, init=False)  # how often
    _store: Store | None = field(default=None, init=False)
    _written: object = field(default=None, init=False)
    _looked: float = field(default=0.0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def asked(self, ask: Callable[[Store], T], seconds: float | None = None) -> T:
        """What `ask` answers, asked once more where the run has written a file anew meanwhile.

        Raises `duckdb.InterruptException` where it takes longer than `seconds`, else DuckDB's own errors.
        """
        longest = seconds or self.seconds
        try:
            return self._answer(self.cursor(), ask, longest)
        except duckdb.Error as fault:
            gone = isinstance(fault, duckdb.IOException) or "FileNotFoundError" in str(fault)  # written anew meanwhile
            if not gone:
                raise
            return self._answer(self.cursor(afresh=True), ask, longest)

    def cursor(self, afresh: bool = False) -> Store:
        """A cursor of its own to the present store, to be closed."""
        with self._lock:
            now = time.monotonic()
            store = self._store
            if store is None or afresh or now - self._looked >= self.pause:
                written = _written(self.run, self.layout)
                if store is None or afresh or written != self._written:
                    # The one before is not closed: questions to it are still being answered.
                    store = open_store(self.run, self.layout, sandbox=self.folder / "spill")
                    self.opened += 1
                self._store, self._written, self._looked = store, written, now
            return store.cursor()

    def close(self) -> None:
        """Closes the store; the next question opens it anew."""
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None

    @staticmethod
    def _answer(cursor: Store, ask: Callable[[Store], T], seconds: float | None) -> T:
        with cursor, nullcontext() if seconds is None else interrupted_after(seconds, cursor):
            return ask(cursor)


def _written(run: RunFolder, layout: Layout) -> object:
    """A value that changes when the run writes: no part is ever written in place."""
    whole = [(str(path), path.stat().st_mtime_ns) for path in run.whole_files]
    parts = [committed_parts(run, table) for table in layout.tables if table.sharded]
    return run.manifest.read_bytes(), whole, parts
