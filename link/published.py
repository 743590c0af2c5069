"""The links that a study published, as a run's links: its item of each mention, with what a snapshot knows of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.catalog import Catalog
from polyculture.cache.database import connect
from polyculture.cache.identity import content_id
from polyculture.cache.store.linked import CANDIDATES, ENTITIES, LINKS
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.linker import TABLES, read_table
from polyculture.link.origins import find_origins, origin_rules
from polyculture.link.statements import statement


def published_links(items: pa.Table) -> pa.Table:
    """The item of each query: of `published_items` those that are a mention, with a QID that a snapshot can hold."""
    linked = pc.and_(pc.is_valid(items["query"]), pc.match_substring_regex(items["qid"], r"^Q[1-9]\d{0,9}$"))
    groups = items.filter(linked).group_by(["query", "qid"], use_threads=False).aggregate([("label", "min")])
    return groups.rename_columns({"label_min": "label"}).sort_by("query")


@dataclass(frozen=True)
class PublishedLinker:
    """Takes the links that a study published; names and countries of items are those of `source`."""

    catalog: Catalog
    source: Snapshot
    links: pa.Table  # see `published_links`

    @cached_property
    def identity(self) -> str:
        """A hash of what decides the links, and the countries of their items."""
        return content_id(
            "published links", 4, self.source.identity, self.links.to_pydict(), origin_rules(self.catalog)
        )

    def link(self, queries: pa.Table) -> dict[str, pa.Table]:
        """The tables of links for `queries`, see `numbered`."""
        with connect() as connection, self.source.opened(connection):
            connection.from_arrow(queries).create("queries")
            connection.from_arrow(self.links).create("published")
            connection.execute(statement("published_found"))
            find_origins(connection, self.catalog)
            own = {name: f"published_{name}" for name in (CANDIDATES.name, LINKS.name)}
            return _named({name: read_table(connection, name, own.get(name)) for name in TABLES}, self.links)


def _named(found: dict[str, pa.Table], links: pa.Table) -> dict[str, pa.Table]:
    """The same with the study's labels for items that the source has no name of."""
    labels = {
        qid: label for qid, label in zip(links["qid"].to_pylist(), links["label"].to_pylist(), strict=True) if label
    }
    rows = found[ENTITIES.name].to_pylist()
    told = [
        {**row, "label": labels.get(row["qid"], row["label"])} if row["label"] == row["qid"] else row for row in rows
    ]
    return {**found, ENTITIES.name: pa.Table.from_pylist(told, ENTITIES.schema)}
