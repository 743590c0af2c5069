"""Parquet files of a run that something else has cut or overwritten: told in one line, whoever came upon them."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pyarrow as pa

from polyculture.cache.errors import StoreError
from polyculture.cache.layout import Layout
from polyculture.cache.store import CORE

_NAMED = re.compile(r"(/[^'\"\n]+\.parquet)")
_NO_FILE = ("No files found", "Cannot open file")  # DuckDB of what is gone, or may not be read
_JOB_DEPTH = 5  # folders of a part: table, model, language, topic, and the file itself


def damaged_file(fault: Exception, layout: Layout = CORE) -> StoreError | None:
    """What DuckDB or Arrow says of a Parquet file that it cannot read, as a user's error; None of any other fault."""
    named = _NAMED.search(str(fault)) if isinstance(fault, (duckdb.Error, pa.ArrowInvalid)) else None
    if named is None:
        return None
    path = Path(named[1])
    if any(words in str(fault) for words in _NO_FILE):
        return StoreError("cannot be opened", where=path, remedy="Is it there, and may you read it? Then try again.")
    return StoreError(
        "cannot be read as Parquet: something else than Polyculture cut or overwrote it",
        where=path,
        remedy=f"Put it back from a copy, or delete {_commit(path, layout)} and run again: it is made anew.",
    )


def _commit(path: Path, layout: Layout) -> Path:
    """The part that commits the rows of a file, which must go for these to be made again; of other files, itself."""
    above, inside = path.parts[:-_JOB_DEPTH], path.parts[-_JOB_DEPTH:]
    commits = {table.name: table.commit for table in layout.tables if table.commit}
    return Path(*above, commits.get(inside[0], inside[0]), *inside[1:])
