"""Where linked items come from: `sql/origins.sql` and `sql/entity_countries.sql` over a snapshot."""

from __future__ import annotations

from collections.abc import Iterable

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.cache.database import connect
from polyculture.link.entity_json import number
from polyculture.link.index.source import IndexSource
from polyculture.link.ontology import open_members
from polyculture.link.statements import statement

RULES = 4  # version of what the statements do


def find_origins(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> duckdb.DuckDBPyRelation:
    """The rows of `entity_countries` for the items of the table `linked`."""
    create_states(connection, catalog)
    connection.execute(statement("wider"))
    connection.execute(statement("origins"))
    connection.sql(statement("entity_countries")).create("entity_countries")
    return connection.sql("FROM entity_countries ORDER BY ALL")


def uncovered_topics(source: IndexSource, catalog: Catalog, topics: Iterable[str]) -> dict[str, list[str]]:
    """By country (ISO 3166): the topics of which the source holds no item that can come from there.

    A share of such a country is no number: it is not 0. Of a snapshot that the live service filled, or is to fill,
    nothing is said: it holds what was asked for.
    """
    if source.snapshot.filled:
        return {}
    with connect() as connection, source.opened(connection):
        members = open_members(connection, catalog, sorted(set(topics)), source.scopes)
        counted = [(topic, scope) for (topic, _), scope in members.items()]
        named = pa.array([topic for topic, _ in counted], pa.string())
        scopes = pa.array([scope for _, scope in counted], pa.int16())
        connection.from_arrow(pa.table({"topic": named, "scope": scopes})).create("topic_scopes")
        create_states(connection, catalog)
        connection.execute(statement("wider"))
        found: dict[str, list[str]] = {}
        for topic, country in connection.sql(statement("uncovered")).fetchall():
            found.setdefault(country, []).append(topic)
        return found


def origin_rules(catalog: Catalog) -> list[object]:
    """What decides the countries of an item beside the snapshot: to be hashed."""
    divided = {qid: [state.heirs, state.principal] for qid, state in catalog.divided_states.items()}
    return [RULES, catalog.country_items, divided]


def create_states(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Creates the tables `states` and `divided`.

    A row of `states` is an item and a country that it stands for, `former` where it is a state that is no more; of
    `divided`, a former state with its several heirs, and the principal one of them, if any.
    """
    rows = [(number(qid), country) for qid, countries in catalog.country_items.items() for country in countries]
    former = [f"Q{item}" in catalog.former_states for item, _ in rows]
    items = pa.array([item for item, _ in rows], pa.uint32())
    table = pa.table({"item": items, "country": [country for _, country in rows], "former": former})
    connection.from_arrow(table).create("states")
    divided = list(catalog.divided_states.values())
    columns = {
        "item": pa.array([number(state.qid) for state in divided], pa.uint32()),
        "heirs": pa.array([list(state.heirs) for state in divided], pa.list_(pa.string())),
        "principal": pa.array([state.principal for state in divided], pa.string()),
    }
    connection.from_arrow(pa.table(columns)).create("divided")
