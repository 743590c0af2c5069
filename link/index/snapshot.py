"""A local snapshot of Wikidata: one DuckDB file with the tables of `sql/snapshot_*.sql` and their provenance.

snapshot = open_snapshot(Path("wikidata-2026-09.duckdb"))
snapshot.meta["counts"]["items"]
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import duckdb
import msgspec
import orjson
import pyarrow as pa

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import SnapshotError
from polyculture.cache.files import cache_folder, store_faults
from polyculture.cache.identity import content_id
from polyculture.link.entity_json import PLAIN, ArrowTables
from polyculture.link.index.draft import Draft, disk_faults
from polyculture.link.index.under_way import note_written
from polyculture.link.keys import keys_version
from polyculture.link.normalise import NORMALISATION
from polyculture.link.ontology import create_members, scopes_of
from polyculture.link.statements import statement

# Of the tables and their content; an index of another version is refused.
VERSION = f"4.{NORMALISATION}.{keys_version()[:8]}"
FILLED = "api"  # the kind of source of a snapshot that the live service filled
# Compression methods that DuckDB would try on every column, for a third of the time, and never choose.
USELESS = "zstd,fsst,dictionary"
ROW_GROUP = 30_720  # rows, a quarter of DuckDB's default; with fewer still the file grows by half
VERIFIED = "verified"  # folder of the cache: a mark per file that was read whole
_DAMAGE = ("Corrupt database file", "Could not read enough bytes")  # DuckDB's messages for a damaged or truncated block
# How a snapshot is made again, by the kind of its source.
REMEDIES = {
    "dump": "Build it again: polyculture wikidata build DUMP -o FILE --replace",
    "sparql": "Pull it again: polyculture wikidata pull EXPERIMENT --contact you@example.org --replace",
    FILLED: "Delete it: the next run with [link] fill = true makes it again.",
    "starter": "Delete it: the next command makes it again.",
}
UNKNOWN = "Make it again, as it was made: polyculture wikidata build or pull, or [link] fill = true."
MISSING = "Is the path right? If there is none yet, build it: polyculture wikidata build DUMP -o FILE"

# The tables, each with the columns that are read and their types; keys have a table of their own.
TABLES = {
    **{name: pa.schema([field for field in schema if field.name != "key"]) for name, schema in PLAIN.items()},
    "keys": pa.schema([PLAIN["names"].field(name) for name in ("item", "language", "name", "kind", "key")]),
    "members": pa.schema(
        {
            "scope": pa.int16(),
            "item": pa.uint32(),
            "distance": pa.uint8(),
            "root": pa.uint32(),
            "path": pa.list_(pa.uint32()),
        }
    ),
}


class _Meta(msgspec.Struct):
    """What every snapshot's `meta` has besides its version."""

    identity: Annotated[str, msgspec.Meta(min_length=1)]
    languages: Annotated[list[str], msgspec.Meta(min_length=1)]
    source: dict[str, Any]
    scopes: dict[str, int] = {}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot to link with: the file, and its `meta` (version, identity, provenance, ...)."""

    path: Path
    meta: Mapping[str, Any]

    @property
    def identity(self) -> str:
        """A hash of all that decides the tables' content: source, languages, version."""
        return str(self.meta["identity"])

    @property
    def bundled(self) -> bool:
        """Is it the starter, wherever that is kept?"""
        return bool(self.meta.get("source", {}).get("kind") == "starter")

    @property
    def name(self) -> str:
        """The name in messages: the starter snapshot, or the file."""
        return "starter snapshot" if self.bundled else str(self.path)

    @property
    def remedy(self) -> str:
        """How a damaged one is made again."""
        return _remedy(self.meta)

    @property
    def date(self) -> str | None:
        """The day of its content, ISO 8601: filled, pulled, or the latest change in a dump. The starter has none."""
        told = (self.meta.get(key) for key in ("filled", "pulled", "modified"))
        return next((str(time) for time in told if time), None)

    @property
    def languages(self) -> frozenset[str]:
        """The Wikidata label languages whose names are kept."""
        return frozenset(self.meta["languages"])

    @property
    def filled(self) -> bool:
        """Was it filled from the live service? Then it holds what was asked for, and says nothing of the rest."""
        return bool(self.meta["source"].get("kind") == FILLED)

    @property
    def complete(self) -> bool:
        """Does it hold every name of every item? Those that were pulled or filled do not, nor the starter."""
        return bool(self.meta.get("complete", True))

    @property
    def scopes(self) -> Mapping[str, int]:
        """The number, in its table `members`, of each scope of the built-in topics, by `Scope.rules`."""
        found: Mapping[str, int] = self.meta.get("scopes", {})  # none yet in a file that is still to be filled
        return found

    @property
    def provenance(self) -> Mapping[str, Any]:
        """What a run's manifest says of it."""
        told = {key: value for key, value in self.meta.items() if key != "scopes"}  # of no interest to a reader
        return {"source": "snapshot", "snapshot": self.path.name, **told}

    @contextmanager
    def opened(self, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """Attaches it as `wikidata`. Raises `SnapshotError` where it cannot be opened or is damaged."""
        try:
            connection.execute("ATTACH $path AS wikidata (READ_ONLY)", {"path": str(self.path)})
        except duckdb.Error as fault:
            raise SnapshotError(f"cannot be opened: {fault}", where=self.path, remedy=self.remedy) from fault
        with damage_named(self):
            yield


def open_snapshot(path: Path) -> Snapshot:
    """The snapshot in `path`. Raises `SnapshotError` where it is missing, no snapshot, or of another version."""
    if not path.is_file():
        raise SnapshotError("there is no snapshot here", where=path, remedy=MISSING)
    found = path.stat()
    return _opened(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=16)  # a command opens its snapshot for the extractor and again for the linker
def _opened(path: Path, _written: int, _bytes: int) -> Snapshot:
    meta: dict[str, Any] = {}
    wrong = ""
    try:
        with path.open("rb") as file:
            if file.read(12)[8:] != b"DUCK":  # of other databases DuckDB would load an extension from the net
                raise ValueError("it is no DuckDB database")
        with duckdb.connect(str(path), read_only=True) as connection:
            if not connection.execute("FROM duckdb_tables() WHERE table_name = 'meta'").fetchall():
                raise ValueError("it has no table meta")
            meta = {key: orjson.loads(value) for key, value in connection.execute("FROM main.meta").fetchall()}
            if meta.get("version") != VERSION:
                wrong = f"is a snapshot of version {meta.get('version')}; this Polyculture reads version {VERSION}"
            else:
                msgspec.convert(meta, _Meta)
                wrong = next(_wrong_types(connection), "")
    except (duckdb.Error, OSError, ValueError, msgspec.ValidationError) as fault:
        wrong = f"is not a Wikidata snapshot of Polyculture: {str(fault).splitlines()[0]}"
    if wrong:
        raise SnapshotError(wrong, where=path, remedy=_remedy(meta))
    return Snapshot(path, meta)


def _wrong_types(connection: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """Yields what is wrong with columns of the tables; a column that is missing is DuckDB's error."""
    for table, schema in TABLES.items():
        found = connection.sql(f"SELECT {', '.join(schema.names)} FROM {table}").types  # noqa: S608  our own names
        declared = connection.from_arrow(schema.empty_table()).types
        for column, kind, wanted in zip(schema.names, found, declared, strict=True):
            if kind != wanted:
                yield f"is not a Wikidata snapshot of Polyculture: {table}.{column} is {kind}, not {wanted}"


def _remedy(meta: Mapping[str, Any]) -> str:
    source = meta.get("source")
    return REMEDIES.get(source.get("kind", ""), UNKNOWN) if isinstance(source, dict) else UNKNOWN


def verify(snapshot: Snapshot) -> None:
    """Reads every block of a snapshot: DuckDB holds each against its checksum, but only where it reads it.

    A file of unchanged size and date is read once per user. Raises `SnapshotError` for a damaged file.
    """
    found = snapshot.path.stat()
    key = content_id("whole", str(snapshot.path.resolve()), found.st_size, found.st_mtime_ns, snapshot.identity)
    mark = cache_folder() / VERIFIED / key
    if mark.exists():
        return
    with damage_named(snapshot), duckdb.connect(str(snapshot.path), read_only=True) as connection:
        for table in TABLES:
            connection.execute(f"SELECT bit_xor(hash(row)) FROM {table} AS row")  # noqa: S608  our tables' names
    with suppress(OSError):  # the next one reads it again
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


@contextmanager
def damage_named(snapshot: Snapshot) -> Iterator[None]:
    """Turns DuckDB's error for a damaged block into a `SnapshotError` about the snapshot."""
    try:
        yield
    except duckdb.Error as fault:
        if not any(damage in str(fault) for damage in _DAMAGE):
            raise
        raise SnapshotError("is damaged or truncated", where=snapshot.path, remedy=snapshot.remedy) from fault


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
    meta = {
        "version": VERSION,
        "identity": content_id(VERSION, provenance["source"], languages),
        "languages": languages,
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
