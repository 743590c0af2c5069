"""Builds a snapshot of all items of some topics: a SPARQL endpoint says which these are, the Action API has the items.

endpoint, service = SparqlSettings("you@example.org"), ApiSettings("you@example.org")
report = pull_index(catalog, ["food"], Path("food.duckdb"), endpoint, service)

The items are fetched as `link/api/fill.py` fetches those that a search found: with all classes above them, and what
their countries rest on. Items outside the topics are missing, so that a name they share does not look ambiguous.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from pathlib import Path

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import SnapshotError
from polyculture.cache.files import remove_folder
from polyculture.cache.identity import content_id
from polyculture.cache.outcome import Progress, silent
from polyculture.link.api.client import IDS_A_CALL, ApiClient
from polyculture.link.api.fill import fetch_needed
from polyculture.link.api.kept import Kept
from polyculture.link.api.settings import ApiSettings
from polyculture.link.etiquette import duration
from polyculture.link.index.snapshot import VERSION, Snapshot
from polyculture.link.index.under_way import answers_beside
from polyculture.link.pull.client import SparqlClient, SparqlSettings
from polyculture.link.pull.members import find_members
from polyculture.link.pull.pages import PAGES, QueryPages

# From the number of items to fetch, a context with a progress over them.
Watch = Callable[[int], AbstractContextManager[Progress]]


@dataclass(frozen=True, slots=True)
class PullReport:
    """The snapshot, the numbers of pages requested and reused, and of requests for items."""

    snapshot: Snapshot
    asked: int
    reused: int
    requests: int


def pull_index(
    catalog: Catalog,
    topics: Sequence[str],
    out: Path,
    endpoint: SparqlSettings,
    service: ApiSettings,
    watch: Watch = lambda _total: nullcontext(silent),
) -> PullReport:
    """Builds the snapshot `out` of the items that these topics need, in all languages of the catalogue.

    Pages and items stay on disk until the snapshot is complete: after a failure or a kill the same call resumes. Raises
    `CatalogError` for an unknown topic, `WikidataError` where a service cannot be reached, refuses, or times out on the
    smallest query, `SnapshotError` where the endpoint has no item of the topics, `StoreError` where `out` cannot be
    written, `JobHeldError` where another process pulls it.
    """
    topics, languages, began = list(dict.fromkeys(topics)), catalog.label_languages, datetime.now(UTC)
    with answers_beside(out, PAGES) as folder, SparqlClient(endpoint) as queries, ApiClient(service) as items:
        pages = QueryPages(queries, folder, endpoint.endpoint, endpoint.sleep)
        members = find_members(pages, catalog, topics, endpoint.tell)
        if not members:
            remedy = "Check that the endpoint serves Wikidata, and the roots in the topics' files."
            raise SnapshotError("has no item of these topics", where=endpoint.endpoint, remedy=remedy)
        # Answers are kept for the very same pull: items of another one would be in this snapshot, too.
        pull = content_id(VERSION, endpoint.endpoint, service.endpoint, sorted(languages), sorted(members))
        with Kept(folder / f"{pull}.duckdb", None, service.endpoint, languages, catalog) as kept:
            kept.need(members)
            requests, rate = ceil(len(members) / IDS_A_CALL), service.requests_per_minute
            takes = f"some {requests:,} requests, {duration(requests / rate)} at {rate:g} a minute"
            told = f"{len(members):,} items of {', '.join(topics)}: {takes}, and more for what their countries rest on"
            service.tell(told)
            with watch(len(kept.wanted())) as progress:
                fetch_needed(items, kept, progress)
            source = {"kind": "sparql", "endpoint": endpoint.endpoint, "items": service.endpoint, "topics": topics}
            provenance = {"topics": topics, "complete": False, "pulled": began.isoformat(timespec="seconds")}
            snapshot = kept.write(out, {"source": {**source, "content": kept.digest()}, **provenance})
        remove_folder(folder)
    return PullReport(snapshot, pages.asked, pages.reused, items.requests)
