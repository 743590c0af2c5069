"""Links the items of layers to Wikidata by the experiment's linker, where their questions' topic is one of its own."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from polyculture.cache.store.layout import compose
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.store import open_store
from polyculture.cache.text.folding import fold
from polyculture.instruments.contract import AskedExperiment
from polyculture.instruments.probe.layout import PROBE, PROBE_LINKS, ItemLink

TOPICS = Path(__file__).with_name("item_topics.toml")
_ITEMS = Path(__file__).with_name("linkable_items.sql")
_QUERY = ("language", "topic", "kind", "surface")
LinkRow = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Linkable:
    """An item of the questions of a topic, in a language."""

    language: str
    question_topic: str
    item_key: str
    item: str

    @property
    def queries(self) -> Sequence[tuple[str, str, str, str]]:
        """As what it is looked up, in order."""
        return [(self.language, topic, kind, self.item) for topic, kind in kinds_of(self.question_topic)]


def link_items(asked: AskedExperiment) -> None:
    """Writes the table `probe_links`: the link of each item that layers gave. Says what is not linked, and why."""
    with open_store(asked.run, compose(CORE, PROBE)) as store:
        rows = store.sql(_ITEMS.read_text(encoding="utf-8")).fetchall()
    items = [Linkable(language, topic or "", key, item) for language, topic, key, item, _ in rows]
    known = [one for one in items if one.queries and one.language in asked.catalog.languages]
    if len(known) < len(items):
        asked.warning(
            f"link items: {len(items) - len(known)} of {len(items)} are of topics or languages without a linker"
        )
    found = _found(asked, known)
    links = [_link(one, found) for one in known]
    write_parquet(objects_to_table(PROBE_LINKS, links), asked.run.table(PROBE_LINKS.name))
    asked.info(f"link items: {sum(one.status == 'linked' for one in links)} of {len(links)} linked")


@cache
def _topics() -> Mapping[str, Sequence[Mapping[str, str]]]:
    return tomllib.loads(TOPICS.read_text(encoding="utf-8"))


def kinds_of(question_topic: str) -> list[tuple[str, str]]:
    """Topics and kinds of the linker for a question's topic, in order; none where it is no topic of the linker."""
    return [(one["topic"], one["kind"]) for one in _topics().get(fold(question_topic), ())]


def _found(asked: AskedExperiment, items: Sequence[Linkable]) -> dict[tuple[str, ...], LinkRow]:
    queries = sorted({query for one in items for query in one.queries})
    if not queries:
        return {}
    schema = pa.schema([(name, pa.string()) for name in _QUERY])
    with asked.watch("link items", len(queries)):
        table = pa.Table.from_pylist([dict(zip(_QUERY, query, strict=True)) for query in queries], schema=schema)
        rows = asked.link(table)["links"].to_pylist()
    return {tuple(row[name] for name in _QUERY): row for row in rows}


def _link(one: Linkable, found: Mapping[tuple[str, ...], LinkRow]) -> ItemLink:
    """The first link under which the item is found, else what the first says."""
    links = [found[query] for query in one.queries]
    best = next((link for link in links if link["status"] == "linked"), links[0])
    return ItemLink(
        language=one.language, question_topic=one.question_topic, item_key=one.item_key, item=one.item,
        topic=best["topic"], kind=best["kind"], status=best["status"], qid=best["qid"], match=best["match"],
    )  # fmt: skip
