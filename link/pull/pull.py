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
from math import ceil
from pathlib import Path

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import SnapshotError
from polyculture.cache.identity import content_id
from polyculture.cache.outcome import Progress, silent
from polyculture.link.api.client import IDS_A_CALL, ApiClient, ApiSettings
from polyculture.link.api.fill import fetch_needed
from polyculture.link.api.kept import kept_answers
from polyculture.link.etiquette import duration
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.ontology import scopes_of
from polyculture.link.pull.client import SparqlClient, SparqlSettings
from polyculture.link.pull.members import find_members
from polyculture.link.pull.pages import QueryPages

# From the number of items to fetch, a context with a progress over them.
Watch = Callable[[int], AbstractContextManager[Progress]]


@dataclass(frozen=True, slots=True)
class PullReport:
    """The snapshot, and the numbers of pages and of items' requests that were sent."""

    snapshot: Snapshot
    asked: int
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

    Answers stay on disk until the snapshot is complete: after a failure or a kill the same call resumes. Raises
    `CatalogError` for an unknown topic, `WikidataError` where a service cannot be reached, refuses, or times out on the
    smallest query, `SnapshotError` where the endpoint has no item of the topics, `StoreError` where `out` cannot be
    written, `JobHeldError` where another process pulls it.
    """
    topics, languages = list(dict.fromkeys(topics)), catalog.label_languages
    rules = sorted({scope.rules for scope in scopes_of(catalog, topics).values()})
    asked = {"endpoint": [endpoint.endpoint, service.endpoint], "topics": content_id(rules)}
    with (
        kept_answers(out, asked, languages, catalog) as kept,
        SparqlClient(endpoint) as queries,
        ApiClient(service) as items,
    ):
        pages = QueryPages(queries, kept, endpoint.sleep)
        members = find_members(pages, catalog, topics, endpoint.tell)
        if not members:
            remedy = "Check that the endpoint serves Wikidata, and the roots in the topics' files."
            raise SnapshotError("has no item of these topics", where=endpoint.endpoint, remedy=remedy)
        kept.need(members)
        requests, rate = ceil(len(members) / IDS_A_CALL), service.requests_per_minute
        takes = f"some {requests:,} requests, {duration(requests / rate)} at {rate:g} a minute"
        told = f"{len(members):,} items of {', '.join(topics)}: {takes}, and more for what their countries rest on"
        service.tell(told)
        with watch(len(kept.wanted())) as progress:
            fetch_needed(items, kept, progress)
        source = {"kind": "sparql", "endpoint": endpoint.endpoint, "items": service.endpoint, "topics": topics}
        provenance = {"topics": topics, "complete": False, "pulled": kept.began}
        snapshot = kept.write(out, {"source": {**source, "content": kept.digest()}, **provenance})
    return PullReport(snapshot, pages.asked, items.requests)
