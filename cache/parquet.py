"""Whole Parquet files with the columns of a `Table`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from polyculture.cache.errors import StoreError
from polyculture.cache.files import replacing
from polyculture.cache.layout import Table

SUFFIX = ".parquet"
_IN_PATHS = ("model", "language", "topic")  # columns that the paths of a job's parts name too
R = TypeVar("R")


def rows_to_table(table: Table[Any], rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows as dictionaries, a key per column of `table`, as an Arrow table."""
    return pa.Table.from_pylist(list(rows), schema=table.schema)


def objects_to_table(table: Table[R], objects: Sequence[R]) -> pa.Table:
    """Row objects (`Prompt`, `Link`, ...) as an Arrow table, column by column."""
    columns = [
        pa.array((getattr(row, field.name) for row in objects), type=field.type, size=len(objects))
        for field in table.schema
    ]
    return pa.Table.from_arrays(columns, schema=table.schema)


def write_parquet(table: pa.Table, path: Path, metadata: Mapping[str, str] | None = None) -> None:
    """Writes `table` to `path`, whole or not at all; `metadata` goes into the file's footer.

    Raises `StoreError` where the folder cannot be written or the disk is full.
    """
    if metadata:
        footer = {key.encode(): value.encode() for key, value in metadata.items()}
        table = table.replace_schema_metadata(footer)
    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)


def in_categories(table: pa.Table) -> pa.Table:
    """The rows of a part, with the columns that its path names as categories.

    `pandas.read_parquet` of a table's folder takes these columns from the paths, as categories, and refuses files that
    hold them as anything else.
    """
    category = pa.dictionary(pa.int32(), pa.string())
    for name in _IN_PATHS:
        place = table.schema.get_field_index(name)
        if place >= 0 and table.schema.field(place).type == pa.string():
            field = table.schema.field(place).with_type(category)
            table = table.set_column(place, field, table.column(place).cast(category))
    return table


def read_rows(path: Path, table: Table[Any], columns: Sequence[str] = ()) -> pa.Table:
    """`columns` of a file of `table`, or all of them. Raises `StoreError` where the file is not of this table."""
    check_columns(path, table)
    wanted = list(columns or table.columns)
    with opened_parquet(path) as file:  # `pq.read_table` does the same, and loads pandas
        rows = file.read(wanted)
    if any(pa.types.is_dictionary(field.type) for field in rows.schema):
        rows = rows.cast(pa.schema([_plain(field) for field in rows.schema]))
    return rows.select(wanted)


def largest(path: Path, column: str) -> int:
    """The largest of a file's whole numbers in a column; -1 where it has no row."""
    with opened_parquet(path) as file:
        place = file.schema_arrow.get_field_index(column)
        groups = [file.metadata.row_group(number).column(place) for number in range(file.metadata.num_row_groups)]
        told = [group.statistics for group in groups]
        if all(one is not None and one.has_min_max for one in told):
            values = [one.max for one in told if one is not None]
        else:
            values = file.read([column])[column].drop_null().to_pylist()
    return max((int(value) for value in values if value is not None), default=-1)


def _plain(field: pa.Field[Any]) -> pa.Field[Any]:
    return field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field


def check_columns(path: Path, table: Table[Any]) -> None:
    """Raises `StoreError` where a file lacks a column of its table."""
    there = frozenset(_footer(path).names)
    if missing := [name for name in table.columns if name not in there]:
        raise StoreError(
            f"has no column {', '.join(missing)}: another version of Polyculture wrote it",
            where=path,
            remedy="Read this run with that version, or begin a new one.",
        )


def read_metadata(path: Path) -> dict[str, str]:
    """What `write_parquet` was given as `metadata`; empty where the file is absent or has none."""
    if not path.exists():
        return {}
    found = _footer(path).metadata or {}
    return {key.decode(): value.decode() for key, value in found.items() if not key.startswith(b"ARROW:")}


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Puts the path before Arrow's errors in this block: Arrow does not name the file."""
    try:
        yield
    except pa.ArrowException as fault:
        raise pa.ArrowInvalid(f"{path}: {fault}") from fault
    except OSError as fault:  # of a damaged page: the system's own errors have a number
        if fault.errno is not None:
            raise
        raise pa.ArrowInvalid(f"{path}: {fault}") from fault


@contextmanager
def opened_parquet(path: Path) -> Iterator[pq.ParquetFile]:
    """A file to read. Every page is held against its checksum, where it has one; errors name the file."""
    with naming(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        yield file


def _footer(path: Path) -> pa.Schema:
    with naming(path):
        return pq.read_schema(path)
