"""The tables of what is to be linked: distinct surfaces, their normal forms, and the languages of names to compare."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog, Language
from polyculture.link.normalise import Fold, fold_of, normalise_array
from polyculture.link.statements import statement

QUERY_COLUMNS = ("language", "topic", "kind", "surface")
_SCOPE_OF: list[tuple[str, pa.DataType]] = [
    ("topic", pa.string()),
    ("kind", pa.string()),
    ("scope", pa.uint16()),
    ("place", pa.uint16()),
]
AT_A_TIME = 2  # languages normalised in parallel
_CHAIN = ("language", "name_language", "position", "english", "fold")


def create_lookups(
    connection: duckdb.DuckDBPyConnection, queries: pa.Table, catalog: Catalog, scopes: Mapping[tuple[str, str], int]
) -> None:
    """Creates the tables of `sql/lookups.sql`, all but the keys, from `queries`, a table with `QUERY_COLUMNS`.

    `scopes` gives the scope of each (topic, kind), in the order of the topics' files. Queries of other kinds are
    dropped.
    """
    numbered = enumerate(scopes.items())
    rows = [{"topic": topic, "kind": kind, "scope": scope, "place": n} for n, ((topic, kind), scope) in numbered]
    kinds = pa.Table.from_pylist(rows, schema=pa.schema(_SCOPE_OF))
    connection.from_arrow(queries.select(QUERY_COLUMNS)).create_view("given", replace=True)
    connection.from_arrow(kinds).create("scope_of")
    connection.execute(statement("lookups"))
    for language in _languages(connection, catalog):
        steps = zip(*label_chain(language), strict=True)
        chain = pa.table({name: list(column) for name, column in zip(_CHAIN, steps, strict=True)})
        connection.from_arrow(chain).insert_into("chain")


def create_keys(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Fills the table `keys`, two languages in parallel: Python normalises one while DuckDB reads or writes another."""
    with ThreadPoolExecutor(AT_A_TIME) as beside:
        for _ in beside.map(partial(_normalise_language, connection), _languages(connection, catalog)):
            pass  # raises what a language raised


def label_chain(language: Language) -> list[tuple[str, str, int, bool, Fold]]:
    """The fallback chain, in order: our language, Wikidata's, position, is it English as last resort?, folding."""
    own_is_english = language.label_languages[0].partition("-")[0] == "en"
    return [
        (language.code, code, position, not own_is_english and code.partition("-")[0] == "en", fold_of(code))
        for position, code in enumerate(language.label_languages)
    ]


def _languages(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> list[Language]:
    codes = connection.execute("SELECT DISTINCT language FROM query_groups ORDER BY language").fetchall()
    return [catalog.language(code) for (code,) in codes]


def _normalise_language(connection: duckdb.DuckDBPyConnection, language: Language) -> None:
    with connection.cursor() as cursor:
        _insert_keys(cursor, language)


def _insert_keys(connection: duckdb.DuckDBPyConnection, language: Language) -> None:
    own = connection.sql("SELECT lookup, surface FROM lookups WHERE language = $code", params={"code": language.code})
    rows: pa.Table = own.to_arrow_table()
    surfaces = rows.column("surface").combine_chunks()
    for fold in sorted({fold_of(code) for code in language.label_languages}):
        same = (pa.repeat(pa.scalar(code), len(surfaces)) for code in (language.code, fold))
        columns: list[Any] = [rows.column("lookup"), *same, normalise_array(surfaces, fold)]
        keys = pa.Table.from_arrays(columns, names=["lookup", "language", "fold", "key"])
        connection.from_arrow(keys).insert_into("keys")
