"""The tables of what is looked up: queries, the forms of each, and the languages whose names are compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, product

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.catalog import Catalog, Language
from polyculture.cache.identity import query_number
from polyculture.cache.text.inflection import InflectionRule, base_language
from polyculture.link.keys import keys_of, plain_forms
from polyculture.link.normalise import fold_of, normalise_array
from polyculture.link.ontology import scopes_of
from polyculture.link.statements import statement

QUERY_COLUMNS = ("language", "topic", "kind", "surface", "name", "english")
ENGLISH = "en"
TOGETHER = 500_000  # texts that are folded at once, which bounds the memory
_SHORT = r"^[\p{Latin}\p{N}]{1,2}$"
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


def _each_once(queries: pa.Table) -> pa.Table:
    """The queries, each number once. A run's are distinct: to count numbers is cheaper than to group texts."""
    numbers = queries["query"]
    if len(numbers.unique()) == len(queries):
        return queries
    last = {number: place for place, number in enumerate(numbers.to_pylist())}
    return queries.take(list(last.values()))


def label_chain(language: Language) -> list[tuple[str, bool]]:
    """The fallback chain of Wikidata's languages, in order: language, is it English as the last resort?"""
    own_is_english = base_language(language.label_languages[0]) == ENGLISH
    return [(code, not own_is_english and base_language(code) == ENGLISH) for code in language.label_languages]


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
    connection.from_arrow(_each_once(numbered(queries))).create_view("given")
    connection.execute(statement("queries"))
    codes = [str(code) for (code,) in connection.execute("SELECT DISTINCT language FROM queries").fetchall()]
    chains = {code: label_chain(catalog.language(code)) for code in sorted({*codes, ENGLISH})}
    rows = [
        {
            "language": code,
            "name_language": name,
            "base": base_language(name),
            "turkish": fold_of(name) == "turkish",
            "place": place,
            "last_resort": last,
        }
        for code, chain in chains.items()
        for place, (name, last) in enumerate(chain)
    ]
    connection.from_arrow(pa.Table.from_pylist(rows)).create("chain")
    connection.execute(statement("forms"))
    forms = pa.concat_tables(_normal_forms(connection, _bases(connection, chains), catalog.key_rules))
    connection.from_arrow(forms).create_view("normal_forms")


def _bases(connection: duckdb.DuckDBPyConnection, chains: Mapping[str, list[tuple[str, bool]]]) -> dict[str, set[str]]:
    """By base: the languages that fall back on it.

    Left out is one that is nobody's own and has no name in the snapshot, as `mul` in older dumps: every text would be
    folded and looked up for it in vain.
    """
    bases: dict[str, set[str]] = {}
    for code, chain in chains.items():
        for name, _ in chain:
            bases.setdefault(base_language(name), set()).add(code)
    for base in bases.keys() - {base_language(chain[0][0]) for chain in chains.values()}:
        names = "FROM wikidata.names WHERE language BETWEEN $base AND $base || '-~' LIMIT 1"  # en to en-us; ~ is last
        if not connection.execute(names, {"base": base}).fetchall():
            del bases[base]
    return bases


def _normal_forms(
    connection: duckdb.DuckDBPyConnection,
    languages: Mapping[str, set[str]],
    packs: Mapping[str, Sequence[InflectionRule]],
) -> Iterator[pa.Table]:
    """Yields the rows of `normal_forms` by base. Texts of all languages are folded together, once in each way."""
    distinct = "SELECT DISTINCT ON (spelling) spelling, language, text FROM texts"
    texts: pa.Table = connection.sql(distinct).to_arrow_table()
    folds = [(fold, list(alike)) for fold, alike in groupby(sorted(languages, key=fold_of), fold_of)]
    starts = range(0, len(texts) or 1, TOGETHER)
    for start, (fold, bases) in product(starts, folds):
        folded = _in_languages(texts.slice(start, TOGETHER), set.union(*map(languages.__getitem__, bases)))
        normalised = normalise_array(folded["text"].combine_chunks(), fold)
        short = pc.match_substring_regex(normalised, _SHORT)
        folded = folded.set_column(2, "normalised", normalised).append_column("short", short)
        folded = folded.append_column("plain", plain_forms(normalised))
        for base in bases:
            own = _in_languages(folded, languages[base])
            keys = keys_of(own["normalised"].combine_chunks(), base, own["plain"].combine_chunks(), packs)
            own = own.append_column("base", pa.repeat(pa.scalar(base), len(own)))
            yield own.drop_columns(["plain"]).append_column("key", keys)


def _in_languages(texts: pa.Table, languages: Iterable[str]) -> pa.Table:
    """By a mask: to filter by an expression, Arrow loads its engine of queries."""
    return texts.filter(pc.is_in(texts["language"], value_set=pa.array(sorted(languages), pa.string())))
