"""Builds a snapshot from what the live service has answered before: the cache on disk, no request.

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
from polyculture.link.index.parts import Tables
from polyculture.link.index.snapshot import Snapshot, write_snapshot

_BATCH = 40_000  # names in memory


@dataclass(slots=True)
class CacheIntake:
    """What became of the answers in the cache."""

    items: int = 0
    redirects: int = 0
    left_out: int = 0  # answers in fewer languages, or with fewer statements, than are wanted now
    modified: str = ""  # the latest change of an item
    digest: Any = field(default_factory=hashlib.sha256)  # of all that was taken


@dataclass(frozen=True, slots=True)
class CacheReport:
    """The snapshot that was built, and what became of the answers."""

    snapshot: Snapshot
    intake: CacheIntake


def build_from_cache(cache: Path, service: str, out: Path, languages: Iterable[str]) -> CacheReport:
    """Builds the snapshot `out` of all items that `service` (its address) has answered with, in `languages`.

    It holds what was ever looked up and no more: the names that a run over the service has found, not every name of
    a kind. The cache is only read: a file that is none, or a damaged one, is left as it is. Raises `SnapshotError`
    where there is no cache, or nothing in it; `StoreError` where the file is none, or `out` cannot be written.
    """
    wanted, intake = frozenset(languages), CacheIntake()
    if not cache.is_file():
        remedy = 'Name the cache of a run that linked with source = "api", or link one first.'
        raise SnapshotError("there is no cache here", where=cache, remedy=remedy)
    with AnswerCache(cache, service, read_only=True) as answers:
        batches = _batches(answers, wanted, intake, service)
        snapshot = write_snapshot(out, wanted, batches, lambda: _provenance(cache, service, intake))
    return CacheReport(snapshot, intake)


def _batches(answers: AnswerCache, languages: frozenset[str], intake: CacheIntake, service: str) -> Iterator[Tables]:
    rows, seen = Rows(languages), set[int]()
    for asked, known, entity in answers.answers():
        if languages <= known and is_complete(entity):
            _take(asked, entity, rows, seen, intake)
        else:
            intake.left_out += 1
        if rows.names >= _BATCH:
            yield rows.tables()
            rows = Rows(languages)
    yield rows.tables()
    if not seen:
        what = f"holds no answer of {service} in all languages of the catalogue ({intake.left_out} in other ones)"
        raise SnapshotError(what, where=answers.path, remedy='Name its service, or link with source = "api" first.')


def _take(asked: str, entity: Mapping[str, Any], rows: Rows, seen: set[int], intake: CacheIntake) -> None:
    item = number(entity["id"])
    if asked != entity["id"]:
        rows.add_redirect(number(asked), item)
        intake.redirects += 1
    if item not in seen:
        seen.add(item)
        rows.add({key: value for key, value in entity.items() if key != "redirects"})
        intake.items += 1
    intake.modified = max(intake.modified, entity.get("modified") or "")
    intake.digest.update(orjson.dumps((asked, entity), option=orjson.OPT_SORT_KEYS))


def _provenance(cache: Path, service: str, intake: CacheIntake) -> dict[str, Any]:
    return {
        "source": {"kind": "cache", "service": service, "sha256": intake.digest.hexdigest()},
        "complete": False,
        "file": cache.name,
        "modified": intake.modified or None,
        "left_out": intake.left_out,
    }
