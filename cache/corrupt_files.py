"""Parquet files that another program has truncated or overwritten, reported in one line.

DuckDB names a file whose end is damaged, and hardly one with a damaged page. It does not look at the pages' checksums
either: of 40 files with up to 64 changed bytes it read 5 without an error, and wrongly; Arrow, which looks, found all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import duckdb
import pyarrow as pa

from polyculture.cache.core import CORE
from polyculture.cache.errors import StoreError
from polyculture.cache.layout import Layout
from polyculture.cache.parquet import SUFFIX, opened_parquet
from polyculture.cache.store import opened_runs

_NAMED = re.compile(r"(/[^'\"\n]+\.parquet)")
# What DuckDB, and Python's file systems through it, say of what is gone, or may not be read.
_NO_FILE = ("No files found", "Cannot open file", "FileNotFoundError", "PermissionError")
# Mistakes in a query's words: no file is to blame, and none is read through for it.
_OF_THE_QUERY = (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException, duckdb.SyntaxException)
_JOB_DEPTH = 5  # folders of a part: table, model, language, topic, and the file itself


def damaged_file(fault: Exception, layout: Layout = CORE, runs: Iterable[Path] | None = None) -> StoreError | None:
    """DuckDB's or Arrow's error about a Parquet file as a `StoreError`; None for any other error.

    Where the error names no file, those of `runs` are read until one is damaged; by default of all runs that this
    process has opened.
    """
    if not isinstance(fault, (duckdb.Error, pa.ArrowException)):
        return None
    named = _NAMED.search(str(fault))
    if not named and isinstance(fault, _OF_THE_QUERY):
        return None
    path = Path(named[1]) if named else _first_damaged(opened_runs() if runs is None else runs)
    if path is None:
        return None
    if any(words in str(fault) for words in _NO_FILE):
        return StoreError(
            "cannot be opened", where=path, remedy="Check that it exists and that you may read it, then try again."
        )
    return StoreError(
        "is not valid Parquet: another program truncated or overwrote it",
        where=path,
        remedy=f"Restore it from a copy, or delete {_commit(path, layout)} and run again: its rows are made again.",
    )


def _first_damaged(runs: Iterable[Path]) -> Path | None:
    """The first Parquet file of these folders of which a page cannot be read, or is not what its checksum says."""
    for path in (path for run in runs for path in sorted(run.rglob(f"*{SUFFIX}"))):
        try:
            with opened_parquet(path) as file:
                for _ in file.iter_batches():
                    pass
        except pa.ArrowException:
            return path
    return None


def _commit(path: Path, layout: Layout) -> Path:
    """The part that commits the rows of a file; deleting it makes them again. Of other files, the file itself."""
    above, inside = path.parts[:-_JOB_DEPTH], path.parts[-_JOB_DEPTH:]
    commits = {table.name: table.commit for table in layout.tables if table.commit}
    return Path(*above, commits.get(inside[0], inside[0]), *inside[1:])
