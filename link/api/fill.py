"""Fills a snapshot from the live service with the items that the names of a run's mentions may mean.

report = fill_snapshot(catalog, names, Path("wikidata.duckdb"), ApiSettings("you@example.org"))

Each name is searched once. What is found is fetched with all classes above it; of what is a topic's also whoever made
it, and the places it is from. What the snapshot holds is never asked for again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import SnapshotError
from polyculture.cache.work.outcome import Outcome, Progress, silent
from polyculture.link.api.client import IDS_A_CALL, ApiClient, ApiSettings, SearchHit
from polyculture.link.api.kept import Kept, kept_answers, read_searches
from polyculture.link.api.names import Named, Searches
from polyculture.link.index.draft import answers_folder
from polyculture.link.index.snapshot import FILLED, Snapshot, open_snapshot
from polyculture.link.normalise import fold_of, normalise


@dataclass(frozen=True, slots=True)
class FillReport:
    """The snapshot, and how many requests were sent for how many names and items."""

    snapshot: Snapshot
    requests: int = 0
    names: int = 0
    items: int = 0


def fill_snapshot(
    catalog: Catalog, names: Iterable[Named], out: Path, settings: ApiSettings, progress: Progress = silent
) -> FillReport:
    """Adds to the snapshot `out`, or to a new one, what the service has under these names.

    The file is replaced once all is there. Until then answers are kept beside it: after a failure or a kill the same
    call asks for the rest. Where all names were asked for nothing is sent, and the file stays as it is. Raises
    `WikidataError` where the service cannot be reached or refuses, `SnapshotError` where `out` is no snapshot that can
    be filled or the answers beside it are of another service, `StoreError` where it cannot be written, `JobHeldError`
    where another process fills it.
    """
    named = list(names)
    wanted = [Searches(catalog, name) for name in named]
    needed = frozenset(code for name in named for code in catalog.language(name.language).label_languages)
    base = _base(out, settings.endpoint, needed)
    languages = base.languages if base and needed <= base.languages else catalog.label_languages
    if base and languages == base.languages and not answers_folder(out).exists():
        known = read_searches(base)
        if not any(name.next(known) for name in wanted):
            return FillReport(base)
    settings.check()
    asked = {"endpoint": settings.endpoint}
    with kept_answers(out, asked, languages, catalog, base) as kept, ApiClient(settings) as client:
        terms = _search(client, kept, wanted, progress)
        items = fetch_needed(client, kept, progress, terms)
        snapshot = _written(kept, base, out, settings.endpoint)
    return FillReport(snapshot, client.requests, terms, items)


def fetch_needed(client: ApiClient, kept: Kept, progress: Progress, done: int = 0) -> int:
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


def _search(client: ApiClient, kept: Kept, wanted: Sequence[Searches], progress: Progress) -> int:
    """Searches the names, each form only where those before it found nothing; returns how many terms were new."""
    names = 0
    while terms := sorted({term for name in wanted for term in name.next(kept.searched)}):
        for language, text in terms:
            hits, following = client.search(language, text, kept.unfinished.get((language, text), 0))
            if following is not None and _past(language, text, hits):
                following = None
            kept.keep_search((language, text), [hit.qid for hit in hits], following)
            names += following is None
            progress(Outcome(names, 0))
    return names


def _base(out: Path, endpoint: str, languages: frozenset[str]) -> Snapshot | None:
    """The snapshot to grow; None where there is none yet."""
    if not out.exists():
        return None
    base = open_snapshot(out)
    source: Mapping[str, Any] = base.meta["source"]
    lacking = sorted(languages - base.languages)
    wrong = ""
    if base.complete:
        wrong = "is of a dump, which lacks no name: there is nothing to fill"
    elif base.filled and source.get("endpoint") != endpoint:
        wrong = f"was filled from {source.get('endpoint')}, not from {endpoint}"
    elif lacking and not base.filled:
        wrong = f"was pulled without names in {', '.join(lacking)}"
    if wrong:
        raise SnapshotError(wrong, where=out, remedy='Name another file to be filled: [link] snapshot = "FILE".')
    return base


def _written(kept: Kept, base: Snapshot | None, out: Path, endpoint: str) -> Snapshot:
    before: Mapping[str, Any] = base.meta["source"] if base else {}
    onto = before.get("onto") if base and base.filled else before or None
    source = {"kind": FILLED, "endpoint": endpoint, "content": kept.digest(), **({"onto": onto} if onto else {})}
    if base and before == source and base.languages == kept.languages:
        return base  # a process that was killed before it could remove the answers had written it
    provenance = {"source": source, "complete": False, "filled": datetime.now(UTC).isoformat(timespec="seconds")}
    return kept.write(out, provenance)


def _past(language: str, term: str, hits: Sequence[SearchHit]) -> bool:
    """Does the last hit have another name? Then all hits of this name were found."""
    last, wanted = normalise([hits[-1].text, term], fold_of(language))
    return last != wanted
