"""The SQL of this room, by file name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).with_name("sql")


@cache
def statement(name: str) -> str:
    """The text of `sql/<name>.sql`, read once per process."""
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")
