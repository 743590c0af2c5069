"""Builds a snapshot from the cached answers of the live service, without any request.

report = build_from_cache(Path("wikidata-cache.sqlite"), WIKIDATA, Path("wikidata.duckdb"), catalog.label_languages)
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from polyculture.cache.errors import SnapshotError
from polyculture.link.api.answers import is_complete
from polyculture.link.api.cache import AnswerCache
from polyculture.link.entity_json import Rows, number
from polyculture.link.index.parts import ArrowTables
from polyculture.link.index.snapshot import Snapshot, write_snapshot

_BATCH = 40_000  # names in memory


@dataclass(slots=True)
class CacheCounts:
    """How many answers of the cache were used."""

    items: int = 0
    redirects: int = 0
    left_out: int = 0  # answers in fewer languages, or with fewer statements, than are needed now
    modified: str = ""  # the latest change of an item
    digest: Any = field(default_factory=hashlib.sha256)  # of all answers used


@dataclass(frozen=True, slots=True)
class CacheReport:
    """The snapshot, and the counts of answers."""

    snapshot: Snapshot
    counts: CacheCounts


def build_from_cache(cache: Path, service: str, out: Path, languages: Iterable[str]) -> CacheReport:
    """Builds the snapshot `out` from all items that `service` (its address) has returned, in `languages`.

    It holds only what was looked up before, not every name of a kind. The cache is opened read-only: a damaged file is
    left unchanged. Raises `SnapshotError` where there is no cache, or nothing in it; `StoreError` where the file is no
    cache, or `out` cannot be written.
    """
    wanted, counts = frozenset(languages), CacheCounts()
    if not cache.is_file():
        remedy = 'Name the cache of a run that linked with source = "api", or link one first.'
        raise SnapshotError("there is no cache here", where=cache, remedy=remedy)
    with AnswerCache(cache, service, read_only=True) as answers:
        batches = _batches(answers, wanted, counts, service)
        snapshot = write_snapshot(out, wanted, batches, lambda: _provenance(cache, service, counts))
    return CacheReport(snapshot, counts)


def _batches(
    answers: AnswerCache, languages: frozenset[str], counts: CacheCounts, service: str
) -> Iterator[ArrowTables]:
    rows, seen = Rows(languages), set[int]()
    for asked, known, entity in answers.answers():
        if languages <= known and is_complete(entity):
            _take(asked, entity, rows, seen, counts)
        else:
            counts.left_out += 1
        if rows.names >= _BATCH:
            yield rows.tables()
            rows = Rows(languages)
    yield rows.tables()
    if not seen:
        what = f"holds no answer of {service} in all languages of the catalogue ({counts.left_out} in other ones)"
        raise SnapshotError(what, where=answers.path, remedy='Name its service, or link with source = "api" first.')


def _take(asked: str, entity: Mapping[str, Any], rows: Rows, seen: set[int], counts: CacheCounts) -> None:
    item = number(entity["id"])
    if asked != entity["id"]:
        rows.add_redirect(number(asked), item)
        counts.redirects += 1
    if item not in seen:
        seen.add(item)
        rows.add({key: value for key, value in entity.items() if key != "redirects"})
        counts.items += 1
    counts.modified = max(counts.modified, entity.get("modified") or "")
    counts.digest.update(orjson.dumps((asked, entity), option=orjson.OPT_SORT_KEYS))


def _provenance(cache: Path, service: str, counts: CacheCounts) -> dict[str, Any]:
    return {
        "source": {"kind": "cache", "service": service, "sha256": counts.digest.hexdigest()},
        "complete": False,
        "file": cache.name,
        "modified": counts.modified or None,
        "left_out": counts.left_out,
    }
