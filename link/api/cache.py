"""The answers of the live service on disk, as linking wants them: whole, fresh enough, and never a reason to stop.

Beyond what the cache's file holds: a search is asked again after `SEARCH_DAYS`, for items are added and renamed every
day; a file that is damaged anywhere is set aside when it is opened; an answer that cannot be read counts as not there.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from cache.wikidata_cache import DAY, WikidataCache
from link.api.answers import is_complete

SEARCH_DAYS = 90.0
MISSING_DAYS = 30.0
_AT_ONCE = 500  # entities in memory

_SEARCHES = """
SELECT term, items FROM searches
WHERE service = ? AND language = ? AND fetched > ? AND term IN (SELECT value FROM json_each(?))
"""


class AnswerCache(WikidataCache):
    """Answers of one service, by what was asked. `set_aside` is where a damaged file was moved to."""

    def __init__(
        self,
        path: Path,
        service: str,
        *,
        missing_days: float = MISSING_DAYS,
        search_days: float = SEARCH_DAYS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._oldest_search = search_days * DAY
        super().__init__(path, service, missing_days=missing_days, clock=clock)

    def searches(self, language: str, terms: Iterable[str]) -> dict[str, list[str]]:
        """The QIDs that the service found for these terms, of those that were asked not too long ago."""
        oldest = self._clock() - self._oldest_search
        wanted = orjson.dumps(list(terms)).decode()
        with self._faults():
            rows = self._connection.execute(_SEARCHES, (self._service, language, oldest, wanted)).fetchall()
        return {term: items for term, text in rows if (items := _read(text)) is not None}

    def entities(self, qids: Iterable[str], languages: Iterable[str]) -> dict[str, dict[str, Any] | None]:
        """The entities, of those asked before in all these languages; None for one that does not exist."""
        wanted, names = list(qids), list(languages)
        try:
            kept = super().entities(wanted, names)
        except orjson.JSONDecodeError:
            if len(wanted) == 1:
                return {}
            return {qid: entity for one in wanted for qid, entity in self.entities([one], names).items()}
        return {qid: entity for qid, entity in kept.items() if entity is None or is_complete(entity)}

    def batches(
        self, qids: Sequence[str], languages: Iterable[str]
    ) -> Iterator[tuple[Sequence[str], dict[str, dict[str, Any] | None]]]:
        """The QIDs some hundreds at a time, with what `entities` says of them."""
        names, left = list(languages), iter(qids)
        while some := list(islice(left, _AT_ONCE)):
            yield some, self.entities(some, names)

    def _open(self) -> sqlite3.Connection:
        connection = super()._open()
        try:
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise sqlite3.DatabaseError(verdict)
        except BaseException:
            connection.close()
            raise
        return connection


def _read(text: str) -> list[str] | None:
    try:
        items: list[str] = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return items
