"""Gold sets for `bench/linking_accuracy.py` from real data, built on the fly: nothing of it is kept."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import orjson

from polyculture.cache.catalog import Catalog
from polyculture.cache.database import connect
from polyculture.link.audit.gold import HARD_CASES, GoldMention, counted_kinds, read_gold_mentions
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.ontology import open_members

LABELS = """
    SELECT name.item, min(name.name)
    FROM members JOIN wikidata.names AS name USING (item)
    WHERE scope = $scope AND name.kind = 'label' AND name.language = $code
    GROUP BY name.item ORDER BY hash(name.item, $kind), name.item LIMIT $each
"""


@dataclass(frozen=True, slots=True)
class GoldSet:
    """Gold mentions that are scored together."""

    name: str
    gold: list[GoldMention]


@dataclass(frozen=True, slots=True)
class SetName:
    """A name of an item that belongs to a topic."""

    item: int
    topic: str
    kind: str
    language: str
    text: str
    topics: frozenset[str]  # all topics that the item belongs to


def hard_cases(catalog: Catalog, snapshot: str, right: float | None) -> GoldSet:
    """Our own hard cases: those whose item and name the snapshot ('slice', 'starter') confirms, and the NILs.

    A share `right` of them has the dictionary form and the English name; of the others half have none, and half the
    English name of another mention of their language and topic, as an extractor errs. With None no mention has a name.
    """
    gold = read_gold_mentions(HARD_CASES, catalog, ["confirmed"])
    chosen = [one for one in gold if not one.expected or snapshot in one.other["confirmed"]]
    chance = random.Random(1)
    if right is None:
        return GoldSet("none given", [replace(one, name=None, english=None) for one in chosen])
    named = [one if chance.random() < right else _misnamed(chance, one, chosen) for one in chosen]
    return GoldSet(f"{right:.0%}", named)


def _misnamed(chance: random.Random, one: GoldMention, others: Sequence[GoldMention]) -> GoldMention:
    alike = [
        o.english for o in others if (o.language, o.topic) == (one.language, one.topic) and o.expected != one.expected
    ]
    return replace(one, name=None, english=chance.choice([None, chance.choice(alike or [None])]))


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


def labels(snapshot: Snapshot, catalog: Catalog, each: int, languages: Collection[str] | None = None) -> list[SetName]:
    """Labels in each language's own Wikidata language, at most `each` a counted kind, the same every time."""
    found: dict[tuple[int, str, str], SetName] = {}
    with members_of(snapshot, catalog) as (connection, scopes):
        topics = _topics(connection, scopes)
        for language in catalog.languages.values():
            if languages and language.code not in languages:
                continue
            for topic in catalog.topics.values():
                for kind in counted_kinds(topic):
                    scope, code = scopes[topic.code, kind], language.label_languages[0]
                    params = {"scope": scope, "code": code, "kind": kind, "each": each}
                    for item, text in connection.execute(LABELS, params).fetchall():
                        name = SetName(item, topic.code, kind, language.code, text, topics[item])
                        found.setdefault((item, topic.code, language.code), name)
    return list(found.values())


@contextmanager
def members_of(
    snapshot: Snapshot, catalog: Catalog
) -> Iterator[tuple[duckdb.DuckDBPyConnection, dict[tuple[str, str], int]]]:
    """A connection with the table `members`, and the scope of each kind."""
    with connect() as connection, snapshot.opened(connection):
        yield connection, open_members(connection, catalog, list(catalog.topics), snapshot.scopes)


def _topics(connection: duckdb.DuckDBPyConnection, scopes: dict[tuple[str, str], int]) -> dict[int, frozenset[str]]:
    codes: dict[int, set[str]] = {}
    for (topic, _), scope in scopes.items():
        codes.setdefault(scope, set()).add(topic)
    topics: dict[int, set[str]] = {}
    for scope, item in connection.execute("SELECT scope, item FROM members").fetchall():
        if scope in codes:
            topics.setdefault(item, set()).update(codes[scope])
    return {item: frozenset(found) for item, found in topics.items()}
