"""Numbers that SQL cannot give: computed from a run's store, and kept in it as a table of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import duckdb

from polyculture.cache.layout import Layout, Table
from polyculture.cache.parquet import objects_to_table, write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store

Row = TypeVar("Row")


def measured(
    run: RunFolder, layout: Layout, table: Table[Row], rows: Callable[[duckdb.DuckDBPyConnection], Iterable[Row]]
) -> list[Row]:
    """Writes and returns the rows of a table that `rows` makes of the store.

    Raises `StoreError` where there is no run or the folder cannot be written.
    """
    with open_store(run, layout) as store:
        found = list(rows(store))
    write_parquet(objects_to_table(table, found), run.table(table.name))
    return found
