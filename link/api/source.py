"""The live service as a source: searches the surfaces, fetches the items found, and fills a snapshot's tables.

All answers are cached on disk and never requested again. The items found by a search are matched by their own names,
exactly like an index's items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import duckdb
import pyarrow as pa

from polyculture.cache.identity import content_id
from polyculture.cache.outcome import Outcome, Progress, silent
from polyculture.link.api.answers import Entity, SearchHit
from polyculture.link.api.at_once import at_once
from polyculture.link.api.cache import AnswerCache
from polyculture.link.api.client import IDS_A_CALL, LONGEST_NAME, ApiClient, ApiSettings
from polyculture.link.entity_json import Rows, number
from polyculture.link.index.snapshot import create_tables, insert
from polyculture.link.normalise import chinese_forms, fold_of, normalise, without_marks
from polyculture.link.statements import statement

SearchTerm = tuple[str, str]  # Wikidata language, name
Question = TypeVar("Question")
Reply = TypeVar("Reply")


class ApiSource:
    """Links with the service of `settings`; its answers are cached in the file `cache`.

    `set_aside` is the path of a damaged cache that was moved away, else None. Raises `WikidataError` where the settings
    are wrong; a contact that is not given is missed when the source is opened, since a plan needs none.
    """

    complete = False  # no service lists all names of a kind, which fuzzy matching needs
    queried_by_name = True
    loose_names = None
    scopes: Mapping[str, int] = MappingProxyType({})  # its answers are other items each time

    def __init__(self, settings: ApiSettings, cache: Path, languages: Iterable[str]) -> None:
        if settings.contact:
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
        self.requests = 0  # sent in total

    @contextmanager
    def opened(self, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
        connection.execute("CREATE SCHEMA wikidata")
        create_tables(connection)
        connection.execute(statement("api_hits"))
        self._items: dict[int, int | None] = {}  # requested number -> item in the tables, None if missing
        self._loaded: set[int] = set()
        self._last = 0  # the last lookup that was searched
        self._outcome = Outcome(0, 0)
        self._progress: Progress = silent
        with AnswerCache(self.cache, self.settings.endpoint) as self._cache, ApiClient(self.settings) as self._client:
            self._report_damage()
            try:
                yield
            finally:
                self.requests += self._client.requests

    def find(self, connection: duckdb.DuckDBPyConnection, progress: Progress) -> None:
        """Searches every new surface, fetches the items found and all classes above them."""
        self._progress = progress
        pairs = self._search(connection)
        self.fetch(connection, sorted({item for _, item in pairs}))
        hits = sorted({(lookup, item) for lookup, hit in pairs if (item := self._items[hit]) is not None})
        columns = [pa.array(numbers, pa.uint32()) for numbers in (zip(*hits, strict=True) if hits else ([], []))]
        connection.from_arrow(pa.table(columns, names=["lookup", "item"])).insert_into("api_hits")
        self._load_classes(connection, {item for _, item in hits})

    def fetch(self, connection: duckdb.DuckDBPyConnection, items: Sequence[int]) -> None:
        """Loads these items into the tables."""
        self._load(connection, items)

    def _load_classes(self, connection: duckdb.DuckDBPyConnection, items: set[int]) -> None:
        """Loads every item on a path from these items to a kind's classes."""
        frontier, first, expanded = sorted(items), True, set[int]()
        while frontier:
            table = pa.table({"item": pa.array(frontier, pa.uint32())})
            connection.from_arrow(table).create_view("frontier", replace=True)
            parents = _numbers(connection.sql(statement("parent_items"), params={"first": first}))
            self._load(connection, parents)
            reached = {item for parent in parents if (item := self._items[parent]) is not None}
            frontier, first = sorted(reached - expanded), False
            expanded |= reached

    def _search(self, connection: duckdb.DuckDBPyConnection) -> list[tuple[int, int]]:
        """(lookup, item) for every new lookup and every item that the service finds for it."""
        surfaces = connection.execute(statement("search_terms"), {"last": self._last}).fetchall()
        self._last = max((lookup for lookup, _, _ in surfaces), default=self._last)
        terms = [(lookup, (language, term)) for lookup, language, text in surfaces for term in _terms(language, text)]
        qids_of = self._find_all(list(dict.fromkeys(search for _, search in terms)))
        return [(lookup, number(qid)) for lookup, search in terms for qid in qids_of[search]]

    def _find_all(self, searches: Sequence[SearchTerm]) -> dict[SearchTerm, list[str]]:
        """The QIDs that the service, or the cache, gives for each search."""
        qids_of = {
            (language, term): qids
            for language in {language for language, _ in searches}
            for term, qids in self._cache.searches(language, [t for code, t in searches if code == language]).items()
        }
        self._advance(reused=len(qids_of))
        for (language, term), qids in self._at_once(self._request_search, [s for s in searches if s not in qids_of]):
            self._cache.keep_search(language, term, qids)
            qids_of[language, term] = qids
            self._advance(asked=1)
        return qids_of

    def _request_search(self, search: SearchTerm) -> list[str]:
        language, term = search
        return self._client.search(language, term, partial(_past, language, term))

    def _load(self, connection: duckdb.DuckDBPyConnection, items: Sequence[int]) -> None:
        """Loads these items into the tables, and into `_items`."""
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
        if item not in self._loaded:
            self._loaded.add(item)
            rows.add({key: value for key, value in entity.items() if key != "redirects"})
        return item

    def _fetch_unknown(self, qids: Sequence[str]) -> None:
        """Fetches the entities that are not cached, in as few requests as possible."""
        unknown = [qid for some, known in self._cache.batches(qids, self.languages) for qid in some if qid not in known]
        self._advance(reused=len(qids) - len(unknown))
        batches = [unknown[start : start + IDS_A_CALL] for start in range(0, len(unknown), IDS_A_CALL)]
        for _, entities in self._at_once(partial(self._client.entities, languages=self.languages), batches):
            self._cache.keep_entities(entities, self.languages)
            self._advance(asked=len(entities))

    def _advance(self, *, asked: int = 0, reused: int = 0) -> None:
        """Reports how many searches and entities the service, or the cache, has answered."""
        self._outcome = Outcome(self._outcome.done + asked + reused, 0, self._outcome.reused + reused)
        self._progress(self._outcome)

    def _at_once(
        self, send: Callable[[Question], Reply], questions: Sequence[Question]
    ) -> Iterator[tuple[Question, Reply]]:
        return at_once(self.settings.concurrency, send, questions, self._client.stop)

    def _report_damage(self) -> None:
        if self._cache.set_aside:
            self.set_aside = self._cache.set_aside
            line = f"{self.cache}: the Wikidata cache was damaged: kept as {self.set_aside.name}; a new one begins"
            self.settings.tell(line)


def _terms(language: str, surface: str) -> list[str]:
    """The terms to search for a surface: as written, without the marks that normalisation removes, in Turkish lower
    case, in both Chinese scripts. Terms that cannot be a name are dropped.
    """
    forms, fold = [surface.strip(), without_marks(surface)], fold_of(language)
    if fold == "turkish" and "I" in surface:
        forms += normalise([surface], fold)
    if fold == "chinese":
        forms = [written for form in forms for written in chinese_forms(form)]
    return [form for form in dict.fromkeys(forms) if 0 < len(form) <= LONGEST_NAME]


def _past(language: str, term: str, hits: Sequence[SearchHit]) -> bool:
    """Does the last hit have another name? Then all hits of this name were found."""
    last, wanted = normalise([hits[-1].text, term], fold_of(language))
    return last != wanted


def _numbers(relation: duckdb.DuckDBPyRelation) -> list[int]:
    return [number for (number,) in relation.fetchall()]
