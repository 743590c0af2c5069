"""A folder with one Parquet file for each table: an export, or several runs that were joined.

Each file has the rows that count. In an export maps are lists of their keys and values: many a reader of Parquet has no
maps.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from polyculture.cache.errors import StoreError
from polyculture.cache.store.layout import Layout, Table
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.views import sql_type

SETUP = "setup_id"  # the column that says under which setup of its model a request was made
NO_INPUTS = ""  # in the place of the hash of the data that numbers rest on: they came with these data
_REMEDY = "Ask whoever made the folder for it as it was written, or export the run again."


def is_portable(run: RunFolder, layout: Layout) -> bool:
    """Whether a folder has one file for each table of the layout. A run has those of jobs in parts."""
    return any(table.sharded and run.table(table.name).is_file() for table in layout.tables)


def portable_type(kind: str) -> str:
    """The type of a column in such a folder; `kind` is the one that the store has, as DuckDB writes it."""
    if not is_map(kind):
        return kind
    key, _, value = kind.removeprefix("MAP(").removesuffix(")").partition(", ")
    return f'STRUCT("key" {key}, "value" {value})[]'


def is_map(kind: str) -> bool:
    """Whether a type of DuckDB is a map."""
    return kind.startswith("MAP(")


def portable_rows(connection: duckdb.DuckDBPyConnection, rows: str, path: Path, table: Table[Any]) -> str:
    """The query for the rows of a table, in the store's types, from `rows`, which reads the file `path`.

    Raises `StoreError` where the file cannot be read, lacks a column, or has one of another type.
    """
    try:
        described = connection.execute(f"DESCRIBE SELECT * FROM {rows}").fetchall()  # noqa: S608  our own path
    except duckdb.Error as fault:
        said = str(fault).splitlines()[0]
        raise StoreError(f"cannot be read as Parquet ({said})", where=path, remedy=_REMEDY) from fault
    there = {name: kind for name, kind, *_ in described}
    cells = []
    for field in table.schema:
        name, kind = field.name, sql_type(field.type)
        if name == "inputs" and name not in there:
            cells.append(f"'{NO_INPUTS}' AS inputs")
        elif name == SETUP and name in there:  # all rows count, and no export has the addresses that setups are of
            cells.append(f"NULL::VARCHAR AS {SETUP}")
        elif name not in there:
            raise StoreError(f"has no column {name}", where=path, remedy=_REMEDY)
        elif there[name] == kind:  # of a folder that Polyculture alone reads, maps, too
            cells.append(f'"{name}"')
        elif there[name] != portable_type(kind):
            what = f"has the column {name} as {there[name]}, where an export has {portable_type(kind)}"
            raise StoreError(what, where=path, remedy=_REMEDY)
        else:
            cells.append(f'map_from_entries("{name}") AS "{name}"')
    return f"SELECT {', '.join(cells)} FROM {rows}"  # noqa: S608  names are the schema's
