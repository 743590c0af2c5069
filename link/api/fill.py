"""Fills a snapshot from the live services with the items that the names of a run's mentions may mean.

endpoint, service = SparqlSettings("you@example.org"), ApiSettings("you@example.org")
report = fill_snapshot(catalog, names, Path("wikidata.duckdb"), endpoint, service)

A SPARQL endpoint is asked which items bear the names, hundreds of names a query, and what stands above these items. The
Action API has the classes, then the items that belong to a topic, whoever made them, and the places they are from. Of
other items the snapshot keeps that they bear the name. What it holds is never asked for again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import Any

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import SnapshotError
from polyculture.cache.identity import content_id
from polyculture.cache.work.outcome import Outcome, Progress, silent
from polyculture.link.api.client import IDS_A_CALL, ApiClient, ApiSettings
from polyculture.link.api.kept import AskedNames, KeptAnswers, kept_answers, read_asked, read_unfinished
from polyculture.link.api.names import NamedMention, NameInLanguage, exact_terms, search_terms
from polyculture.link.api.sparql import SparqlClient, SparqlSettings, queries_of
from polyculture.link.index.draft import answers_folder
from polyculture.link.index.snapshot import FILLED, Snapshot, open_snapshot
from polyculture.link.ontology import scopes_of
from polyculture.link.polite_client import duration

# Measured over 193,000 items of Wikidata: 70 to 180 mentions a query. The classes above whatever is named, level by
# level, and what countries rest on take a new file 20 to 32 requests for 5 to 200 mentions, and a file that has most of
# them fewer; the mentions themselves 1 for 30 to 50. All of Wikidata has more items of a name, of which few belong
# to a topic. Two searches are for each mention whose names no item bears.
MENTIONS_A_QUERY, MENTIONS_A_REQUEST, SEARCHES_A_MENTION = 70, 20, 0.5
_REQUESTS_OF_CLASSES, _REQUESTS_OF_MORE = 25, 10


@dataclass(frozen=True, slots=True)
class FillReport:
    """The snapshot, and how many queries and requests were sent, for how many mentions, names and items.

    A mention has many names: each of its spellings in each language in which it is looked up.
    """

    snapshot: Snapshot
    queries: int = 0
    requests: int = 0
    mentions: int = 0
    names: int = 0
    items: int = 0


def fill_snapshot(
    catalog: Catalog,
    mentions: Iterable[NamedMention],
    out: Path,
    endpoint: SparqlSettings,
    service: ApiSettings,
    *,
    search: bool = False,
    linked: Iterable[str] = (),
    progress: Progress = silent,
) -> FillReport:
    """Adds to the snapshot `out`, or to a new one, what Wikidata has under the names of these mentions.

    With `search`, the service's own search is asked for the mentions whose names no item bears: it finds names that are
    spelled a little otherwise. The items that are `linked` elsewhere, with an older state of Wikidata, are asked for by
    number: those that have been merged since are in the table `redirects`. The file is replaced once all is there.
    Until then answers are kept beside it: after a failure or a kill the same call asks for the rest. Where all names
    were asked for nothing is sent, and the file stays as it is. Raises `WikidataError` where a service cannot be
    reached or refuses, `SnapshotError` where `out` is no snapshot that can grow, `StoreError` where it cannot be
    written, `JobHeldError` where another process fills it.
    """
    mentions = list(dict.fromkeys(mentions))
    needed = frozenset(code for named in mentions for code in catalog.language(named.language).label_languages)
    base = open_snapshot(out) if out.exists() else None
    if base:
        check_base(base, service.endpoint, needed)
    languages = base.languages if base and needed <= base.languages else catalog.label_languages
    asked = read_asked(base) if base else AskedNames()
    rules = content_id(sorted({scope.rules for scope in scopes_of(catalog, catalog.topics).values()}))
    fits = base and languages == base.languages and base.meta["source"].get("topics") == rules
    if base and fits and not answers_folder(out).exists():
        wanted = _new_names(catalog, mentions, asked) or (search and _new_searches(catalog, mentions, asked))
        if not wanted:
            return FillReport(base)
    endpoint.check()
    service.check()
    with (
        kept_answers(out, {"endpoint": service.endpoint}, languages, catalog, base) as kept,
        SparqlClient(endpoint, kept) as queries,
        ApiClient(service) as items,
    ):
        names = 0
        for count in queries.find_bearers(_new_names(catalog, mentions, kept.asked)):
            names += count
            progress(Outcome(names, 0))
        for place, term in enumerate(_new_searches(catalog, mentions, kept.asked) if search else (), start=names + 1):
            kept.keep_search(term, items.search(*term))
            progress(Outcome(place, 0))
        fetched = fetch_needed(items, kept, progress, names)
        check_merged(items, kept, linked)
        source = {"endpoint": service.endpoint, "names": endpoint.endpoint, "topics": rules}
        snapshot = _written(kept, base, out, source)
    return FillReport(snapshot, queries.requests, items.requests, len(mentions), names, fetched)


@dataclass(frozen=True, slots=True)
class NamesToAsk:
    """What a fill asks an endpoint: of how many mentions, and in how many queries."""

    mentions: int
    queries: int
    searches: int  # at most, with `search`
    begun: bool = False  # has the file the classes of an earlier fill?
    waiting: int = 0  # mentions whose names an interrupted fill has asked for: their items may be still to come
    fetched: int = 0  # items that it has
    assumed: int = 0  # of `mentions`: those that nobody has seen yet

    def __add__(self, other: NamesToAsk) -> NamesToAsk:
        return NamesToAsk(
            mentions=self.mentions + other.mentions,
            queries=self.queries + other.queries,
            searches=self.searches + other.searches,
            begun=self.begun or other.begun,
            waiting=self.waiting + other.waiting,
            fetched=self.fetched + other.fetched,
            assumed=self.assumed + other.assumed,
        )


def names_to_ask(catalog: Catalog, mentions: Iterable[NamedMention], out: Path) -> NamesToAsk:
    """What a fill of the snapshot `out` would ask for these mentions: the names that no fill has asked for before, an
    interrupted one included.

    Raises `SnapshotError` where `out` is no snapshot, and `JobHeldError` where another process fills it now.
    """
    base = open_snapshot(out) if out.exists() else None
    before = read_asked(base) if base else AskedNames()
    unfinished = read_unfinished(out)
    asked = unfinished.asked if unfinished else before
    terms = {named: exact_terms(catalog, named) for named in dict.fromkeys(mentions)}
    new = [named for named, names in terms.items() if names - asked.names.keys()]
    waiting = sum(bool(names - before.names.keys()) for names in terms.values()) - len(new)
    fetched = max(unfinished.items - (base.meta["counts"]["items"] if base else 0), 0) if unfinished else 0
    queries, searches = queries_of(_new_names(catalog, new, asked)), len(_new_searches(catalog, terms, asked))
    return NamesToAsk(len(new), queries, searches, bool(before.names), waiting, fetched)


def assumed_names(mentions: int) -> NamesToAsk:
    """What a fill would ask for a number of mentions that are still to be extracted, so that no name is known."""
    queries, searches = ceil(mentions / MENTIONS_A_QUERY), ceil(mentions * SEARCHES_A_MENTION)
    return NamesToAsk(mentions, queries, searches, assumed=mentions)


def expected_numbers(asked: NamesToAsk, *, search: bool = False) -> tuple[int, int, int]:
    """How many queries, requests and searches a fill takes.

    How many requests items take is known when they are there: it is said with the most that was measured. So are the
    queries of mentions that nobody has seen yet.
    """
    classes, mentions = _REQUESTS_OF_MORE if asked.begun else _REQUESTS_OF_CLASSES, asked.mentions + asked.waiting
    sent = asked.fetched // IDS_A_CALL
    requests = max(ceil(mentions / MENTIONS_A_REQUEST) + classes - sent, 1) if mentions else 0
    return asked.queries, requests, asked.searches if search else 0


def expected_requests(
    asked: NamesToAsk, endpoint: SparqlSettings, service: ApiSettings, *, search: bool = False
) -> str:
    """The same in words, and how long it takes."""
    queries, requests, searches = expected_numbers(asked, search=search)
    minutes = queries / endpoint.requests_per_minute + (requests + searches) / service.requests_per_minute
    told = f" and up to {searches:,} searches" if searches else ""
    rates = f"{endpoint.requests_per_minute:g} queries and {service.requests_per_minute:g} requests a minute"
    most = "up to " if asked.assumed else ""
    items = f"{'up to ' if requests else ''}{requests:,} requests"
    return f"{most}{queries:,} queries, {items}{told}: up to {duration(minutes)} at {rates}"


def _new_names(catalog: Catalog, mentions: Iterable[NamedMention], asked: AskedNames) -> list[NameInLanguage]:
    """The names of the mentions that were never asked for, in a fixed order."""
    return sorted({term for named in mentions for term in exact_terms(catalog, named)} - asked.names.keys())


def _new_searches(catalog: Catalog, mentions: Iterable[NamedMention], asked: AskedNames) -> list[NameInLanguage]:
    """What is to be searched for the mentions whose names no item bears."""
    unknown = (named for named in mentions if not any(asked.names.get(term) for term in exact_terms(catalog, named)))
    return sorted({term for named in unknown for term in search_terms(catalog, named)} - asked.searches)


def fetch_needed(client: ApiClient, kept: KeptAnswers, progress: Progress, done: int = 0) -> int:
    """Fetches the items that `kept` says are needed, and what these need, level by level; returns how many.

    The progress begins at `done`.
    """
    items = 0
    while qids := kept.wanted():
        for start in range(0, len(qids), IDS_A_CALL):
            batch = qids[start : start + IDS_A_CALL]
            kept.keep_entities(client.entities(batch, kept.languages))
            items += len(batch)
            progress(Outcome(done + items, 0))
    return items


def check_merged(client: ApiClient, kept: KeptAnswers, qids: Iterable[str]) -> None:
    """Asks which of these items have been merged into others, where nobody has asked yet."""
    unknown = kept.unchecked(qids)
    for start in range(0, len(unknown), IDS_A_CALL):
        kept.keep_checked(client.entities(unknown[start : start + IDS_A_CALL], kept.languages))


def check_base(base: Snapshot, endpoint: str, languages: Collection[str]) -> None:
    """Raises `SnapshotError` for a snapshot that cannot grow by answers of this service, with names in `languages`."""
    source: Mapping[str, Any] = base.meta["source"]
    lacking = sorted(set(languages) - base.languages)
    wrong = ""
    if base.complete:
        wrong = "is of a dump, which lacks no name: there is nothing to fill"
    elif base.filled and source.get("endpoint") != endpoint:
        wrong = f"was filled from {source.get('endpoint')}, not from {endpoint}"
    elif lacking and not base.filled:
        wrong = f"was pulled without names in {', '.join(lacking)}"
    if wrong:
        remedy = 'Name another file to be filled: [link] snapshot = "FILE". To link with this one, leave fill out.'
        raise SnapshotError(wrong, where=base.path, remedy=remedy)


def _written(kept: KeptAnswers, base: Snapshot | None, out: Path, asked: Mapping[str, str]) -> Snapshot:
    before: Mapping[str, Any] = base.meta["source"] if base else {}
    onto = before.get("onto") if base and base.filled else before or None
    source = {"kind": FILLED, **asked, "content": kept.digest(), **({"onto": onto} if onto else {})}
    if base and before == source and base.languages == kept.languages:
        return base  # a process that was killed before it could remove the answers had written it
    provenance = {"source": source, "complete": False, "filled": datetime.now(UTC).isoformat(timespec="seconds")}
    return kept.write(out, provenance)
