"""Checks queries to a store: one SELECT, and nothing that writes."""

from __future__ import annotations

import duckdb

from polyculture.cache.errors import StoreError

# PIVOT counts as several statements: it first collects the values that become columns.
_QUESTIONS = (duckdb.StatementType.SELECT, duckdb.StatementType.MULTI)


def check_query(query: str) -> None:
    """Raises `StoreError` unless `query` is one SELECT, in any of the forms that DuckDB has for it.

    A store is opened read-only and sees only the run's folder, but `COPY ... TO` could write into that folder.
    Raises `duckdb.Error` for what is no SQL.
    """
    statements = duckdb.extract_statements(query)
    if len(statements) != 1 or statements[0].type not in _QUESTIONS:
        raise StoreError("only one SELECT is allowed here", remedy="The store is read-only.")
