"""Checks that a snapshot has the classes of the topics: a class without instances or subclasses links nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.database import connect
from polyculture.cache.errors import CatalogError
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.qid import number
from polyculture.link.statements import statement

REMEDY = "Check the class on wikidata.org, or use a larger snapshot."


def unknown_classes(connection: duckdb.DuckDBPyConnection, qids: Iterable[str]) -> list[str]:
    """The classes without any instance, subclass or part in `wikidata`."""
    known = sorted(set(qids))
    wanted = pa.table({"qid": pa.array(known, pa.string()), "item": pa.array(map(number, known), pa.uint32())})
    connection.from_arrow(wanted).create_view("wanted_classes", replace=True)
    return [str(qid) for (qid,) in connection.sql(statement("unknown_classes")).fetchall()]


def check_classes(snapshot: Snapshot, catalog: Catalog, topics: Sequence[str]) -> list[str]:
    """A line for each class of a user's own topics that the snapshot lacks.

    A small snapshot may lack classes of built-in topics: that is no fault. Raises `CatalogError`, with file and key,
    where the snapshot has none of a topic's classes.
    """
    kinds = {topic: _classes(catalog, topic) for topic in topics}
    with connect() as connection, snapshot.opened(connection):
        unknown = set(unknown_classes(connection, (qid for named in kinds.values() for _, qid in named)))
    built_in, lines = read_catalog().topics, []
    for topic, named in kinds.items():
        file = catalog.topic(topic).file or Path("topics", f"{topic}.toml")
        lacking = [
            f"{place}: in {snapshot.path.name} no item is an instance or a subclass of {qid}"
            for place, qid in named
            if qid in unknown
        ]
        if unknown.issuperset(qid for _, qid in named):
            raise CatalogError(lacking[0], where=file, remedy=REMEDY)
        if catalog.topic(topic) != built_in.get(topic):
            lines += [f"{file}: {line}. {REMEDY}" for line in lacking]
    return lines


def _classes(catalog: Catalog, topic: str) -> list[tuple[str, str]]:
    """The roots and types of a topic's kinds: (key in the topic's file, class)."""
    return [
        (f"kinds.{name}.{key}", qid)
        for name, kind in catalog.topic(topic).kinds.items()
        for key, qids in (("roots", kind.roots), ("types", kind.types))
        for qid in qids
    ]
