"""Whether a snapshot knows the classes that topics are made of: a class with nothing below it links nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from cache.catalog import Catalog
from cache.errors import CatalogError
from link.entity_json import number
from link.index.snapshot import Snapshot
from link.index.source import IndexSource
from link.statements import statement

REMEDY = "Check the class on wikidata.org, or use a larger snapshot."


def unknown_classes(connection: duckdb.DuckDBPyConnection, qids: Iterable[str]) -> list[str]:
    """Those of the classes of which no item in `wikidata` is an instance, a subclass or a part."""
    known = sorted(set(qids))
    asked = pa.table({"qid": pa.array(known, pa.string()), "item": pa.array(map(number, known), pa.uint32())})
    connection.from_arrow(asked).create_view("asked_classes", replace=True)
    return [str(qid) for (qid,) in connection.sql(statement("unknown_classes")).fetchall()]


def check_classes(snapshot: Snapshot, catalog: Catalog, topics: Sequence[str]) -> None:
    """Raises `CatalogError`, with file and place, where the snapshot knows none of the classes that a topic names.

    A class among several that it does not know is no fault: built-in topics name classes that a small snapshot lacks.
    """
    kinds = {topic: _classes(catalog, topic) for topic in topics}
    with duckdb.connect() as connection, IndexSource(snapshot).opened(connection):
        unknown = set(unknown_classes(connection, (qid for named in kinds.values() for _, qid in named)))
    for topic, named in kinds.items():
        if unknown.issuperset(qid for _, qid in named):
            kind, qid = named[0]
            what = f"kinds.{kind}.roots: in {snapshot.path.name} no item is an instance or a subclass of {qid}"
            raise CatalogError(what, where=Path("topics", f"{topic}.toml"), remedy=REMEDY)


def _classes(catalog: Catalog, topic: str) -> list[tuple[str, str]]:
    """The roots and types of a topic's kinds, each with the kind that names it first."""
    kinds = catalog.topic(topic).kinds.items()
    return [(name, qid) for name, kind in kinds for qid in (*kind.roots, *kind.types)]
