"""Opens DuckDB: without its progress bar, and with a memory limit where the work may be large."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import duckdb


def connect(
    file: Path | None = None, *, read_only: bool = False, memory: str | None = None, spill: Path | None = None
) -> duckdb.DuckDBPyConnection:
    """A connection to `file`, or to a database in memory.

    With `memory` ('1GB') DuckDB uses no more than that, and spills the rest to the folder `spill`.
    """
    connection = duckdb.connect(":memory:" if file is None else str(file), read_only=read_only)
    # The front door shows progress, in one form for all work. A notebook without ipywidgets has no bar, and DuckDB
    # refuses to say anything of it there.
    with suppress(duckdb.InvalidInputException):
        connection.execute("SET enable_progress_bar = false")
    if memory is not None:
        connection.execute("SET memory_limit = $memory", {"memory": memory})
    if spill is not None:
        connection.execute("SET temp_directory = $spill", {"spill": str(spill)})
    return connection
