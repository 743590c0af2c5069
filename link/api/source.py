"""The live service as a source: what the surfaces may name is searched, fetched and laid out as a snapshot's tables.

All that the service answers goes to the cache on disk, and what stands there is not asked again. The items a search
finds are judged by their own names, exactly as an index's items are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pyarrow as pa

from polyculture.cache.identity import content_id
from polyculture.cache.outcome import Outcome, Progress, silent
from polyculture.link.api.answers import Entity, Hit
from polyculture.link.api.at_once import at_once
from polyculture.link.api.cache import AnswerCache
from polyculture.link.api.client import IDS_A_CALL, LONGEST_NAME, ApiClient, ApiSettings
from polyculture.link.entity_json import Rows, number
from polyculture.link.index.snapshot import create_tables, insert
from polyculture.link.normalise import chinese_forms, fold_of, normalise, without_marks
from polyculture.link.statements import statement

Search = tuple[str, str]  # Wikidata language and name
Question = TypeVar("Question")
Reply = TypeVar("Reply")


class ApiSource:
    """Links against the service of `settings`; what it answers is remembered in the file `cache`.

    `set_aside` is where a damaged cache was moved to, None mostly. Raises `WikidataError` where the settings are wrong.
    """

    complete = False  # no service lists every name of a kind: there is nothing to match fuzzily
    searched = True

    def __init__(self, settings: ApiSettings, cache: Path, languages: Iterable[str]) -> None:
        settings.check()
        self.settings, self.cache = settings, cache
        self.languages = frozenset(languages)
        self.identity = content_id("api", settings.endpoint, sorted(self.languages))
        self.provenance: Mapping[str, Any] = {
            "source": "api",
            "endpoint": settings.endpoint,
            "languages": sorted(self.languages),
        }
        self.set_aside: Path | None = None
        self.requests = 0  # sent in all

    @contextmanager
    def opened(self, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
        connection.execute("CREATE SCHEMA wikidata")
        create_tables(connection)
        connection.execute(statement("heard"))
        self._items: dict[int, int | None] = {}  # by the number asked for: the item in the tables, None if missing
        self._laid_out: set[int] = set()
        self._last = 0  # of the lookups that were searched
        self._outcome = Outcome(0, 0)
        self._progress: Progress = silent
        with AnswerCache(self.cache, self.settings.endpoint) as self._cache, ApiClient(self.settings) as self._client:
            self._tell_of_damage()
            try:
                yield
            finally:
                self.requests += self._client.requests

    def find(self, connection: duckdb.DuckDBPyConnection, progress: Progress) -> None:
        """Searches every new surface, fetches what is found, and climbs from there."""
        self._progress = progress
        found = self._search(connection)
        self.fetch(connection, sorted({item for _, item in found}))
        heard = sorted({(lookup, item) for lookup, hit in found if (item := self._items[hit]) is not None})
        columns = [pa.array(numbers, pa.uint32()) for numbers in (zip(*heard, strict=True) if heard else ([], []))]
        connection.from_arrow(pa.table(columns, names=["lookup", "item"])).insert_into("heard")
        self._climb(connection, {item for _, item in heard})

    def fetch(self, connection: duckdb.DuckDBPyConnection, items: Sequence[int]) -> None:
        """Puts these items into the tables."""
        self._lay_out(connection, items)

    def _climb(self, connection: duckdb.DuckDBPyConnection, items: set[int]) -> None:
        """Puts everything into the tables that a way from these items to a kind's classes may touch."""
        below, first, climbed = sorted(items), True, set[int]()
        while below:
            connection.from_arrow(pa.table({"item": pa.array(below, pa.uint32())})).create_view("below", replace=True)
            above = _numbers(connection.sql(statement("above"), params={"first": first}))
            self._lay_out(connection, above)
            reached = {item for asked in above if (item := self._items[asked]) is not None}
            below, first = sorted(reached - climbed), False
            climbed |= reached

    def _search(self, connection: duckdb.DuckDBPyConnection) -> list[tuple[int, int]]:
        """The lookups that were not searched before, each with the items that the service finds for it."""
        surfaces = connection.execute(statement("searches"), {"last": self._last}).fetchall()
        self._last = max((lookup for lookup, _, _ in surfaces), default=self._last)
        asked = [(lookup, (language, term)) for lookup, language, text in surfaces for term in _terms(language, text)]
        found = self._find_all(list(dict.fromkeys(search for _, search in asked)))
        return [(lookup, number(qid)) for lookup, search in asked for qid in found[search]]

    def _find_all(self, searches: Sequence[Search]) -> dict[Search, list[str]]:
        """What the service, or the cache, says to each of the searches."""
        found = {
            (language, term): qids
            for language in {language for language, _ in searches}
            for term, qids in self._cache.searches(language, [t for code, t in searches if code == language]).items()
        }
        self._advance(reused=len(found))
        for (language, term), qids in self._at_once(self._ask_search, [s for s in searches if s not in found]):
            self._cache.keep_search(language, term, qids)
            found[language, term] = qids
            self._advance(asked=1)
        return found

    def _ask_search(self, search: Search) -> list[str]:
        language, term = search
        return self._client.search(language, term, partial(_past, language, term))

    def _lay_out(self, connection: duckdb.DuckDBPyConnection, items: Sequence[int]) -> None:
        """Sees to it that these items are in the tables, and in `_items`."""
        wanted = [f"Q{item}" for item in items if item not in self._items]
        self._fetch_unknown(wanted)
        for qids, entities in self._cache.batches(wanted, self.languages):
            rows = Rows(self.languages)
            for qid in qids:
                self._items[number(qid)] = self._add(rows, number(qid), entities.get(qid))
            insert(connection, rows.tables())
        connection.execute(statement("follow_redirects"))

    def _add(self, rows: Rows, asked: int, entity: Entity | None) -> int | None:
        if entity is None:
            return None
        item = number(entity["id"])
        if item != asked:
            rows.add_redirect(asked, item)
        if item not in self._laid_out:
            self._laid_out.add(item)
            rows.add({key: value for key, value in entity.items() if key != "redirects"})
        return item

    def _fetch_unknown(self, qids: Sequence[str]) -> None:
        """Asks for all that the cache does not hold, in as few requests as there can be."""
        unknown = [qid for some, known in self._cache.batches(qids, self.languages) for qid in some if qid not in known]
        self._advance(reused=len(qids) - len(unknown))
        batches = [unknown[start : start + IDS_A_CALL] for start in range(0, len(unknown), IDS_A_CALL)]
        for _, entities in self._at_once(partial(self._client.entities, languages=self.languages), batches):
            self._cache.keep_entities(entities, self.languages)
            self._advance(asked=len(entities))

    def _advance(self, *, asked: int = 0, reused: int = 0) -> None:
        """Tells how many names and items the service, or the cache, has answered for."""
        self._outcome = Outcome(self._outcome.done + asked + reused, 0, self._outcome.reused + reused)
        self._progress(self._outcome)

    def _at_once(
        self, ask: Callable[[Question], Reply], questions: Sequence[Question]
    ) -> Iterator[tuple[Question, Reply]]:
        return at_once(self.settings.concurrency, ask, questions, self._client.stop)

    def _tell_of_damage(self) -> None:
        if self._cache.set_aside:
            self.set_aside = self._cache.set_aside
            line = f"{self.cache}: the Wikidata cache was damaged; it is kept as {self.set_aside.name}, and begun anew"
            self.settings.tell(line)


def _terms(language: str, surface: str) -> list[str]:
    """What a service is asked for: the surface, without the marks that we fold away, in Turkish lower case, in both
    Chinese scripts; nothing that cannot be a name.
    """
    forms, fold = [surface.strip(), without_marks(surface)], fold_of(language)
    if fold == "turkish" and "I" in surface:
        forms += normalise([surface], fold)
    if fold == "chinese":
        forms = [written for form in forms for written in chinese_forms(form)]
    return [form for form in dict.fromkeys(forms) if 0 < len(form) <= LONGEST_NAME]


def _past(language: str, term: str, hits: Sequence[Hit]) -> bool:
    """Is the last hit no longer of this name, so that all of them are found?"""
    last, sought = normalise([hits[-1].text, term], fold_of(language))
    return last != sought


def _numbers(relation: duckdb.DuckDBPyRelation) -> list[int]:
    return [number for (number,) in relation.fetchall()]
