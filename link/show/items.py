"""Shows an item of a snapshot: for `polyculture wikidata show`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.cache.database import connect
from polyculture.cache.errors import SnapshotError
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.ontology import open_members
from polyculture.link.origins import find_origins
from polyculture.link.qid import number
from polyculture.link.show.explain import property_names
from polyculture.link.statements import statement

ShownRows = tuple[str, tuple[str, ...], list[tuple[Any, ...]]]  # title, columns, rows


@dataclass(frozen=True, slots=True)
class Description:
    """An item of a snapshot. `ways` holds the path to a root of each kind that the item reaches."""

    qid: str
    label: str
    facts: list[tuple[Any, ...]]  # what, value
    names: list[tuple[Any, ...]]  # language, label, aliases
    claims: list[tuple[Any, ...]]  # property, its name, target, its label
    countries: list[tuple[Any, ...]]  # ISO 3166 code, country, property
    ways: list[tuple[Any, ...]]  # topic, kind, steps, way

    def tables(self) -> list[ShownRows]:
        """The description as titled tables."""
        return [
            (f"{self.qid} {self.label}", ("what", "value"), self.facts),
            ("Names", ("language", "label", "aliases"), self.names),
            ("Statements", ("property", "name", "item", "label"), self.claims),
            ("Countries", ("country", "item", "property"), self.countries),
            ("Kinds that it reaches", ("topic", "kind", "steps", "way"), self.ways),
        ]


def describe(snapshot: Snapshot, catalog: Catalog, qid: str) -> Description:
    """The item's description. Raises `SnapshotError` where `qid` is no QID, or not in the snapshot."""
    with connect() as connection, snapshot.opened(connection):
        item = _known_item(connection, snapshot, qid)
        connection.execute("CREATE TABLE linked AS SELECT $item::UINTEGER AS item", {"item": item})
        find_origins(connection, catalog)
        origins = connection.execute("FROM entity_countries ORDER BY ALL").fetchall()
        ((_, label, _, description, sitelinks, revision),) = connection.sql(statement("entities")).fetchall()
        claims = connection.sql(statement("show_claims"), params={"item": item}).fetchall()
        ways = list(_ways(connection, catalog, snapshot, item))
        labels = _labels(connection, [target for _, target in claims] + [step for *_, way in ways for step in way])
        return Description(
            qid=f"Q{item}",
            label=label,
            facts=[("description", description), ("sitelinks", sitelinks), ("revision", revision)],
            names=connection.sql(statement("show_names"), params={"item": item}).fetchall(),
            claims=[(code, property_names()[code], f"Q{target}", labels.get(target)) for code, target in claims],
            countries=[(country, at, code) for _, country, at, code, _ in origins],
            ways=[(topic, kind, len(way) - 1, _written(way, labels)) for topic, kind, way in ways],
        )


def _known_item(connection: duckdb.DuckDBPyConnection, snapshot: Snapshot, qid: str) -> int:
    try:
        item = number(qid.upper())
    except ValueError as fault:
        raise SnapshotError(f"{qid!r} is not a QID", remedy="Write, for example, Q234646.") from fault
    moved = connection.execute("SELECT target FROM wikidata.redirects WHERE item = $item", {"item": item}).fetchone()
    item = moved[0] if moved else item
    if not connection.execute("SELECT 1 FROM wikidata.items WHERE item = $item", {"item": item}).fetchone():
        what = f"has no item {qid.upper()}"
        raise SnapshotError(what, where=snapshot.name, remedy="Use a larger snapshot with --snapshot FILE.")
    return item


def _ways(
    connection: duckdb.DuckDBPyConnection, catalog: Catalog, snapshot: Snapshot, item: int
) -> Iterator[tuple[str, str, list[int]]]:
    """The path from the item to a root of each kind that it reaches, over all topics."""
    scopes = open_members(connection, catalog, catalog.topics, snapshot.scopes)
    paths = connection.execute("SELECT scope, path FROM members WHERE item = $item", {"item": item}).fetchall()
    by_scope = dict(paths)
    for (topic, kind), scope in scopes.items():
        if scope in by_scope:
            yield topic, kind, [item, *by_scope[scope]]


def _labels(connection: duckdb.DuckDBPyConnection, items: Sequence[int]) -> dict[int, str]:
    wanted = pa.table({"item": pa.array(sorted(set(items)), pa.uint32())})
    connection.from_arrow(wanted).create_view("linked_labels", replace=True)
    return dict(connection.sql(statement("show_labels")).fetchall())


def _written(way: Sequence[int], labels: dict[int, str]) -> str:
    return " > ".join(f"{labels[step]} (Q{step})" if step in labels else f"Q{step}" for step in way)
