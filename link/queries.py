"""The tables of what is looked up: queries, the forms of each, and the languages whose names are compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.catalog import Catalog, Language
from polyculture.cache.identity import query_number
from polyculture.link.keys import keys_of, plain_forms
from polyculture.link.normalise import fold_of, normalise_array
from polyculture.link.ontology import scopes_of
from polyculture.link.statements import statement

QUERY_COLUMNS = ("language", "topic", "kind", "surface", "name", "english")
ENGLISH = "en"
_KINDS: dict[str, pa.DataType] = {
    "topic": pa.string(),
    "kind": pa.string(),
    "scope": pa.int16(),
    "place": pa.int32(),
    "roots": pa.list_(pa.uint32()),
}
_QUERIES: dict[str, pa.DataType] = {"query": pa.int64()} | dict.fromkeys(QUERY_COLUMNS, pa.string())


def numbered(queries: pa.Table) -> pa.Table:
    """The queries with all columns of `QUERY_COLUMNS`, those that are missing NULL, and their numbers, unless given."""
    for name in QUERY_COLUMNS:
        if name not in queries.column_names:
            queries = queries.append_column(name, pa.nulls(len(queries), pa.string()))
    if "query" not in queries.column_names:
        columns = [queries[name].to_pylist() for name in QUERY_COLUMNS]
        numbers = pa.array(map(query_number, *columns), pa.int64())
        queries = queries.append_column("query", numbers)
    return queries.select(list(_QUERIES)).cast(pa.schema(_QUERIES))


def label_chain(language: Language) -> list[tuple[str, bool]]:
    """The fallback chain of Wikidata's languages, in order: language, is it English as the last resort?"""
    own_is_english = _base(language.label_languages[0]) == ENGLISH
    return [(code, not own_is_english and _base(code) == ENGLISH) for code in language.label_languages]


def create_queries(
    connection: duckdb.DuckDBPyConnection, queries: pa.Table, catalog: Catalog, scopes: Mapping[tuple[str, str], int]
) -> None:
    """Creates the tables of `sql/queries.sql` and `sql/forms.sql`, and the view `normal_forms`.

    A row of this is a text as it is compared with names of the languages of a `base` (zh of zh-hk): its normal form and
    its key by their rules.

    `scopes` gives the scope of each (topic, kind), in the order of the topics' files. Queries of other kinds are
    dropped.
    """
    rules = scopes_of(catalog, dict.fromkeys(topic for topic, _ in scopes))
    kinds = [
        {"topic": topic, "kind": kind, "scope": scope, "place": place, "roots": rules[topic, kind].roots}
        for place, ((topic, kind), scope) in enumerate(scopes.items())
    ]
    connection.from_arrow(pa.Table.from_pylist(kinds, schema=pa.schema(_KINDS))).create("kinds")
    connection.from_arrow(numbered(queries)).create_view("given")
    connection.execute(statement("queries"))
    codes = [str(code) for (code,) in connection.execute("SELECT DISTINCT language FROM queries").fetchall()]
    chains = {code: label_chain(catalog.language(code)) for code in sorted({*codes, ENGLISH})}
    rows = [
        {
            "language": code,
            "name_language": name,
            "base": _base(name),
            "turkish": fold_of(name) == "turkish",
            "place": place,
            "last_resort": last,
        }
        for code, chain in chains.items()
        for place, (name, last) in enumerate(chain)
    ]
    connection.from_arrow(pa.Table.from_pylist(rows)).create("chain")
    connection.execute(statement("forms"))
    connection.from_arrow(pa.concat_tables(_normal_forms(connection, chains))).create_view("normal_forms")


def _base(name_language: str) -> str:
    """Names of zh-hk and zh are folded, and their keys made, by the same rules."""
    return name_language.partition("-")[0]


def _normal_forms(
    connection: duckdb.DuckDBPyConnection, chains: Mapping[str, list[tuple[str, bool]]]
) -> Iterator[pa.Table]:
    """Yields the rows of `normal_forms` by base. Texts of all languages are folded together, once in each way."""
    texts: pa.Table = connection.sql("SELECT DISTINCT language, text FROM texts").to_arrow_table()
    languages: dict[str, list[str]] = {}  # by base: those in whose chain it is
    for code, chain in chains.items():
        for base in sorted({_base(name) for name, _ in chain}):
            languages.setdefault(base, []).append(code)
    for fold, alike in groupby(sorted(languages, key=fold_of), fold_of):
        bases = list(alike)
        folded = _in_languages(texts, {code for base in bases for code in languages[base]})
        normalised = normalise_array(folded["text"].combine_chunks(), fold)
        folded = folded.append_column("normalised", normalised).append_column("plain", plain_forms(normalised))
        for base in bases:
            own = _in_languages(folded, languages[base])
            keys = keys_of(own["normalised"].combine_chunks(), base, own["plain"].combine_chunks())
            columns: list[Any] = [*own.columns[:3], pa.repeat(pa.scalar(base), len(own)), keys]
            yield pa.Table.from_arrays(columns, names=["language", "text", "normalised", "base", "key"])


def _in_languages(texts: pa.Table, languages: Iterable[str]) -> pa.Table:
    """By a mask: to filter by an expression, Arrow loads its engine of queries."""
    return texts.filter(pc.is_in(texts["language"], value_set=pa.array(sorted(languages), pa.string())))
