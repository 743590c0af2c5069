"""Opens DuckDB, always here: without its progress bar, and within a share of the memory that is free."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path

import duckdb

from polyculture.cache.errors import StoreError
from polyculture.cache.files import scratch_folder

SHARE = 0.5
LEAST = 256 << 20  # bytes; with less DuckDB answers nothing of use
_GROUP = Path("/sys/fs/cgroup")
_numbers = count()


def connect(
    file: Path | None = None, *, read_only: bool = False, memory: str | None = None, spill: Path | None = None
) -> duckdb.DuckDBPyConnection:
    """A connection to `file`, or to a database in memory.

    DuckDB uses at most `memory` ('1GB'), by default half of the free memory. It writes what does not fit to files in
    the folder `spill`. Raises `StoreError` for a path that DuckDB cannot open.
    """
    if file is not None:
        check_path(file)
    connection = duckdb.connect(":memory:" if file is None else str(file), read_only=read_only)
    _set_up(connection)
    connection.execute("SET memory_limit = $memory", {"memory": memory or memory_limit()})
    if spill is not None:
        connection.execute("SET temp_directory = $spill", {"spill": str(spill)})
    return connection


def _set_up(connection: duckdb.DuckDBPyConnection) -> None:
    # The front door shows progress, in one form for all work. A notebook without ipywidgets has no bar, and DuckDB
    # refuses to say anything of it there.
    with suppress(duckdb.InvalidInputException):
        connection.execute("SET enable_progress_bar = false")
    # DuckDB 2.0.0 ends a join over millions of mentions with an internal error ("global dictionary column 0 changed
    # identity") where it caches small chunks between operators. Without that cache, the join works. For all cursors.
    connection.execute("SET GLOBAL debug_enable_caching_operators = false")


@contextmanager
def memory_database(file: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty database in memory, dropped with the block; or the one in `file`.

    DuckDB takes 17 ms of CPU time to begin, and a command has up to ten of these: they are attached to one instance of
    the process. What is set for an instance, such as its memory, holds for all; whoever needs another limit calls
    `connect`.
    """
    if file is not None:
        check_path(file)
    name = f"scratch_{next(_numbers)}"
    path = ":memory:" if file is None else str(file).replace("'", "''")
    with _shared(os.getpid()).cursor() as connection:
        _set_up(connection)
        connection.execute(f"ATTACH '{path}' AS {name}")
        try:
            connection.execute(f"USE {name}")
            yield connection
        finally:
            connection.close()  # a query that is still read would keep the database
            with _shared(os.getpid()).cursor() as other:
                other.execute(f"DETACH {name}")


def kept_database() -> duckdb.DuckDBPyConnection:
    """An empty database in memory that stays until this process ends."""
    name = f"kept_{next(_numbers)}"
    connection = _shared(os.getpid()).cursor()
    _set_up(connection)
    connection.execute(f"ATTACH ':memory:' AS {name}")
    connection.execute(f"USE {name}")
    return connection


def cursor_of(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Another connection to the database that a connection uses, to be closed."""
    [(name,)] = connection.execute("SELECT current_database()").fetchall()
    cursor = connection.cursor()
    cursor.execute(f"USE {name}")
    return cursor


@cache
def _shared(process: int) -> duckdb.DuckDBPyConnection:
    """One for each process: a fork has no threads of its parent's DuckDB.

    It writes what does not fit into memory to a folder that is removed when the process ends. If the process is killed,
    the next process that opens a database removes the folder.
    """
    with ExitStack() as opening:
        spill = opening.enter_context(scratch_folder("duckdb"))
        connection = opening.enter_context(connect(spill=spill))
        atexit.register(_close, process, opening.pop_all())
    return connection


def _close(process: int, opened: ExitStack) -> None:
    if process == os.getpid():  # a fork must not remove what its parent uses
        opened.close()


def check_path(path: Path) -> None:
    """Raises `StoreError` for a path with a sign that DuckDB takes for the end of a file's name."""
    if "?" in str(path.absolute()):
        what = "has a question mark in its path, where the name ends for DuckDB"
        raise StoreError(what, where=path, remedy="Rename the folder, or choose another place.")


def memory_limit(share: float = SHARE) -> str:
    """A `share` of the free memory of this machine, or of this process's container, as DuckDB takes it ('812MiB')."""
    return f"{max(LEAST, int(share * free_memory())) >> 20}MiB"


def most_memory() -> int:
    """Bytes that a process may occupy which answers somebody's query: three quarters of what is free. DuckDB stops
    itself at half; what Python holds of an answer comes on top."""
    return max(4 * LEAST, int(1.5 * SHARE * free_memory()))


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_memory() -> int:
    """Bytes that can be taken without swapping: of the machine, or of a container with less."""
    return min([_of_machine(), *_of_container()])


def _of_machine() -> int:
    with suppress(OSError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    # Elsewhere than on Linux nothing tells what is free without a further package: half of all is taken to be.
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _of_container() -> list[int]:
    try:
        bound, used = ((_GROUP / name).read_text(encoding="ascii").strip() for name in ("memory.max", "memory.current"))
    except OSError:
        return []
    return [int(bound) - int(used)] if bound.isdecimal() else []
