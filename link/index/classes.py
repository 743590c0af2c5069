"""Whether a snapshot knows the classes that topics are made of: a class with nothing below it links nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.errors import CatalogError
from polyculture.link.entity_json import number
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.index.source import IndexSource
from polyculture.link.statements import statement

REMEDY = "Check the class on wikidata.org, or use a larger snapshot."


def unknown_classes(connection: duckdb.DuckDBPyConnection, qids: Iterable[str]) -> list[str]:
    """Those of the classes of which no item in `wikidata` is an instance, a subclass or a part."""
    known = sorted(set(qids))
    asked = pa.table({"qid": pa.array(known, pa.string()), "item": pa.array(map(number, known), pa.uint32())})
    connection.from_arrow(asked).create_view("asked_classes", replace=True)
    return [str(qid) for (qid,) in connection.sql(statement("unknown_classes")).fetchall()]


def check_classes(snapshot: Snapshot, catalog: Catalog, topics: Sequence[str]) -> list[str]:
    """The classes that a user's own topics name and the snapshot does not know, a line for each.

    A built-in topic names classes that a small snapshot lacks: there it is no fault. Raises `CatalogError`, with file
    and place, where the snapshot knows none of the classes that a topic names.
    """
    kinds = {topic: _classes(catalog, topic) for topic in topics}
    with duckdb.connect() as connection, IndexSource(snapshot).opened(connection):
        unknown = set(unknown_classes(connection, (qid for named in kinds.values() for _, qid in named)))
    built_in, told = read_catalog().topics, []
    for topic, named in kinds.items():
        file = Path("topics", f"{topic}.toml")
        lacking = [
            f"{place}: in {snapshot.path.name} no item is an instance or a subclass of {qid}"
            for place, qid in named
            if qid in unknown
        ]
        if unknown.issuperset(qid for _, qid in named):
            raise CatalogError(lacking[0], where=file, remedy=REMEDY)
        if catalog.topic(topic) != built_in.get(topic):
            told += [f"{file}: {line}. {REMEDY}" for line in lacking]
    return told


def _classes(catalog: Catalog, topic: str) -> list[tuple[str, str]]:
    """The roots and types of a topic's kinds: the place in the topic's file, and the class."""
    return [
        (f"kinds.{name}.{key}", qid)
        for name, kind in catalog.topic(topic).kinds.items()
        for key, qids in (("roots", kind.roots), ("types", kind.types))
        for qid in qids
    ]
