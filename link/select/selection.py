"""Which items of a snapshot a starter holds, and their rows."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.cache.database import connect
from polyculture.cache.errors import SnapshotError
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.normalise import fold_of, normalise
from polyculture.link.ontology import open_members
from polyculture.link.statements import statement

TABLES = ("items", "names", "claims")
ROLES = ("entity", "class", "creator", "country")
# Why an item of the topics, or a name, is not in the starter.
_LEFT_OUT = {
    "persons without an occupation or a work": (
        "SELECT count(DISTINCT item) FROM unproven"
        " ANTI JOIN (FROM belongs ANTI JOIN unproven USING (topic, kind, item)) USING (item)"
    ),
    "names in too few languages": (
        "SELECT count(*) FROM proven ANTI JOIN entities USING (item)"
        " ANTI JOIN (FROM ranked ANTI JOIN near USING (item)) USING (item)"
    ),
    "beyond the first": "SELECT (SELECT count(*) FROM ranked) - (SELECT count(*) FROM near)",
    "names of something else": "SELECT count(*) FROM names_of_others SEMI JOIN entities USING (item)",
}


@dataclass(frozen=True, slots=True)
class StarterRules:
    """What a starter takes: the first `most` items with names in `languages` of the catalogue's."""

    languages: int = 3
    most: int = 10_000


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows of a starter by table; its items by topic, kind and language; how many were left out, by reason."""

    tables: Mapping[str, pa.Table]
    counts: list[dict[str, Any]]
    left_out: Mapping[str, int]


def select(snapshot: Snapshot, catalog: Catalog, rules: StarterRules) -> Selection:
    """Takes the items of the topics, the best known first (`sql/starter_candidates.sql`).

    Raises `SnapshotError` where the snapshot cannot be opened or has none.
    """
    with connect() as connection, snapshot.opened(connection):
        _create_rules(connection, snapshot, catalog, rules)
        for name in ("starter_candidates", "starter_rivals", "starter_taken"):
            connection.execute(statement(name))
        if not len(connection.table("entities")):
            what = f"has no item of a topic with names in {rules.languages} of the languages"
            raise SnapshotError(what, where=snapshot.path, remedy="Take a larger snapshot, or fewer --languages.")
        return Selection(
            {name: connection.table(f"taken_{name}").to_arrow_table() for name in TABLES},
            connection.sql(statement("starter_counts")).to_arrow_table().to_pylist(),
            {reason: int(connection.execute(query).fetchall()[0][0]) for reason, query in _LEFT_OUT.items()},
        )


def _create_rules(
    connection: duckdb.DuckDBPyConnection, snapshot: Snapshot, catalog: Catalog, rules: StarterRules
) -> None:
    scopes = open_members(connection, catalog, catalog.topics, snapshot.scopes)
    kinds = [
        {
            "topic": code,
            "kind": name,
            "scope": scopes[code, name],
            "of_persons": bool(kind.occupations),
            "of_single_things": kind.members == "instances",
        }
        for code, topic in catalog.topics.items()
        for name, kind in topic.kinds.items()
        if kind.counted
    ]
    tables = {
        "topic_kinds": pa.Table.from_pylist(kinds),
        "starter_languages": pa.table({"language": sorted(catalog.languages)}),
        "starter_name_languages": pa.table({"language": sorted(catalog.label_languages)}),
        "ordinary_words": _ordinary_words(catalog.label_languages),
        "starter_rules": pa.table({"languages": [rules.languages], "most": [rules.most]}),
    }
    for name, table in tables.items():
        connection.from_arrow(table).create(name)


def _ordinary_words(languages: Iterable[str]) -> pa.Table:
    """The words of `ordinary.toml` in each language: language, normalised."""
    words = tomllib.loads(Path(__file__).with_name("ordinary.toml").read_text(encoding="utf-8"))
    rows = [
        (language, word)
        for language in sorted(languages)
        for word in normalise([*words["any"], *words.get(language.partition("-")[0], ())], fold_of(language))
    ]
    return pa.table({"language": [language for language, _ in rows], "normalised": [word for _, word in rows]})
