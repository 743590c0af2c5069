"""`store.duckdb`: the views of a run in a file, for people who open it with DuckDB.

It is written at the end of a run, and nothing in Polyculture reads it: it holds no answers, and may be deleted.

The file is tied to the place where it was written: a copied or moved one answers with an error. Its views name a run's
files by absolute paths, so that it can be opened from any folder. DuckDB has no paths relative to a database file:
relative ones are looked for in the present folder first, which may be another run's. A view cannot compute a path
either (DuckDB 2.0.0: `read_parquet` takes neither subqueries nor lateral columns). So a condition of each view compares
where the file is with where it was, and ends in an error.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from polyculture.cache.database import memory_database
from polyculture.cache.files import replacing
from polyculture.cache.identity import content_id
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import Store

_NOT_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS)
_IN_PLACE_SQL = Path(__file__).with_name("in_place.sql")
_OF_FILES = """
SELECT view_name, sql FROM duckdb_views()
WHERE database_name = current_database() AND schema_name = 'main' AND contains(sql, 'read_parquet(')
"""


def write_store_file(run: RunFolder, store: Store) -> None:
    """Writes all tables and views of a run's store to its `store.duckdb`, which replaces the former one in one step.

    Raises `OSError` where it cannot be written.
    """
    with replacing(run.store) as temporary, disk_faults(run.store), memory_database(temporary) as connection:
        connection.begin()  # each of some fifty statements would wait for the disk
        store.copy_to(connection)
        _tie(connection, run.store, temporary)
        connection.commit()
        connection.execute("CHECKPOINT")  # closing writes, too, but does not report a full disk


def _tie(connection: duckdb.DuckDBPyConnection, store: Path, written: Path) -> None:
    """Lets the views of a store answer only where it will be, at `store`; it is at `written` until then."""
    table = f"place_{content_id(str(store.resolve()))}"
    connection.execute(_IN_PLACE_SQL.read_text(encoding="utf-8").replace("$PLACE", table))
    paths = {str(path) for place in (store, written) for path in (place.resolve(), place.absolute())}
    connection.execute(f"INSERT INTO here.{table} SELECT unnest($paths)", {"paths": sorted(paths)})
    for name, sql in connection.execute(_OF_FILES).fetchall():
        connection.execute(f"DROP VIEW {name}")
        connection.execute(f"{sql.rstrip().rstrip(';')} WHERE in_place()")


@contextmanager
def disk_faults(path: Path) -> Iterator[None]:
    """Turns DuckDB's own error for a full disk, or for a folder that one may only read, into the `OSError` that others
    raise."""
    try:
        yield
    except duckdb.Error as fault:
        number = next((one for one in _NOT_WRITTEN if os.strerror(one) in str(fault)), None)
        if number is None:
            raise
        raise OSError(number, os.strerror(number), str(path)) from fault
