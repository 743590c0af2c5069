"""SQL statements stand in `.sql` files beside the code that runs them."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def read_sql(folder: Path, name: str) -> str:
    """The text of `<folder>/<name>.sql`, read once per process. Raises `FileNotFoundError` where there is none."""
    return (folder / f"{name}.sql").read_text(encoding="utf-8")
