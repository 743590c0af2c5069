"""Ties a `store.duckdb` to the place where it was written: a copied or moved one answers with an error.

Its views name a run's files by absolute paths, so that it can be opened from any folder. DuckDB has no paths relative
to a database file: relative ones are looked for in the present folder first, which may be another run's. What was tried
on DuckDB 2.0.0: a view cannot compute a path (`read_parquet` takes neither subqueries nor lateral columns). A condition
of each view can compare where the file is with where it was, and end in an error.

Our own connections need no such condition: a temporary macro of the same name takes its place, at no cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import duckdb

from polyculture.cache.identity import content_id

IN_PLACE = "in_place()"
_SQL = Path(__file__).with_name("in_place.sql")


def tie(connection: duckdb.DuckDBPyConnection, store: Path, others: Iterable[Path]) -> None:
    """Creates `in_place()` in a store that will stand at `store`; it may stand at the `others`, too."""
    table = f"place_{content_id(str(store.resolve()))}"
    connection.execute(_SQL.read_text(encoding="utf-8").replace("$PLACE", table))
    paths = {str(path) for place in (store, *others) for path in (place.resolve(), place.absolute())}
    connection.execute(f"INSERT INTO here.{table} SELECT unnest($paths)", {"paths": sorted(paths)})


def untie(connection: duckdb.DuckDBPyConnection) -> None:
    """Leaves the condition out of all queries of this connection, which has just written the store."""
    connection.execute("CREATE TEMP MACRO in_place() AS true")
