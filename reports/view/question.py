"""A reader's own question to the run behind the pages, asked in a process of its own that is watched.

`python -m polyculture.reports.view.question` is that process: it reads a pickled `StoreQuery` from standard input and
writes a pickled answer, or what is wrong with the question, to standard output.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from polyculture.cache.database import most_memory
from polyculture.cache.errors import StoreError
from polyculture.cache.guard import GRACE, watching
from polyculture.cache.store.layout import Layout
from polyculture.cache.store.queries import interrupted_after, over_limit
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import Store, open_store

# Types of values of a bounded length; any other is shown as text: a date of DuckDB may be none of Python's.
_SHORT = frozenset(
    (
        *("boolean", "tinyint", "smallint", "integer", "bigint", "hugeint"),
        *("utinyint", "usmallint", "uinteger", "ubigint", "uhugeint", "float", "double", "decimal"),
        "uuid",
    )
)
FetchedRows = tuple[tuple[str, ...], list[tuple[Any, ...]]]  # columns and rows
LONGER = "use `polyculture sql`, which has a limit of its own"


@dataclass(frozen=True, slots=True)
class StoreQuery:
    """A SELECT to a run's store: `limit` rows, texts of `longest` characters. What it spills lies in `folder`."""

    run: RunFolder
    layout: Layout
    folder: Path
    query: str
    limit: int
    longest: int
    seconds: float


def ask(question: StoreQuery, at_work: set[subprocess.Popen[bytes]]) -> FetchedRows:
    """The first rows, one more than the limit. The process that asks is in `at_work` meanwhile.

    Raises `StoreError` where the question is wrong, or takes longer or more memory than it may.
    """
    command, memory = [sys.executable, "-P", "-m", "polyculture.reports.view.question"], most_memory()
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process,  # noqa: S603
        watching(process.pid, question.seconds + 10 * GRACE, memory) as watch,  # it counts its seconds itself
    ):
        at_work.add(process)
        try:
            told, _ = process.communicate(pickle.dumps(question))
        finally:
            at_work.discard(process)
    if watch.over:
        raise over_limit(watch.over, question.seconds if watch.over == "time" else memory, LONGER)
    if process.returncode:
        raise StoreError("the query was stopped", remedy="Ask for less at a time.")
    found: FetchedRows | str = pickle.loads(told)  # noqa: S301, of our own process
    if isinstance(found, str):
        raise StoreError(found)
    return found


def main() -> None:
    """The process that asks."""
    question: StoreQuery = pickle.loads(sys.stdin.buffer.read())  # noqa: S301, of our own process
    try:
        answer: FetchedRows | str = _answer(question)
    except duckdb.InterruptException:
        answer = str(over_limit("time", question.seconds, LONGER))
    except duckdb.Error as fault:
        answer = str(fault).splitlines()[0]
    sys.stdout.buffer.write(pickle.dumps(answer))
    sys.stdout.buffer.flush()


def _answer(question: StoreQuery) -> FetchedRows:
    with (
        TemporaryDirectory(dir=question.folder, prefix="spill-") as spill,
        open_store(question.run, question.layout, sandbox=Path(spill)) as store,
        interrupted_after(question.seconds, store),
    ):
        return _shortened(store, question.query, question.limit, question.longest)


def _shortened(store: Store, query: str, limit: int, longest: int) -> FetchedRows:
    """The first rows of a query, cut within DuckDB: a thousand long cells would fill this process."""
    found = store.sql(query)
    names = [f"c{place}" for place in range(len(found.columns))]
    cells = (
        name if kind.id in _SHORT else f"left({name}::VARCHAR, {longest})"
        for name, kind in zip(names, found.types, strict=True)
    )
    # The names are ours: those of a query's columns may stand there twice.
    cut = f"SELECT {', '.join(cells)} FROM answer AS answer({', '.join(names)})"  # noqa: S608
    rows = found.limit(limit + 1).query("answer", cut)
    return tuple(found.columns), rows.fetchall() if rows is not None else []


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ends a process that asks: nobody reads its answer any more."""
    with suppress(ProcessLookupError):
        process.kill()


if __name__ == "__main__":
    from polyculture.reports.view import question as own  # under its own name: as `__main__` its classes are others

    own.main()
