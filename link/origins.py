"""Where linked items come from: `sql/origins.sql` and `sql/entity_countries.sql` over a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import product

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.cache.database import connect
from polyculture.cache.identity import content_id
from polyculture.cache.store.linked import SnapshotItems
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.ontology import open_members
from polyculture.link.qid import number
from polyculture.link.queries import label_chain
from polyculture.link.statements import statement

RULES = 8  # version of what the statements do


def find_origins(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Creates the table `entity_countries` for the items of the table `linked`."""
    if not connection.execute("FROM linked LIMIT 1").fetchall():  # what follows takes as long for no item as for one
        connection.execute(f"CREATE TABLE entity_countries ({_COUNTRIES})")
        return
    create_states(connection, catalog)
    connection.execute(statement("wider"))
    connection.execute(statement("origins"))
    connection.execute(statement("entity_countries"))


def uncovered_topics(source: Snapshot, catalog: Catalog, topics: Iterable[str]) -> dict[str, list[str]]:
    """By country (ISO 3166): the topics of which the source holds no item that comes from there by `find_origins`.

    A share of such a country is no number: it is not 0. Of a snapshot that the live service filled, or is to fill,
    nothing is said: it holds what was asked for.
    """
    if source.filled:
        return {}
    held = items_by_country(source, catalog, topics)
    every = sorted({country for countries in catalog.country_items.values() for country in countries})
    lacking = {country: [topic for topic in sorted(set(topics)) if (topic, country) not in held] for country in every}
    return {country: missed for country, missed in lacking.items() if missed}


def items_by_country(source: Snapshot, catalog: Catalog, topics: Iterable[str]) -> Mapping[tuple[str, str | None], int]:
    """How many items of a topic in the source come from a country; by None, how many the topic has in all.

    An item counts for a country as `find_origins` says it. A command needs these numbers two or three times, and they
    take 0.3 s over the starter snapshot, so a process keeps them.
    """
    asked = sorted(set(topics))
    kinds = {topic: catalog.topic(topic).model_dump(mode="json") for topic in asked}
    key = content_id(source.identity, origin_rules(catalog), kinds)
    if key not in _counted:
        _counted[key] = _items_by_country(source, catalog, asked)
    return _counted[key]


_counted: dict[str, Mapping[tuple[str, str | None], int]] = {}  # by all that decides it


def _items_by_country(source: Snapshot, catalog: Catalog, topics: list[str]) -> dict[tuple[str, str | None], int]:
    with opened_topics(source, catalog, topics) as connection:
        members = "members JOIN topic_scopes USING (scope)"
        connection.execute(f"CREATE TABLE linked AS SELECT DISTINCT item FROM {members}")  # noqa: S608
        find_origins(connection, catalog)
        rows = connection.sql(f"""
            SELECT topic, NULL, count(DISTINCT item) FROM {members} GROUP BY topic
            UNION ALL
            SELECT topic, country, count(DISTINCT members.item)
            FROM {members} JOIN entity_countries ON entity_countries.qid = 'Q' || members.item
            WHERE country IS NOT NULL GROUP BY ALL
        """)  # noqa: S608
        return {(topic, country): items for topic, country, items in rows.fetchall()}


def names_by_language(
    source: Snapshot, catalog: Catalog, topics: Iterable[str], languages: Iterable[str]
) -> dict[tuple[str, str], tuple[int, int]]:
    """By topic and language: how many items in the source have a name of the language's own, and how many such names.

    English names are counted in English alone, although other languages fall back on them.
    """
    chain = [(code, name) for code in languages for name, english in label_chain(catalog.language(code)) if not english]
    with opened_topics(source, catalog, topics) as connection:
        codes, names = (pa.array(column, pa.string()) for column in zip(*chain, strict=True))
        connection.from_arrow(pa.table({"code": codes, "language": names})).create("spoken")
        rows = connection.sql("""
            SELECT topic, code, count(DISTINCT item), count(DISTINCT (item, name))
            FROM (SELECT DISTINCT topic, item FROM members JOIN topic_scopes USING (scope))
            JOIN wikidata.names USING (item) JOIN spoken USING (language)
            GROUP BY ALL
        """)
        return {(topic, code): (items, several) for topic, code, items, several in rows.fetchall()}


def snapshot_items(
    source: Snapshot, catalog: Catalog, topics: Iterable[str], languages: Iterable[str]
) -> list[SnapshotItems]:
    """How many items of the topics the source has: in all, with names in each language, and from each country.

    None of a snapshot that the live service filled, or is to fill: it has the items of what was named.
    """
    asked, spoken = list(dict.fromkeys(topics)), list(dict.fromkeys(languages))
    if source.filled or not asked:
        return []
    items = items_by_country(source, catalog, asked)
    rows = [SnapshotItems(topic, None, None, items.get((topic, None), 0), None) for topic in asked]
    held = names_by_language(source, catalog, asked, spoken) if spoken else {}
    for topic, language in product(asked, spoken):
        rows.append(SnapshotItems(topic, language, None, *held.get((topic, language), (0, 0))))
    every = sorted({country for countries in catalog.country_items.values() for country in countries})
    return rows + [SnapshotItems(t, None, c, items.get((t, c), 0), None) for t, c in product(asked, every)]


@contextmanager
def opened_topics(source: Snapshot, catalog: Catalog, topics: Iterable[str]) -> Iterator[duckdb.DuckDBPyConnection]:
    """The source with the tables `members` and `topic_scopes`: which items a kind that is counted has, by topic."""
    with connect() as connection, source.opened(connection):
        members = open_members(connection, catalog, sorted(set(topics)), source.scopes)
        kinds = [(topic, scope) for (topic, kind), scope in members.items() if catalog.topic(topic).kinds[kind].counted]
        counted = sorted(set(kinds))
        named = pa.array([topic for topic, _ in counted], pa.string())
        scopes = pa.array([scope for _, scope in counted], pa.int16())
        connection.from_arrow(pa.table({"topic": named, "scope": scopes})).create("topic_scopes")
        yield connection


def origin_rules(catalog: Catalog) -> list[object]:
    """What decides the countries of an item beside the snapshot: to be hashed."""
    divided = {qid: [state.heirs, state.principal] for qid, state in catalog.divided_states.items()}
    return [RULES, catalog.country_items, divided]


def create_states(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Creates the table `states`: an item that stands for countries of today, by itself or as a state of their past.

    `heirs` may be meant by one that more than one country continues, and `countries` are those that are, unless
    something else says which: itself, the principal heir, or NULL. `former` where it is a state that is no
    more.
    """
    rows = [
        {
            "item": number(qid),
            "countries": list(countries),
            "heirs": list(countries) if len(countries) > 1 else None,
            "former": qid in catalog.former_states or len(countries) > 1,
        }
        for qid, countries in catalog.country_items.items()
    ]
    rows += [
        {
            "item": number(qid),
            "countries": [state.principal] if state.principal else None,
            "heirs": list(state.heirs),
            "former": True,
        }
        for qid, state in catalog.divided_states.items()
    ]
    connection.from_arrow(pa.Table.from_pylist(rows, pa.schema(_STATES))).create("states")


_COUNTRIES = "qid VARCHAR, country VARCHAR, country_qid VARCHAR, property VARCHAR, successors VARCHAR[]"
_STATES: dict[str, pa.DataType] = {
    "item": pa.uint32(),
    "countries": pa.list_(pa.string()),
    "heirs": pa.list_(pa.string()),
    "former": pa.bool_(),
}
