"""Gold sets for `bench/linking_accuracy.py` from real data, built on the fly: nothing of it is kept."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import orjson

from polyculture.cache.catalog import Catalog
from polyculture.link.audit.gold import HARD_CASES, GoldMention, counted_kinds, read_gold_mentions
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.index.source import IndexSource
from polyculture.link.ontology import Ontology

LABELS = """
    SELECT name.item, min(name.name)
    FROM reached JOIN wikidata.names AS name USING (item)
    WHERE scope = $scope AND name.kind = 'label' AND name.language = $code
    GROUP BY name.item ORDER BY hash(name.item, $kind), name.item LIMIT $each
"""
# Aliases of complete items, of which the slice knows all names and the sitelinks, in a fixed order that means nothing.
ALIASES = """
    SELECT name.item, name.language, name.name
    FROM wikidata.names AS name JOIN wikidata.items AS item USING (item)
    WHERE item.sitelinks > 0 AND name.kind = 'alias'
      AND (SELECT count(*) FROM wikidata.names AS all_names
           WHERE all_names.item = name.item AND all_names.language = name.language) > 1
    ORDER BY hash(name.item, name.name, name.language), name.item, name.name, name.language
"""


@dataclass(frozen=True, slots=True)
class GoldSet:
    """Gold mentions that are scored together."""

    name: str
    gold: list[GoldMention]


@dataclass(frozen=True, slots=True)
class Name:
    """A name of an item that belongs to a topic."""

    item: int
    topic: str
    kind: str
    language: str
    text: str
    topics: frozenset[str]  # all topics that the item belongs to


def hard_cases(catalog: Catalog, snapshot: str) -> GoldSet:
    """Our own hard cases: those whose item and name the snapshot ('slice', 'starter') confirms, and the NILs."""
    gold = read_gold_mentions(HARD_CASES, catalog, ["confirmed"])
    chosen = [one for one in gold if not one.expected or snapshot in one.other["confirmed"]]
    return GoldSet(f"hard cases, {snapshot}", chosen)


def fmlama(data: Path, languages: Collection[str] | None = None) -> Iterator[GoldSet]:
    """FmLAMA's dishes, a set a language; `country` is the one country of origin that it names."""
    for file in sorted((data / "fmlama").glob("*.jsonl")):
        if languages and file.stem not in languages:
            continue
        dishes = [orjson.loads(line) for line in file.read_bytes().splitlines()]
        gold = [
            GoldMention(
                dish["sub_label"],
                dish["lang"],
                "food",
                (dish["url"].rsplit("/", 1)[1],),
                other={"country": dish["origin"]},
            )
            for dish in dishes
        ]
        yield GoldSet(f"FmLAMA {file.stem}", gold)


def cube(data: Path) -> GoldSet:
    """CUBE's dishes that have a Wikidata item; their names are English or Latin spellings."""
    rows = orjson.loads((data / "cube" / "CUBE_1K.json").read_bytes())
    dishes = [row for row in rows if row["domain"] == "cuisine" and re.fullmatch(r"Q[1-9]\d*", row["id"])]
    return GoldSet("CUBE dishes", [GoldMention(row["name"], "en", "food", (row["id"],)) for row in dishes])


def labels(snapshot: Snapshot, catalog: Catalog, each: int, languages: Collection[str] | None = None) -> list[Name]:
    """Labels in each language's own Wikidata language, at most `each` a counted kind, the same every time."""
    found: dict[tuple[int, str, str], Name] = {}
    with _members(snapshot, catalog) as (connection, ontology):
        topics = _topics(connection, ontology)
        for language in catalog.languages.values():
            if languages and language.code not in languages:
                continue
            for topic in catalog.topics.values():
                for kind in counted_kinds(topic):
                    scope, code = ontology.scopes[topic.code, kind], language.label_languages[0]
                    params = {"scope": scope, "code": code, "kind": kind, "each": each}
                    for item, text in connection.execute(LABELS, params).fetchall():
                        name = Name(item, topic.code, kind, language.code, text, topics[item])
                        found.setdefault((item, topic.code, language.code), name)
    return list(found.values())


def held_out(snapshot: Snapshot, catalog: Catalog, passes: int) -> list[list[Name]]:
    """Aliases to hold out, pass by pass: at most one of an item, while it keeps another name in that language."""
    own = {language.label_languages[0]: language.code for language in catalog.languages.values()}
    out: list[list[Name]] = [[] for _ in range(passes)]
    used: dict[int, int] = {}
    with _members(snapshot, catalog) as (connection, ontology):
        topics = _topics(connection, ontology)
        rows = connection.execute(ALIASES).fetchall()
    for item, code, text in rows:
        number = used.get(item, 0)
        if item in topics and code in own and number < passes:
            used[item] = number + 1
            out[number].append(Name(item, min(topics[item]), "", own[code], text, topics[item]))
    return out


@contextmanager
def _members(snapshot: Snapshot, catalog: Catalog) -> Iterator[tuple[duckdb.DuckDBPyConnection, Ontology]]:
    """A connection with the table `reached`: every item that belongs to a kind of any topic."""
    source = IndexSource(snapshot)
    with duckdb.connect() as connection, source.opened(connection):
        ontology = Ontology(connection, catalog, list(catalog.topics))
        ontology.expand_classes()
        ontology.reach(connection.table("wikidata.items")).create("reached")
        yield connection, ontology


def _topics(connection: duckdb.DuckDBPyConnection, ontology: Ontology) -> dict[int, frozenset[str]]:
    codes: dict[int, set[str]] = {}
    for (topic, _), scope in ontology.scopes.items():
        codes.setdefault(scope, set()).add(topic)
    topics: dict[int, set[str]] = {}
    for scope, item in connection.execute("SELECT scope, item FROM reached").fetchall():
        if scope in codes:
            topics.setdefault(item, set()).update(codes[scope])
    return {item: frozenset(found) for item, found in topics.items()}
