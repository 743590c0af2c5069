"""Links the items of layers to Wikidata by the experiment's linker, where their questions' topic is one of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from polyculture.cache.store.layout import compose
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.store import open_store
from polyculture.cache.text.folding import fold
from polyculture.instruments.contract import AskedExperiment
from polyculture.instruments.linked_names import NameQuery, NameToLink, kinds_in, link_names
from polyculture.instruments.probe.layout import PROBE, PROBE_LINKS

TOPICS = Path(__file__).with_name("item_topics.toml")
_ITEMS = Path(__file__).with_name("linkable_items.sql")
_COLUMNS = ("language", "question_topic", "item_key", "item")


def link_items(asked: AskedExperiment) -> None:
    """Writes the table `probe_links`: the link of each item that layers gave. Says what is not linked, and why."""
    with open_store(asked.run, compose(CORE, PROBE)) as store:
        items = store.sql(_ITEMS.read_text(encoding="utf-8")).fetchall()
    names = [
        NameToLink(
            dict(zip(_COLUMNS, (language, topic, key, item), strict=True)),
            [NameQuery(language, *kind, item) for kind in kinds_of(topic)],
        )
        for language, topic, key, item, _ in items
        if kinds_of(topic or "") and language in asked.catalog.languages
    ]
    if len(names) < len(items):
        asked.warning(
            f"link items: {len(items) - len(names)} of {len(items)} are of topics or languages without a linker"
        )
    link_names(asked, "items", PROBE_LINKS, names)


def kinds_of(question_topic: str) -> Sequence[tuple[str, str]]:
    """Topics and kinds of the linker for a question's topic, in order; none where it is no topic of the linker."""
    return kinds_in(TOPICS).get(fold(question_topic), [])
