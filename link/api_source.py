"""The live service as a source: what the surfaces may name is searched, fetched and laid out as a snapshot's tables.

All that the service answers goes to the cache on disk, and what stands there is not asked again. The items a search
finds are judged by their own names, exactly as an index's items are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from cache.identity import content_id
from cache.outcome import Outcome, Progress
from cache.wikidata_cache import WikidataCache
from link.api_client import IDS_A_CALL, LONGEST_NAME, ApiClient, ApiSettings, Entity
from link.entity_json import PROPERTIES, Rows, number
from link.normalise import chinese_forms, fold_of, normalise
from link.snapshot import create_tables, insert
from link.statements import statement


class ApiSource:
    """Links against the service of `settings`; what it answers is remembered in the file `cache`.

    `set_aside` is where a broken cache was moved to, None mostly. Raises `WikidataError` where no contact is given.
    """

    complete = False  # no service lists every name of a kind: there is nothing to match fuzzily

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
        self._asked: set[int] = set()
        self._laid_out: set[int] = set()
        with WikidataCache(self.cache, self.settings.endpoint) as self._cache, ApiClient(self.settings) as self._client:
            self.set_aside = self._cache.set_aside or self.set_aside
            try:
                yield
            finally:
                self.requests += self._client.requests

    def find(self, connection: duckdb.DuckDBPyConnection, progress: Progress) -> None:
        """Searches every surface, fetches what is found, and climbs from what bears one of the names."""
        self.fetch(connection, sorted(self._search(connection, progress)))
        below, first = _items(connection.sql(statement("named"))), True
        while below:
            connection.from_arrow(pa.table({"item": pa.array(below, pa.uint32())})).create_view("below", replace=True)
            above = _items(connection.sql(statement("above"), params={"first": first}))
            below, first = self._lay_out(connection, above), False

    def fetch(self, connection: duckdb.DuckDBPyConnection, items: Sequence[int]) -> None:
        """Puts these items into the tables."""
        self._lay_out(connection, items)

    def _search(self, connection: duckdb.DuckDBPyConnection, progress: Progress) -> set[int]:
        surfaces = connection.execute(statement("searches")).fetchall()
        searches = list(
            dict.fromkeys((language, term) for language, text in surfaces for term in _terms(language, text))
        )
        known = {
            language: self._cache.searches(language, [term for code, term in searches if code == language])
            for language in {language for language, _ in searches}
        }
        found: set[int] = set()
        reused = 0
        for done, (language, term) in enumerate(searches, 1):
            qids = known[language].get(term)
            if qids is None:
                qids = self._client.search(language, term, partial(_past, language, term))
                self._cache.keep_search(language, term, qids)
            else:
                reused += 1
            found.update(map(number, qids))
            progress(Outcome(done, 0, reused))
        return found

    def _lay_out(self, connection: duckdb.DuckDBPyConnection, items: Sequence[int]) -> list[int]:
        """Puts items into the tables; gives back those that were not there yet."""
        wanted = [item for item in items if item not in self._asked]
        new: list[int] = []
        for start in range(0, len(wanted), IDS_A_CALL):
            batch = wanted[start : start + IDS_A_CALL]
            rows = Rows(self.languages)
            for asked, entity in self._entities(batch):
                item = number(entity["id"])
                if item != asked:
                    rows.add_redirect(asked, item)
                if item not in self._laid_out:
                    rows.add(entity)
                    self._laid_out.add(item)
                    new.append(item)
            self._asked.update(batch)
            insert(connection, rows.tables())
        connection.execute(statement("follow_redirects"))
        return new

    def _entities(self, items: Sequence[int]) -> Iterator[tuple[int, Entity]]:
        qids = [f"Q{item}" for item in items]
        known = self._cache.entities(qids, self.languages)
        unknown = [qid for qid in qids if qid not in known]
        if unknown:
            answers = self._client.entities(unknown, self.languages)
            kept = {qid: _trimmed(entity) if entity else None for qid, entity in answers.items()}
            self._cache.keep_entities(kept, self.languages)
            known |= kept
        for item, qid in zip(items, qids, strict=True):
            if (entity := known[qid]) is not None:
                yield item, entity


def _terms(language: str, surface: str) -> list[str]:
    """What a service is asked for: the surface, in Chinese also in the other script; nothing that cannot be a name."""
    forms = chinese_forms(surface) if fold_of(language) == "chinese" else [surface.strip()]
    return [form for form in forms if 0 < len(form) <= LONGEST_NAME]


def _past(language: str, term: str, hits: Sequence[Entity]) -> bool:
    """Is the last hit no longer of this name, so that all of them are found?"""
    last, sought = normalise([hits[-1].get("match", {}).get("text", ""), term], fold_of(language))
    return last != sought


def _trimmed(entity: Entity) -> Entity:
    """What linking needs of an entity, still in the form of a dump."""
    kept: Entity = {
        key: entity[key] for key in ("type", "id", "labels", "descriptions", "aliases", "lastrevid") if key in entity
    }
    claims = entity.get("claims") or {}
    statements = {code: [_bare(claim) for claim in claims[code]] for code in PROPERTIES if code in claims}
    return {**kept, "claims": statements, "sitelinks": {site: {} for site in entity.get("sitelinks") or {}}}


def _bare(claim: Entity) -> Entity:
    snak = {key: value for key, value in claim["mainsnak"].items() if key in ("snaktype", "property", "datavalue")}
    return {"mainsnak": snak, "type": "statement", "rank": claim.get("rank", "normal")}


def _items(relation: duckdb.DuckDBPyRelation) -> list[int]:
    return [item for (item,) in relation.fetchall()]
