"""A local snapshot of Wikidata: one DuckDB file with the tables of `sql/snapshot_*.sql` and their provenance.

snapshot = open_snapshot(Path("wikidata-2026-09.duckdb"))
snapshot.meta["counts"]["items"]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from polyculture.cache.database import connect
from polyculture.cache.errors import SnapshotError
from polyculture.cache.files import cache_folder
from polyculture.cache.identity import content_id
from polyculture.cache.validation import explain
from polyculture.link.index.tables import TABLES
from polyculture.link.keys import KEYS, key_version
from polyculture.link.normalise import NORMALISATION

# Of the tables and their content; an index of another version is refused.
VERSION = f"7.{NORMALISATION}.{KEYS}"
FILLED = "api"  # the kind of source of a snapshot that the live service filled
VERIFIED = "verified"  # folder of the cache: a mark per file that was read whole
_DAMAGE = ("Corrupt database file", "Could not read enough bytes")  # DuckDB's messages for a damaged or truncated block
# How a snapshot is made again, by the kind of its source.
REMEDIES = {
    "dump": "Build it again: polyculture wikidata build DUMP -o FILE --replace",
    "sparql": "Pull it again: polyculture wikidata pull EXPERIMENT --contact you@example.org --replace",
    FILLED: "Delete it: the next run with [link] fill = true makes it again.",
    "starter": "Delete it: the next command makes it again.",
}
UNKNOWN = "Name another file, or make one: polyculture wikidata build or pull, or [link] fill = true."
MISSING = (
    "Is the path right? If there is none yet, write fill = true under [link], which makes it of the names of the run,"
    " or make it: polyculture wikidata pull EXPERIMENT, or polyculture wikidata build DUMP -o FILE"
)


class _Meta(BaseModel):
    """What every snapshot's `meta` has besides its version."""

    model_config = ConfigDict(strict=True)

    identity: str = Field(min_length=1)
    languages: list[str] = Field(min_length=1)
    source: dict[str, Any]
    keys: dict[str, str]
    scopes: dict[str, int] = {}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot to link with: the file, and its `meta` (version, identity, provenance, ...)."""

    path: Path
    meta: Mapping[str, Any]

    @property
    def identity(self) -> str:
        """A hash of all that decides the tables' content: source, languages, rules of keys, version."""
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
    def changed_keys(self) -> frozenset[str]:
        """The languages whose keys were made by other rules than those of today."""
        made: Mapping[str, str] = self.meta.get("keys", {})
        return frozenset(dict(made.items() - key_versions(made).items()))

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
        hashes = ("keys", "scopes")  # of no interest to a reader
        told = {key: value for key, value in self.meta.items() if key not in hashes}
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


def key_versions(languages: Iterable[str]) -> dict[str, str]:
    """By language, a hash of the rules of today for its keys."""
    return {language: key_version(language) for language in sorted(set(languages))}


def rows_version(languages: Iterable[str]) -> str:
    """A hash of what decides the rows that are made of an item: those of another are not gone on with."""
    return content_id(VERSION, key_versions(languages))


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
        with connect(path, read_only=True) as connection:
            meta = _read_meta(connection)
            if meta["version"] != VERSION:
                wrong = f"is a snapshot of version {meta['version']}; this Polyculture reads version {VERSION}"
            else:
                _Meta.model_validate(meta)
                _check_types(connection)
    except (duckdb.Error, OSError, ValueError) as fault:
        what = next(explain(fault, _Meta))[0] if isinstance(fault, ValidationError) else str(fault).splitlines()[0]
        what = "it is damaged or truncated" if any(damage in what for damage in _DAMAGE) else what
        wrong = f"is not a Wikidata snapshot of Polyculture: {what}"
    if wrong:
        raise SnapshotError(wrong, where=path, remedy=_remedy(meta))
    return Snapshot(path, meta)


def _read_meta(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """The rows of `meta`. Nothing else is named here, where DuckDB would take a variable of its name for the table."""
    try:
        rows = connection.execute("FROM main.meta").fetchall()
    except duckdb.CatalogException as fault:
        raise ValueError("it has no table meta") from fault
    meta = {key: orjson.loads(value) for key, value, *_ in rows}
    if "version" not in meta:
        raise ValueError("its table meta names no version")
    return meta


def _check_types(connection: duckdb.DuckDBPyConnection) -> None:
    """Raises `ValueError` for a column of another type; a column that is missing is DuckDB's error."""
    columns = {f"{table}.{field.name}": field.type for table, schema in TABLES.items() for field in schema}
    found = connection.sql(f"SELECT {', '.join(columns)} FROM {', '.join(TABLES)}").types  # noqa: S608  our own names
    declared = connection.from_arrow(pa.schema(columns).empty_table()).types
    for column, kind, wanted in zip(columns, found, declared, strict=True):
        if kind != wanted:
            raise ValueError(f"{column} is {kind}, not {wanted}")


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
    with damage_named(snapshot), connect(snapshot.path, read_only=True) as connection:
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
