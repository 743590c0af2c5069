"""DuckDB as every room opens it: without its progress bar, and within bounds where the work may be large."""

from __future__ import annotations

from pathlib import Path

import duckdb


def connect(
    file: Path | None = None, *, read_only: bool = False, memory: str | None = None, spill: Path | None = None
) -> duckdb.DuckDBPyConnection:
    """A connection to `file`, or to a database in memory.

    With `memory` ('1GB') DuckDB holds no more than that, and puts the rest into the folder `spill`.
    """
    connection = duckdb.connect(":memory:" if file is None else str(file), read_only=read_only)
    # Progress is shown by the front door, in one form for all work.
    connection.execute("SET enable_progress_bar = false")
    if memory is not None:
        connection.execute("SET memory_limit = $memory", {"memory": memory})
    if spill is not None:
        connection.execute("SET temp_directory = $spill", {"spill": str(spill)})
    return connection
