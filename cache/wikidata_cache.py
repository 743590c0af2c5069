"""The on-disk cache of the live Wikidata service: a second run asks nothing.

One SQLite file in write-ahead mode: several processes of one machine may share it. A damaged
file is set aside when it is opened, and a new one is begun; an answer that cannot be parsed is a cache miss.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from polyculture.cache.errors import StoreError

VERSION = 1  # of the row format; a file of another version is set aside
DAY = 86_400.0
SEARCH_DAYS = 90.0  # after which a search is repeated: items are added and renamed every day
MISSING_DAYS = 30.0
_PATIENCE = 60.0  # seconds to wait for another process that writes

_TABLES = """
CREATE TABLE IF NOT EXISTS searches (
    service TEXT, language TEXT, term TEXT, items TEXT NOT NULL, fetched REAL NOT NULL,
    PRIMARY KEY (service, language, term)
);
CREATE TABLE IF NOT EXISTS entities (
    service TEXT, qid TEXT, entity TEXT, languages TEXT NOT NULL, revision INTEGER, fetched REAL NOT NULL,
    PRIMARY KEY (service, qid)
);
"""


class WikidataCache:
    """Answers of one service (its address), by what was asked. `set_aside` is where a broken file was moved to.

    What a search found is remembered for `search_days`, an entity that does not exist for `missing_days`, all else for
    ever. With `read_only` the file is never changed. Raises `StoreError` where the file cannot be
    written, or, read only, is no cache.
    """

    def __init__(
        self,
        path: Path,
        service: str,
        *,
        missing_days: float = MISSING_DAYS,
        search_days: float = SEARCH_DAYS,
        clock: Callable[[], float] = time.time,
        read_only: bool = False,
    ) -> None:
        self.path, self._service, self._clock = path, service, clock
        self._oldest_missing, self._oldest_search = missing_days * DAY, search_days * DAY
        self.set_aside: Path | None = None
        if read_only:
            self._connection = self._open_read_only()
            return
        with self._faults():
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._connection = self._open()
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                self.set_aside = _set_aside(path)
                self._connection = self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def searches(self, language: str, terms: Iterable[str]) -> dict[str, list[str]]:
        """The QIDs that the service found for these terms, of those that were asked not too long ago."""
        query = (
            "SELECT term, items FROM searches WHERE service = ? AND language = ? AND fetched > ? "
            "AND json_valid(items) AND term IN (SELECT value FROM json_each(?))"
        )
        oldest = self._clock() - self._oldest_search
        with self._faults():
            rows = self._connection.execute(query, (self._service, language, oldest, _json(list(terms)))).fetchall()
        return {term: orjson.loads(items) for term, items in rows}

    def keep_search(self, language: str, term: str, items: Sequence[str]) -> None:
        """Stores the service's hits for a term, in its order."""
        row = (self._service, language, term, _json(list(items)), self._clock())
        with self._faults(), self._connection:
            self._connection.execute("INSERT OR REPLACE INTO searches VALUES (?, ?, ?, ?, ?)", row)

    def entities(self, qids: Iterable[str], languages: Iterable[str]) -> dict[str, dict[str, Any] | None]:
        """The entities, of those asked before in all these languages; None for one that does not exist."""
        query = (
            "SELECT qid, entity, languages, fetched FROM entities WHERE service = ? "
            "AND (entity IS NULL OR json_valid(entity)) AND json_valid(languages) "
            "AND qid IN (SELECT value FROM json_each(?))"
        )
        wanted = set(languages)
        with self._faults():
            rows = self._connection.execute(query, (self._service, _json(list(qids)))).fetchall()
        return {
            qid: orjson.loads(entity) if entity else None
            for qid, entity, kept, fetched in rows
            if (wanted <= set(orjson.loads(kept)) if entity else self._clock() - fetched < self._oldest_missing)
        }

    def keep_entities(self, entities: Mapping[str, Mapping[str, Any] | None], languages: Iterable[str]) -> None:
        """Keeps entities by the QID they were asked for, with their revision and the time; None: does not exist."""
        now, kept = self._clock(), _json(sorted(languages))
        rows = [
            (self._service, qid, _json(entity) if entity else None, kept, (entity or {}).get("lastrevid"), now)
            for qid, entity in entities.items()
        ]
        with self._faults(), self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO entities VALUES (?, ?, ?, ?, ?, ?)", rows)

    def all_entities(self) -> Iterator[dict[str, Any]]:
        """Every entity the service has answered with, as a dump has it, in the order of their QIDs."""
        query = "SELECT entity FROM entities WHERE service = ? AND entity IS NOT NULL ORDER BY length(qid), qid"
        with self._faults():
            for (entity,) in self._connection.execute(query, (self._service,)):
                yield orjson.loads(entity)

    def answers(self) -> Iterator[tuple[str, frozenset[str], dict[str, Any]]]:
        """The QID asked for, the languages and the entity of every answer; those asked for by another QID come last."""
        query = (
            "SELECT qid, languages, entity FROM entities WHERE service = ? AND json_valid(entity) "
            "ORDER BY qid <> json_extract(entity, '$.id'), length(qid), qid"
        )
        with self._faults():
            for qid, languages, entity in self._connection.execute(query, (self._service,)):
                yield qid, frozenset(orjson.loads(languages)), orjson.loads(entity)

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=_PATIENCE)
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version not in (0, VERSION):
                raise sqlite3.DatabaseError(f"version {version}")
            _check(connection)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.executescript(_TABLES)
            connection.execute(f"PRAGMA user_version = {VERSION}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_read_only(self) -> sqlite3.Connection:
        try:
            # Opened immutable where no one writes, so that SQLite creates no lock file beside it.
            way = "mode=ro" if self.path.with_name(f"{self.path.name}-wal").exists() else "immutable=1"
            connection = sqlite3.connect(f"{self.path.absolute().as_uri()}?{way}", uri=True, timeout=_PATIENCE)
            try:
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                if version != VERSION:
                    raise sqlite3.DatabaseError(f"version {version}")
                _check(connection)
                connection.execute("SELECT qid, entity, languages FROM entities LIMIT 0")
            except BaseException:
                connection.close()
                raise
        except sqlite3.Error as fault:
            what = f"is not a Wikidata cache of this Polyculture, or is damaged ({fault}); it was left as it is"
            remedy = 'Name the cache of a run that linked with source = "api".'
            raise StoreError(what, where=self.path, remedy=remedy) from fault
        return connection

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as fault:
            remedy = (
                "Free space or choose another folder; a cache that stays broken may be deleted: it is filled again."
            )
            raise StoreError(f"the Wikidata cache cannot be used: {fault}", where=self.path, remedy=remedy) from fault


def _check(connection: sqlite3.Connection) -> None:
    """Raises `sqlite3.DatabaseError` where the file is damaged anywhere."""
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise sqlite3.DatabaseError(verdict)


def _set_aside(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.broken-{number}")).exists():
        number += 1
    path.replace(aside)
    for left in ("-wal", "-shm"):
        path.with_name(path.name + left).unlink(missing_ok=True)
    return aside


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
