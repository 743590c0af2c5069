"""Checks queries to a store: one SELECT, and nothing that writes.

This is the second layer: the connection itself cannot write (`cache.readonly_files`). This check refuses a statement
that would write in one line, before DuckDB binds it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from polyculture.cache.errors import StoreError

# SELECT has many forms (WITH, FROM, VALUES, DESCRIBE, SUMMARIZE, SHOW). PIVOT counts as several statements: it first
# collects the values that become columns.
_QUESTIONS = (duckdb.StatementType.SELECT, duckdb.StatementType.MULTI)
_ACTS = frozenset({"copy", "insert", "update", "delete", "merge", "create", "explain", "export"})


def check_query(query: str) -> None:
    """Raises `StoreError` unless `query` is one SELECT, in any of the forms that DuckDB has for it.

    Raises `duckdb.Error` for what is no SQL.
    """
    statements = duckdb.extract_statements(query)
    if len(statements) != 1 or statements[0].type not in _QUESTIONS or _acts(query):
        raise StoreError("only one SELECT is allowed here", remedy="The store is read-only.")


@contextmanager
def interrupted_after(seconds: float, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """A block whose query ends with `duckdb.InterruptException` after `seconds`."""
    watch = threading.Timer(seconds, connection.interrupt)
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


def _acts(query: str) -> bool:
    """Is there a keyword of a statement that acts, at the start or in a WITH?

    DuckDB's types do not tell: `COPY (PIVOT ...) TO` is a MULTI, as a PIVOT is; `WITH x AS (COPY ...) FROM x` is a
    SELECT. A column of that name is asked for in quotation marks.
    """
    text = query.encode()
    tokens = duckdb.tokenize(query)
    ends = [start for start, _ in tokens[1:]] + [len(text)]
    words = (
        text[start:end] for (start, kind), end in zip(tokens, ends, strict=True) if kind == duckdb.token_type.keyword
    )
    return any(word.decode(errors="replace").strip().lower() in _ACTS for word in words)
