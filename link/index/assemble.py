"""Writes a snapshot: the rows of a draft, sorted by what is looked up, with the members of the built-in topics.

snapshot = write_snapshot(Path("wikidata.duckdb"), ["en", "ja"], batches, {"source": source})
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pyarrow as pa

from polyculture.cache.catalog import read_catalog
from polyculture.cache.files import store_faults
from polyculture.cache.identity import content_id
from polyculture.link.index.draft import Draft, disk_faults, note_written
from polyculture.link.index.snapshot import VERSION, Snapshot, key_versions, open_snapshot
from polyculture.link.index.tables import ArrowTables
from polyculture.link.ontology import create_members, scopes_of
from polyculture.link.statements import statement

# Compression methods that DuckDB would try on every column, for a third of the time, and never choose.
USELESS = "zstd,fsst,dictionary"
ROW_GROUP = 30_720  # rows, a quarter of DuckDB's default; with fewer still the file grows by half


def write_snapshot(
    out: Path, languages: Iterable[str], batches: Iterable[ArrowTables], provenance: Mapping[str, Any]
) -> Snapshot:
    """Writes a snapshot of all rows in `batches`, whole or not at all.

    `source` of its provenance, the languages and the version decide the snapshot's identity. Raises `StoreError` where
    the folder cannot be written or the disk is full.
    """
    with store_faults(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(dir=out.parent, prefix=".building-")
    with folder, Draft(None) as draft:
        for tables in batches:
            draft.add(tables)
        return assemble(out, Path(folder.name), draft, languages, provenance)


def assemble(
    out: Path, folder: Path, draft: Draft, languages: Iterable[str], provenance: Mapping[str, Any]
) -> Snapshot:
    """Writes the snapshot of the rows of `draft`, which serves for nothing else after that.

    The snapshot is renamed to `out` once it is complete. Until then it and its temporary files are in `folder`, which
    must be on the same disk. Raises what `write_snapshot` raises.
    """
    with disk_faults(out), tempfile.TemporaryDirectory(dir=folder, prefix="sorting-") as sorting:
        file = Path(sorting) / out.name
        if draft.file is None:  # the others have a folder of their own
            draft.connection.execute("SET temp_directory = $folder", {"folder": sorting})
        _build(draft.connection, file, sorted(set(languages)), provenance)
        snapshot = open_snapshot(file)  # what would be refused later replaces nothing
        with file.open("rb+") as written:
            os.fsync(written.fileno())
        note_written(folder, file)
        file.replace(out)
    return replace(snapshot, path=out)


def _build(
    connection: duckdb.DuckDBPyConnection, file: Path, languages: list[str], provenance: Mapping[str, Any]
) -> None:
    connection.execute("SET preserve_insertion_order = false")
    connection.execute("RESET force_compression")
    connection.execute("SET disabled_compression_methods = $methods", {"methods": USELESS})
    # Small row groups: a name is found by reading few, as the tables are sorted by what is looked up.
    connection.execute(f"ATTACH $file AS snapshot (ROW_GROUP_SIZE {ROW_GROUP})", {"file": str(file)})
    connection.execute(statement("snapshot_sorted"))
    scopes = _keep_members(connection)
    connection.execute(statement("snapshot_names"))
    keys = key_versions(languages)
    meta = {
        "version": VERSION,
        "identity": content_id(VERSION, provenance["source"], keys),
        "languages": languages,
        "keys": keys,
        "counts": _counts(connection),
        "scopes": scopes,
        "built_with": f"DuckDB {duckdb.__version__}",
        **provenance,
    }
    rows = pa.table({"key": list(meta), "value": [orjson.dumps(value).decode() for value in meta.values()]})
    connection.from_arrow(rows).create("snapshot.meta")
    connection.execute("DETACH snapshot")


def _keep_members(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Creates the table `members` of the built-in topics, and `pages`; returns the scopes' numbers by rules."""
    for table in ("items", "claims"):
        connection.execute(f"CREATE OR REPLACE VIEW wikidata.{table} AS FROM snapshot.{table}")
    catalog = read_catalog()
    scopes = sorted(set(scopes_of(catalog, catalog.topics).values()))
    numbers = {scope.rules: number for number, scope in enumerate(scopes)}
    create_members(connection, scopes, numbers)
    connection.execute("CREATE TABLE snapshot.members AS FROM members ORDER BY scope, item")
    return numbers


def _counts(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    names = ("items", "descriptions", "names", "claims", "redirects", "kinds")
    return {name: len(connection.table(f"snapshot.{name}")) for name in names}
