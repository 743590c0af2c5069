"""A store without rows: empty tables, and the views over them. What makes it a run's own is put in by `cache.store`.

DuckDB takes half a second to understand all views, and as long again for each selection: that is done once, and the
file is kept in the user's cache folder (1.3 to 2.4 MB) for as long as the SQL stays as it is.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

import duckdb
import pyarrow as pa

from polyculture.cache.cache_dir import cache_folder
from polyculture.cache.database import connect
from polyculture.cache.dictionary import COLUMNS, describe, describe_selections
from polyculture.cache.errors import StoreError
from polyculture.cache.files import replacing
from polyculture.cache.identity import content_id
from polyculture.cache.schema import TABLES, arrow_schema
from polyculture.cache.selections import COMPUTED, MAIN, selection_files

VIEWS = Path(__file__).with_name("store.sql")
RUN = Path(__file__).with_name("run.sql")
# An empty Arrow table would do, too, but Arrow loads pandas to make one: a quarter of a second of every command.
_SQL_TYPES: dict[pa.DataType, str] = {
    pa.string(): "VARCHAR",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.list_(pa.string()): "VARCHAR[]",
    pa.list_(pa.float64()): "DOUBLE[]",
    pa.map_(pa.string(), pa.string()): "MAP(VARCHAR, VARCHAR)",
}
_KEPT_FOR = 30 * 86400.0  # seconds; what an older version left behind goes then, and what is needed is made again


def open_blank_store(
    path: Path, views: Sequence[Path] = (), selections: Collection[str] = ()
) -> duckdb.DuckDBPyConnection:
    """A store without rows at `path`, to be filled: `views` are SQL files that follow `store.sql`, in order.

    It is a copy of the one in the cache folder. Where that is missing or damaged, it is made, and kept if the folder
    can be written.
    """
    kept = cache_folder() / "stores" / f"{_identity(views, selections)}.duckdb"
    if kept.exists():
        shutil.copyfile(kept, path)
        with suppress(duckdb.IOException):
            return connect(path)
        path.unlink()
    _make(path, views, selections)
    with suppress(StoreError), replacing(kept) as temporary:
        shutil.copyfile(path, temporary)
        _forget_older(kept.parent)
    return connect(path)


def create_views(
    connection: duckdb.DuckDBPyConnection, views: Sequence[Path] = (), selections: Collection[str] = ()
) -> None:
    """Creates empty tables, the views of `store.sql` over them, then `views`; all of them again per selection."""
    for table in TABLES:
        _create_empty(connection, table)
    _execute(connection, [RUN, VIEWS, *views])
    for selection in sorted(selections):
        _create_selection(connection, selection, views)


def _make(path: Path, views: Sequence[Path], selections: Collection[str]) -> None:
    with connect(path) as connection:
        create_views(connection, views, selections)
        rows = describe(connection, [VIEWS, *views]) + describe_selections(sorted(selections))
        connection.from_arrow(pa.Table.from_pylist(rows)).create("dictionary")
        connection.execute("CHECKPOINT")  # closing writes, too, but says nothing where the disk is full


def _create_selection(connection: duckdb.DuckDBPyConnection, selection: str, views: Sequence[Path]) -> None:
    connection.execute(f"CREATE SCHEMA {selection}")
    connection.execute(f"SET search_path = '{selection},{MAIN}'")
    for table in COMPUTED:
        _create_empty(connection, table)
    _execute(connection, [*selection_files(selection), VIEWS, *views])
    connection.execute(f"SET search_path = '{MAIN}'")


def _execute(connection: duckdb.DuckDBPyConnection, files: Sequence[Path]) -> None:
    for file in files:
        connection.execute(file.read_text(encoding="utf-8"))


def _create_empty(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    columns = ", ".join(f'"{field.name}" {_SQL_TYPES[field.type]}' for field in arrow_schema(table))
    connection.execute(f"CREATE TABLE stored_{table} ({columns})")


def _identity(views: Sequence[Path], selections: Collection[str]) -> str:
    """A hash of all that decides what is in the file: SQL, what the dictionary says, columns, DuckDB's version."""
    own = Path(__file__).parent
    of_selections = [file for selection in sorted(selections) for file in selection_files(selection)]
    meanings = sorted({file.with_name(COLUMNS) for file in [VIEWS, *views]})
    code = [own / "blank_store.py", own / "dictionary.py", *sorted((own / "schema").glob("*.py"))]
    files = [file for file in [RUN, VIEWS, *views, *of_selections, *meanings, *code] if file.exists()]
    return content_id(duckdb.__version__, sorted(selections), [file.read_text(encoding="utf-8") for file in files])


def _forget_older(folder: Path) -> None:
    for file in folder.glob("*.duckdb"):
        with suppress(OSError):  # another process removes it, too
            if time.time() - file.stat().st_mtime > _KEPT_FOR:
                file.unlink()
