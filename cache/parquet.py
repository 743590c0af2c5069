"""Whole Parquet files with the columns of `cache.schema`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from polyculture.cache.errors import StoreError
from polyculture.cache.files import replacing
from polyculture.cache.schema import TABLES, arrow_schema, later_columns

SUFFIX = ".parquet"


def rows_to_table(name: str, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows as dictionaries, one per column of `cache.schema.TABLES[name]`, as an Arrow table."""
    return pa.Table.from_pylist(list(rows), schema=arrow_schema(name))


def objects_to_table(name: str, objects: Sequence[Any]) -> pa.Table:
    """Row objects (`Prompt`, `Link`, ...) as an Arrow table, column by column."""
    schema = arrow_schema(name)
    columns = [
        pa.array((getattr(row, field.name) for row in objects), type=schema.field(field.name).type, size=len(objects))
        for field in fields(TABLES[name])
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def write_parquet(table: pa.Table, path: Path, metadata: Mapping[str, str] | None = None) -> None:
    """Writes `table` to `path`, whole or not at all; `metadata` goes into the file's footer.

    Raises `StoreError` where the folder cannot be written or the disk is full.
    """
    if metadata:
        footer = {key.encode(): value.encode() for key, value in metadata.items()}
        table = table.replace_schema_metadata(footer)
    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def read_rows(path: Path, table: str, columns: Sequence[str]) -> pa.Table:
    """`columns` of a file of `cache.schema.TABLES[table]`; those that came later than the file are null.

    Raises `StoreError` where others are missing, too.
    """
    missing = missing_columns(path, table)
    with pq.ParquetFile(path) as file:  # `pq.read_table` does the same, and loads pandas
        rows = file.read([name for name in columns if name not in missing])
    for name in missing.intersection(columns):
        rows = rows.append_column(name, pa.nulls(rows.num_rows, arrow_schema(table).field(name).type))
    return rows.select(list(columns))


def missing_columns(path: Path, table: str) -> frozenset[str]:
    """The columns that came later than a file. Raises `StoreError` where it lacks any other."""
    missing = frozenset(arrow_schema(table).names).difference(_footer(path).names)
    if unknown := sorted(missing - later_columns(table)):
        raise StoreError(
            f"has no column {', '.join(unknown)}: another version of Polyculture wrote it",
            where=path,
            remedy="Read this run with that version, or begin a new one.",
        )
    return missing


def read_metadata(path: Path) -> dict[str, str]:
    """What `write_parquet` was given as `metadata`; empty where the file is absent or has none."""
    if not path.exists():
        return {}
    found = _footer(path).metadata or {}
    return {key.decode(): value.decode() for key, value in found.items() if not key.startswith(b"ARROW:")}


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Arrow does not say which file it cannot read; in this block its fault begins with the path."""
    try:
        yield
    except pa.ArrowInvalid as fault:
        raise pa.ArrowInvalid(f"{path}: {fault}") from fault


def _footer(path: Path) -> pa.Schema:
    with naming(path):
        return pq.read_schema(path)
