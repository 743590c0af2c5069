"""Links scored entities to Wikidata by the experiment's linker, where their type is a topic."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pyarrow as pa

from polyculture.cache.layout import compose
from polyculture.cache.parquet import objects_to_table, write_parquet
from polyculture.cache.schema import CORE
from polyculture.cache.store import open_store
from polyculture.instruments.cbs.layout import CBS
from polyculture.instruments.cbs.rows import CULTURAL_LINKS, CulturalLink
from polyculture.instruments.contract import Asked

TOPICS = Path(__file__).with_name("entity_topics.toml")
_ENTITIES = "SELECT DISTINCT language, entity_type, entity AS surface FROM scores ORDER BY ALL"
_COLUMNS = ("language", "entity_type", "surface", "topic", "kind")


def link_entities(asked: Asked) -> None:
    """Writes the table `cultural_links`: the link of each scored entity."""
    queries = _queries(asked)
    if not queries.num_rows:
        return
    with asked.watch("link entities", queries.num_rows):
        links = asked.link(queries)["links"].to_pylist()
    found = {(row["language"], row["topic"], row["kind"], row["surface"]): row for row in links}
    rows = []
    for query in queries.to_pylist():
        link = found[query["language"], query["topic"], query["kind"], query["surface"]]
        row = CulturalLink(
            language=query["language"],
            entity_type=query["entity_type"],
            entity=query["surface"],
            topic=query["topic"],
            kind=query["kind"],
            status=link["status"],
            qid=link["qid"],
            match=link["match"],
        )
        rows.append(row)
    write_parquet(objects_to_table(CULTURAL_LINKS, rows), asked.run.table(CULTURAL_LINKS.name))
    linked = sum(row.status == "linked" for row in rows)
    asked.say(f"link entities: {linked} of {len(rows)} linked")


def _queries(asked: Asked) -> pa.Table:
    """Entities to be linked, each once."""
    topics = tomllib.loads(TOPICS.read_text(encoding="utf-8"))
    with open_store(asked.run, compose(CORE, CBS), asked=_ENTITIES) as store:
        rows = [dict(zip(_COLUMNS[:3], row, strict=True)) for row in store.sql(_ENTITIES).fetchall()]
    known = [row for row in rows if row["entity_type"] in topics and row["language"] in asked.catalog.languages]
    schema = pa.schema([(name, pa.string()) for name in _COLUMNS])
    return pa.Table.from_pylist([{**row, **topics[row["entity_type"]]} for row in known], schema=schema)
