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
    """Raises `CatalogError`, with file and place, where a kind of the topics has no root that the snapshot knows.

    A root among several that it does not know is no fault: built-in topics name classes that a small snapshot lacks.
    """
    kinds = [(topic, name, kind.roots) for topic in topics for name, kind in catalog.topic(topic).kinds.items()]
    with duckdb.connect() as connection, IndexSource(snapshot).opened(connection):
        unknown = unknown_classes(connection, (root for _, _, roots in kinds for root in roots))
    for topic, name, roots in kinds:
        if roots and set(roots) <= set(unknown):
            what = f"kinds.{name}.roots: in {snapshot.path.name} no item is an instance or a subclass of {roots[0]}"
            raise CatalogError(what, where=Path("topics", f"{topic}.toml"), remedy=REMEDY)
