"""Fills a snapshot from the live service with the items that the names of a run's mentions may mean.

report = fill_snapshot(catalog, names, Path("wikidata.duckdb"), ApiSettings("you@example.org"))

Each name is searched once. What is found is fetched with all classes above it; of what is a topic's also whoever made
it, and the places it is from. What the snapshot holds is never asked for again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import SnapshotError
from polyculture.cache.files import remove_folder
from polyculture.cache.outcome import Outcome, Progress, silent
from polyculture.link.api.answers import SearchHit
from polyculture.link.api.client import IDS_A_CALL, ApiClient, ApiSettings
from polyculture.link.api.kept import Kept, read_searches
from polyculture.link.api.names import Named, Searches, Term
from polyculture.link.index.parts import part_files
from polyculture.link.index.snapshot import FILLED, Snapshot, assemble, open_snapshot
from polyculture.link.index.under_way import answers_beside, answers_folder
from polyculture.link.normalise import fold_of, normalise

_FILE = "answers.duckdb"


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
    with answers_beside(out, _FILE) as folder:
        answers = Kept(folder / _FILE, base, settings.endpoint, languages, catalog)
        with answers as kept, ApiClient(settings) as client:
            fill = _Fill(client, kept, languages, progress)
            fill.search(wanted)
            fill.fetch()
            snapshot = _written(kept, base, languages, out, folder, settings.endpoint)
        remove_folder(folder)
    return FillReport(snapshot, client.requests, fill.names, fill.items)


class _Fill:
    """Asks, and keeps what is answered; counts it."""

    def __init__(self, client: ApiClient, kept: Kept, languages: frozenset[str], progress: Progress) -> None:
        self._client, self._kept, self._languages, self._progress = client, kept, languages, progress
        self.names = self.items = 0

    def search(self, wanted: Sequence[Searches]) -> None:
        """Searches the names."""
        while terms := sorted({term for name in wanted for term in name.next(self._kept.searched)}):
            pages = [(term, self._kept.unfinished.get(term, 0)) for term in terms]
            for term, start in pages:
                hits, following = self._request_page(term, start)
                self._kept.keep_search(term, [hit.qid for hit in hits], following)
                self._advance(names=following is None)

    def fetch(self) -> None:
        """Fetches the items found, and what these need, level by level."""
        while qids := self._kept.wanted():
            for start in range(0, len(qids), IDS_A_CALL):
                batch = qids[start : start + IDS_A_CALL]
                self._kept.keep_entities(self._client.entities(batch, self._languages))
                self._advance(items=len(batch))

    def _request_page(self, term: Term, start: int) -> tuple[list[SearchHit], int | None]:
        language, text = term
        hits, following = self._client.search(language, text, start)
        return hits, None if following is None or _past(language, text, hits) else following

    def _advance(self, names: int = 0, items: int = 0) -> None:
        self.names, self.items = self.names + names, self.items + items
        self._progress(Outcome(self.names + self.items, 0))


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


def _written(
    kept: Kept, base: Snapshot | None, languages: frozenset[str], out: Path, folder: Path, endpoint: str
) -> Snapshot:
    before: Mapping[str, Any] = base.meta["source"] if base else {}
    onto = before.get("onto") if base and base.filled else before or None
    source = {"kind": FILLED, "endpoint": endpoint, "content": kept.digest(), **({"onto": onto} if onto else {})}
    if base and before == source and base.languages == languages:
        return base  # a process that was killed before it could remove the answers had written it
    provenance = {"source": source, "complete": False, "filled": datetime.now(UTC).isoformat(timespec="seconds")}
    with tempfile.TemporaryDirectory(dir=folder, prefix="rows-") as rows:
        kept.write_parts(Path(rows))
        return assemble(out, folder, partial(part_files, Path(rows), parts=1), languages, provenance)


def _past(language: str, term: str, hits: Sequence[SearchHit]) -> bool:
    """Does the last hit have another name? Then all hits of this name were found."""
    last, wanted = normalise([hits[-1].text, term], fold_of(language))
    return last != wanted
