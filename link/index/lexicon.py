"""The lexicon of the gazetteer extractor: the names by which a text may mention a topic's entities."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from polyculture.cache.catalog import Catalog, Language
from polyculture.cache.database import connect
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.ontology import open_members
from polyculture.link.queries import label_chain
from polyculture.link.statements import statement


def lexicon(snapshot: Snapshot, catalog: Catalog, topic: str, language: str, *, own_only: bool = False) -> pa.Table:
    """Labels and aliases of all items that reach one of the topic's counted kinds, in the languages of the chain.

    The columns are surface, kind and qid, one row per surface. English names are included only for languages in other
    scripts: in a German text the English name "gift" would match the word for poison. `own_only`: without those.
    """
    return lexicons(snapshot, catalog, topic, [language], own_only=own_only)[language]


def lexicons(
    snapshot: Snapshot, catalog: Catalog, topic: str, languages: Iterable[str], *, own_only: bool = False
) -> dict[str, pa.Table]:
    """The same in several languages. What reaches the topic, which costs most, is found once for all of them."""
    chosen = catalog.topic(topic)
    kinds = [(name, kind) for name, kind in chosen.kinds.items() if kind.counted]
    with connect() as connection, snapshot.opened(connection):
        scopes = open_members(connection, catalog, [topic], snapshot.scopes)
        rows = [
            {"kind": name, "scope": scopes[topic, name], "granularity": kind.granularity, "place": place}
            for place, (name, kind) in enumerate(kinds)
        ]
        connection.from_arrow(pa.Table.from_pylist(rows)).create("topic_kinds")
        tables: dict[str, pa.Table] = {}
        for language in languages:
            connection.register("lexicon_chain", _chain(catalog.language(language), own_only))
            found = connection.sql(statement("lexicon"), params={"topic": topic})
            tables[language] = found.select("surface, best.kind AS kind, best.qid AS qid").to_arrow_table()
        return tables


def _chain(language: Language, own_only: bool) -> pa.Table:
    own_alone = own_only or "Latn" in language.scripts
    wanted = [(code, english) for code, english in label_chain(language) if not (english and own_alone)]
    return pa.table({"name_language": [code for code, _ in wanted], "english": [english for _, english in wanted]})
