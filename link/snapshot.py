"""A local snapshot of Wikidata: one DuckDB file with the tables of `snapshot.sql` and where they come from.

snapshot = open_snapshot(Path("wikidata-2026-09.duckdb"))
snapshot.meta["counts"]["items"]
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pyarrow as pa

from cache.errors import SnapshotError, StoreError
from cache.files import replacing
from cache.identity import content_id
from link.normalise import NORMALISATION
from link.statements import statement

VERSION = f"1.{NORMALISATION}"  # of the tables and of what stands in them; an index of another version is refused
MEMORY = "1GB"  # what DuckDB may hold while it builds; the rest goes to disk
REBUILD = "Build it again: polyculture wikidata build DUMP -o FILE"

Tables = Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot that can be linked with: the file, and its `meta` (version, identity, provenance, ...)."""

    path: Path
    meta: Mapping[str, Any]

    @property
    def identity(self) -> str:
        """A hash of all that decides what stands in the tables: source, languages, version."""
        return str(self.meta["identity"])

    @property
    def languages(self) -> frozenset[str]:
        """The Wikidata label languages whose names are kept."""
        return frozenset(self.meta["languages"])


def open_snapshot(path: Path) -> Snapshot:
    """The snapshot in `path`. Raises `SnapshotError` where it is missing, no snapshot, or of another version."""
    if not path.is_file():
        raise SnapshotError("there is no snapshot here", where=path, remedy=REBUILD)
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            rows = connection.execute("SELECT key, value FROM meta").fetchall()
    except duckdb.Error as fault:
        raise SnapshotError("is not a Wikidata snapshot of Polyculture", where=path, remedy=REBUILD) from fault
    meta = {key: orjson.loads(value) for key, value in rows}
    if meta.get("version") != VERSION:
        what = f"is a snapshot of version {meta.get('version')}; this Polyculture reads version {VERSION}"
        raise SnapshotError(what, where=path, remedy=REBUILD)
    return Snapshot(path, meta)


def write_snapshot(
    out: Path, languages: Iterable[str], batches: Iterable[Tables], provenance: Callable[[], Mapping[str, Any]]
) -> Snapshot:
    """Writes a snapshot of all rows in `batches`, whole or not at all, in constant memory.

    `provenance` is asked for once the last batch is in; its `source` decides the snapshot's identity, together with
    the languages and the version. Raises `StoreError` where the folder cannot be written or the disk is full.
    """
    try:
        with replacing(out) as temporary, tempfile.TemporaryDirectory(dir=out.parent, prefix=".building-") as folder:
            meta = _build(temporary, Path(folder), batches, sorted(set(languages)), provenance)
    except (duckdb.IOException, duckdb.OutOfMemoryException) as fault:
        remedy = "Free space or choose another folder, then build again."
        raise StoreError(f"cannot be written: {fault}", where=out, remedy=remedy) from fault
    return Snapshot(out, meta)


def create_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Creates the empty tables of `snapshot.sql` in the connection's catalogue or schema `wikidata`."""
    connection.execute(statement("snapshot"))


def insert(connection: duckdb.DuckDBPyConnection, tables: Tables) -> None:
    """Appends Arrow tables to those of the same name in `wikidata`."""
    for name, table in tables.items():
        if table.num_rows:
            connection.from_arrow(table).insert_into(f"wikidata.{name}")


def _build(
    file: Path,
    folder: Path,
    batches: Iterable[Tables],
    languages: list[str],
    provenance: Callable[[], Mapping[str, Any]],
) -> dict[str, Any]:
    with duckdb.connect() as connection:
        connection.execute("SET memory_limit = $limit", {"limit": MEMORY})
        connection.execute("SET temp_directory = $folder", {"folder": str(folder)})
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("ATTACH $file AS wikidata", {"file": str(folder / "rows.duckdb")})
        create_tables(connection)
        for tables in batches:
            insert(connection, tables)
        connection.execute("ATTACH $file AS snapshot", {"file": str(file)})
        connection.execute(statement("snapshot_sorted"))
        source = dict(provenance())
        meta = {
            "version": VERSION,
            "identity": content_id(VERSION, source["source"], languages),
            "languages": languages,
            "counts": _counts(connection),
            "built_with": f"DuckDB {duckdb.__version__}",
            **source,
        }
        rows = pa.table({"key": list(meta), "value": [orjson.dumps(value).decode() for value in meta.values()]})
        connection.from_arrow(rows).create("snapshot.meta")
        connection.execute("DETACH snapshot")
        connection.execute("DETACH wikidata")
    return meta


def _counts(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    names = ("items", "descriptions", "names", "claims", "redirects", "kinds")
    return {name: len(connection.table(f"snapshot.{name}")) for name in names}
