"""DuckDB's errors about somebody's query, as one line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from polyculture.cache.corrupt_files import damaged_file
from polyculture.cache.errors import StoreError


@contextmanager
def query_faults(
    see: str, seconds: float | None = None, longer: str = "--timeout SECONDS", runs: Iterable[Path] | None = None
) -> Iterator[None]:
    """Turns DuckDB's errors of a block into a `StoreError`; those about a damaged file are left as they are.

    `see` says where views and columns are listed. `seconds` is the time after which the query was stopped, `longer` how
    to give it more. `runs` are the folders that the query reads; by default all that this process has opened.
    """
    try:
        yield
    except duckdb.InterruptException as fault:
        if seconds is None:
            raise
        what = f"the query took longer than {seconds:g} seconds, and was stopped"
        raise StoreError(what, remedy=f"Ask for less, or give it longer: {longer}.") from fault
    except duckdb.Error as fault:
        if damaged_file(fault, runs=runs):
            raise
        raise StoreError(f"the query cannot be answered: {_said(fault)}", remedy=_remedy(fault, see)) from fault


def _said(fault: Exception) -> str:
    """All that DuckDB says of a fault, its hints included, in one line."""
    lines = [line.strip() for line in str(fault).splitlines()]
    return " ".join(line for line in lines if line.strip("^ "))


def _remedy(fault: Exception, see: str) -> str:
    if isinstance(fault, duckdb.BinderException | duckdb.CatalogException):
        return f"See the views and their columns: {see}"
    if isinstance(fault, duckdb.PermissionException | duckdb.InvalidInputException):
        return "The store is read-only and sees only the run's own files: use SELECT."
    if isinstance(fault, duckdb.OutOfMemoryException):
        return "Ask for less at a time, or free some memory."
    return "Correct the query."
