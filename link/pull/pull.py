"""Builds a snapshot of all items of some topics: a SPARQL endpoint says which these are, the Action API has the items.

endpoint, service = SparqlSettings("you@example.org"), ApiSettings("you@example.org")
report = pull_index(catalog, ["food"], Path("food.duckdb"), endpoint, service)

The classes are found by the search of `link/ontology.py`, over the endpoint instead of a snapshot. Items
are fetched as `link/api/fill.py` fetches those that a search found: with all classes above them, and what their
countries rest on. Items outside the topics are missing, so that a name they share does not look ambiguous.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import SnapshotError
from polyculture.cache.identity import content_id
from polyculture.cache.log import get_logger
from polyculture.cache.work.outcome import Progress, silent
from polyculture.link.api.client import IDS_A_CALL, ApiClient, ApiSettings
from polyculture.link.api.fill import fetch_needed
from polyculture.link.api.kept import kept_answers
from polyculture.link.api.sparql import SparqlClient, SparqlSettings
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.ontology import Scope, class_paths, scopes_of
from polyculture.link.polite_client import duration

_log = get_logger(__name__)

# From the number of items to fetch, a context with a progress over them.
WatchPull = Callable[[int], AbstractContextManager[Progress]]


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
    watch: WatchPull = lambda _total: nullcontext(silent),
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
        SparqlClient(endpoint, kept) as queries,
        ApiClient(service) as items,
    ):
        members = _find_members(queries, set(scopes_of(catalog, topics).values()))
        if not members:
            remedy = "Check that the endpoint serves Wikidata, and the roots in the topics' files."
            raise SnapshotError("has no item of these topics", where=endpoint.endpoint, remedy=remedy)
        kept.need(members)
        requests, rate = ceil(len(members) / IDS_A_CALL), service.requests_per_minute
        takes = f"some {requests:,} requests, {duration(requests / rate)} at {rate:g} a minute"
        told = f"{len(members):,} items of {', '.join(topics)}: {takes}, and more for what their countries rest on"
        _log.info(told)
        with watch(len(kept.wanted())) as progress:
            fetch_needed(items, kept, progress)
        source = {"kind": "sparql", "endpoint": endpoint.endpoint, "items": service.endpoint, "topics": topics}
        provenance = {"topics": topics, "complete": False, "pulled": kept.began}
        snapshot = kept.write(out, {"source": {**source, "content": kept.digest()}, **provenance})
    return PullReport(snapshot, queries.pages, items.requests)


def _find_members(queries: SparqlClient, kinds: set[Scope]) -> frozenset[int]:
    """The numbers of the kinds' classes, of those of required occupations, and of their instances.

    It is empty where the endpoint knows nothing below the kinds' roots.
    """

    def load(code: str, classes: Sequence[int]) -> list[tuple[int, int]]:
        found = [(item, above) for above, item in queries.pairs("below", classes, code)]
        _log.info(f"{len(found)} name {len(classes)} classes by {code}")
        return found

    scopes = kinds | {scope.occupation_scope for scope in kinds if scope.occupation_scope}
    trees = {scope: frozenset(paths) for scope, paths in class_paths(load, sorted(scopes)).items()}
    wanted = [scope for scope in scopes if scope.members != "classes"]
    any_instance = _union(trees[scope] for scope in wanted if not scope.occupations)
    persons = _union(trees[scope] for scope in wanted if scope.occupations) - any_instance
    trades = _union(trees[scope.occupation_scope] for scope in wanted if scope.occupation_scope)
    instances = {item for _, item in queries.pairs("below", any_instance)}
    instances |= {item for _, item in queries.pairs("below", trades, "P106")}
    instances |= {item for _, item in queries.pairs("idle", persons)}
    classes = _union(trees.values())
    _log.info(f"{len(classes):,} classes, {len(instances - classes):,} instances of them")
    given = _union((*scope.roots, *scope.types) for scope in scopes)
    return classes | instances if classes - given or instances else frozenset()


def _union(groups: Iterable[Iterable[int]]) -> frozenset[int]:
    return frozenset(item for group in groups for item in group)
