"""The tables of a snapshot: their columns and types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import pyarrow as pa

_FEW = pa.dictionary(pa.int8(), pa.string())  # columns of few distinct values
_COLUMNS: dict[str, list[tuple[str, pa.DataType]]] = {
    "items": [("item", pa.uint32()), ("sitelinks", pa.uint32()), ("revision", pa.uint64())],
    "descriptions": [("item", pa.uint32()), ("language", _FEW), ("description", pa.string())],
    "names": [
        ("item", pa.uint32()),
        ("language", _FEW),
        ("name", pa.string()),
        ("kind", _FEW),
        ("normalised", pa.string()),
        ("key", pa.string()),
    ],
    "claims": [("item", pa.uint32()), ("property", _FEW), ("target", pa.uint32()), ("ended", pa.int16())],
    "redirects": [("item", pa.uint32()), ("target", pa.uint32())],
    "kinds": [("item", pa.uint32()), ("topic", pa.string()), ("kind", pa.string())],
    "fetched": [
        ("way", pa.string()),
        ("language", pa.string()),
        ("term", pa.string()),
        ("asked_at", pa.timestamp("s")),
        ("hits", pa.list_(pa.uint32())),
    ],
}
SCHEMAS = {name: pa.schema(columns) for name, columns in _COLUMNS.items()}
# The same without dictionaries: DuckDB would make ENUMs of them, which take no other words.
PLAIN = {
    name: pa.schema([(field.name, pa.string() if field.type == _FEW else field.type) for field in schema])
    for name, schema in SCHEMAS.items()
}

# The tables, each with the columns that are read and their types; keys have a table of their own.
TABLES = {
    **{name: pa.schema([field for field in schema if field.name != "key"]) for name, schema in PLAIN.items()},
    "keys": pa.schema([PLAIN["names"].field(name) for name in ("item", "language", "name", "kind", "key")]),
    "members": pa.schema(
        {
            "scope": pa.int16(),
            "item": pa.uint32(),
            "distance": pa.uint8(),
            "root": pa.uint32(),
            "path": pa.list_(pa.uint32()),
        }
    ),
}

ArrowTables: TypeAlias = Mapping[str, pa.Table]  # rows by table
