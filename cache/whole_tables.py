"""Tables that are one file a run, and stand for what is asked now: rows of the same key are replaced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.layout import Table
from polyculture.cache.parquet import objects_to_table, read_rows
from polyculture.cache.run_folder import RunFolder


def present_rows(
    run: RunFolder,
    table: Table[Any],
    rows: Sequence[Any],
    key: Sequence[str],
    others: Callable[[pa.Table], pa.Table] = lambda rows: rows,
) -> dict[Table[Any], pa.Table]:
    """The table to write so that `rows` take the place of those with the same `key`; nothing where it is so already.

    `others` says what becomes of the rows of other keys. Nothing of the key is NULL.
    """
    now, path = objects_to_table(table, rows), run.table(table.name)
    if not path.exists():
        return {table: now}
    before = read_rows(path, table).cast(table.schema)
    same = pc.is_in(joined(before, key), value_set=joined(now, key))
    kept = before.filter(pc.invert(same))
    left = others(kept)
    if before.filter(same).equals(now) and left.equals(kept):
        return {}
    return {table: pa.concat_tables([left, now])}


def joined(table: pa.Table, key: Sequence[str]) -> Any:
    """The values of each row's key as one text."""
    columns: list[Any] = [table[name].combine_chunks().cast(pa.string()) for name in key]
    return pc.binary_join_element_wise(*columns, "\n")
