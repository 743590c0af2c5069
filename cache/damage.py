"""Parquet files of a run that something else has cut or overwritten: told in one line, whoever came upon them."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pyarrow as pa

from cache.errors import StoreError
from cache.store import SHARDED

_NAMED = re.compile(r"(/[^'\"\n]+\.parquet)")


def damaged_file(fault: Exception) -> StoreError | None:
    """What DuckDB or Arrow says of a Parquet file that it cannot read, as a user's error; None of any other fault."""
    named = _NAMED.search(str(fault)) if isinstance(fault, (duckdb.Error, pa.ArrowInvalid)) else None
    return _damaged(Path(named[1])) if named else None


def _damaged(path: Path) -> StoreError:
    """The part that commits the file's rows must go for these to be made again."""
    commit = Path(*(SHARDED.get(folder, folder) for folder in path.parts))
    return StoreError(
        "cannot be read as Parquet: something else than Polyculture cut or overwrote it",
        where=path,
        remedy=f"Put it back from a copy, or delete {commit} and run again: what is missing is made anew.",
    )
