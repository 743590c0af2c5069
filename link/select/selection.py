"""Makes a starter of a snapshot: which items it holds, and the folder with their Parquet tables and a manifest."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from polyculture.cache.catalog import Catalog
from polyculture.cache.database import connect
from polyculture.cache.errors import SnapshotError
from polyculture.cache.files import replacing
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.normalise import fold_of, normalise
from polyculture.link.ontology import open_members
from polyculture.link.statements import statement

LICENCE = "CC0-1.0"
MANIFEST = "manifest.json"
TABLES = ("items", "names", "claims")
ROLES = ("entity", "class", "creator", "country")


@dataclass(frozen=True, slots=True)
class StarterRules:
    """What a starter takes: the first `most` items with names in `languages` of the catalogue's."""

    languages: int = 3
    most: int = 10_000


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows of a starter by table; how many items each topic has; how many were left out, by reason."""

    tables: Mapping[str, pa.Table]
    by_topic: Mapping[str, int]
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
        counts = connection.sql(statement("starter_counts")).fetchall()
        return Selection(
            {name: connection.table(f"taken_{name}").to_arrow_table() for name in TABLES},
            *({what: count for of, what, count in counts if of == kind} for kind in ("topic", "left out")),
        )


def write_starter_folder(snapshot: Snapshot, catalog: Catalog, out: Path, rules: StarterRules) -> dict[str, Any]:
    """Writes the starter of `snapshot` into the folder `out`, over the files of an older one; other files there stay.

    Returns the manifest. The same snapshot, catalogue and rules give the same bytes. Raises `SnapshotError` where the
    snapshot has nothing to take, `StoreError` where `out` cannot be written.
    """
    selection, meta = select(snapshot, catalog, rules), snapshot.meta
    files = {f"{name}.parquet": _parquet(table) for name, table in selection.tables.items()}
    roles = Counter(selection.tables["items"]["role"].to_pylist())
    manifest = {
        "licence": LICENCE,
        "snapshot": {
            "identity": snapshot.identity,
            "source": meta["source"],
            "file": meta.get("file"),
            "latest_change": meta.get("modified"),
            "items": meta["counts"]["items"],
        },
        "rules": {"names_in_languages": rules.languages, "first": rules.most},
        "items": {role: roles[role] for role in ROLES},
        "left_out": selection.left_out,
        "by_topic": selection.by_topic,
        "bytes": {name: len(content) for name, content in files.items()},
    }
    files[MANIFEST] = orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    for name, content in files.items():
        with replacing(out / name) as temporary:
            temporary.write_bytes(content)
    return manifest


def _parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", compression_level=19, write_statistics=False)
    return bytes(sink.getvalue())


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
