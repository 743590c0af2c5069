"""The SQL of this room, by file name."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.sql_file import read_sql

_FOLDER = Path(__file__).with_name("sql")


def statement(name: str) -> str:
    """The text of `sql/<name>.sql`."""
    return read_sql(_FOLDER, name)
