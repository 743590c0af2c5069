"""Builds a snapshot from a SPARQL endpoint over Wikidata, with only the items that some topics need.

settings = PullSettings("you@example.org", "https://query.wikidata.org/sparql")
report = pull_index(catalog, ["food"], Path("food.duckdb"), settings)

These are the classes below the topics' roots, their instances, the creators of these, and the catalogue's countries.
Items outside the topics are missing, so that a name they share does not look ambiguous.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import msgspec

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import CatalogError, SnapshotError
from polyculture.cache.files import remove_folder
from polyculture.cache.outcome import Outcome, Progress, silent
from polyculture.link.entity_json import Rows
from polyculture.link.etiquette import duration
from polyculture.link.index.parts import ArrowTables, part_files, write_parts
from polyculture.link.index.snapshot import Snapshot, assemble
from polyculture.link.index.under_way import answers_beside
from polyculture.link.pull.client import PullSettings, SparqlClient
from polyculture.link.pull.facts import ItemFacts, gather
from polyculture.link.pull.members import country_items, find_members, scopes_of
from polyculture.link.pull.pages import PAGES, QueryPages
from polyculture.link.pull.queries import Query

ITEMS_A_QUERY = 100  # of facts
ROUNDS = 11  # items, makers, their places of birth, and eight units above these
_NAMES = 40_000  # in memory

# From the number of items to query, a context with a progress over them.
Watch = Callable[[int], AbstractContextManager[Progress]]


@dataclass(frozen=True, slots=True)
class PullReport:
    """The snapshot, and the numbers of pages requested and reused."""

    snapshot: Snapshot
    asked: int
    reused: int


def pull_index(
    catalog: Catalog,
    topics: Sequence[str],
    out: Path,
    settings: PullSettings,
    watch: Watch = lambda _total: nullcontext(silent),
) -> PullReport:
    """Builds the snapshot `out` of the items that these topics need, in all languages of the catalogue.

    Pages stay on disk until the snapshot is complete: after a failure the same call resumes. Raises `CatalogError` for
    an unknown topic, `WikidataError` where the endpoint cannot be reached, refuses, or times out on the smallest query,
    `SnapshotError` where it has no item of the topics, `StoreError` where `out` cannot be written, `JobHeldError` where
    another process pulls it.
    """
    pull = _Pull(catalog, list(dict.fromkeys(topics)), settings, watch)
    with answers_beside(out, PAGES) as folder, SparqlClient(settings) as client:
        pages = QueryPages(client, folder, settings.endpoint, settings.sleep)
        with tempfile.TemporaryDirectory(dir=folder, prefix="rows-") as name:
            rows = Path(name)
            write_parts(rows, pull.batches(pages))
            files = partial(part_files, rows, parts=1)
            snapshot = assemble(out, folder, files, pull.languages, pull.provenance(pages))
        remove_folder(folder)
    return PullReport(snapshot, pages.asked, pages.reused)


class _Pull:
    """One pull: what is requested, and the totals."""

    def __init__(self, catalog: Catalog, topics: list[str], settings: PullSettings, watch: Watch) -> None:
        self.languages = catalog.label_languages
        self._topics, self._settings, self._watch = topics, settings, watch
        self._scopes = scopes_of(catalog, topics)
        try:
            Query("facts", (1,), languages=tuple(sorted(self.languages)))
        except ValueError as fault:
            remedy = "See label_languages in the files of languages/."
            raise CatalogError(f"{fault}, as for a language of Wikidata's labels", remedy=remedy) from fault
        self._countries = country_items(catalog)
        self._begun = datetime.now(UTC)
        self._digest, self._modified, self._items = hashlib.sha256(), "", 0

    def batches(self, pages: QueryPages) -> Iterator[ArrowTables]:
        """Yields the rows of all items."""
        members = find_members(pages, self._scopes, self._settings.tell)
        wanted, rows = members.classes | members.instances | self._countries, Rows(self.languages)
        queries, rate = ceil(len(wanted) / ITEMS_A_QUERY), self._settings.requests_per_minute
        takes = f"some {queries:,} queries, {duration(queries / rate)} at {rate:g} a minute, and more for their makers"
        self._settings.tell(f"{len(wanted):,} items of {', '.join(self._topics)} and countries: {takes}")
        for facts in self._facts(pages, wanted):
            self._take(facts, rows)
            if rows.names >= _NAMES:
                yield rows.tables()
                rows = Rows(self.languages)
        yield rows.tables()
        if not self._items:
            remedy = "Check that the endpoint serves Wikidata, and the roots in the topics' files."
            raise SnapshotError("has no item of these topics", where=self._settings.endpoint, remedy=remedy)

    def provenance(self, pages: QueryPages) -> dict[str, Any]:
        """The provenance of the rows, once all are there."""
        endpoint, content = self._settings.endpoint, self._digest.hexdigest()
        return {
            "source": {"kind": "sparql", "endpoint": endpoint, "topics": self._topics, "sha256": content},
            "topics": self._topics,
            "complete": False,
            "pulled": self._begun.isoformat(timespec="seconds"),
            "pages": pages.asked + pages.reused,
            "modified": self._modified or None,
        }

    def _facts(self, pages: QueryPages, wanted: Iterable[int]) -> Iterator[ItemFacts]:
        """The facts of these items, of what says where they come from, and of the items that any were merged into."""
        asked, waiting, sources = set[int](), set(wanted), set[int]()
        for depth in range(ROUNDS):
            asked |= waiting
            for facts in self._asked(pages, sorted(waiting)):
                sources |= facts.sources(self._countries) if depth < ROUNDS - 2 else set()
                sources |= {facts.moved_to} if facts.moved_to else set()
                yield facts
            waiting = sources - asked
            if not waiting:
                break

    def _asked(self, pages: QueryPages, items: Sequence[int]) -> Iterator[ItemFacts]:
        languages = tuple(sorted(self.languages))
        with self._watch(len(items)) as progress:
            for start in range(0, len(items), ITEMS_A_QUERY):
                query = Query("facts", tuple(items[start : start + ITEMS_A_QUERY]), languages=languages)
                yield from gather(pages.rows(query))
                progress(Outcome(min(start + ITEMS_A_QUERY, len(items)), 0))

    def _take(self, facts: ItemFacts, rows: Rows) -> None:
        if facts.moved_to:
            rows.add_redirect(facts.number, facts.moved_to)
        for merged in sorted(facts.merged):
            rows.add_redirect(merged, facts.number)
        if facts.exists and not facts.moved_to:
            item = facts.item()
            rows.add_item(item)
            self._items += 1
            self._modified = max(self._modified, facts.modified)
            self._digest.update(msgspec.json.encode((item, sorted(facts.merged)), order="sorted"))
