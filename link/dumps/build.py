"""Builds a snapshot from a Wikidata JSON dump, in one streaming pass that can be resumed.

report = build_index(Path("latest-all.json.gz"), Path("wikidata-2026-09.duckdb"), catalog.label_languages)
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Collection
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from polyculture.cache.database import cores
from polyculture.cache.errors import SnapshotError
from polyculture.cache.log import get_logger
from polyculture.link.dumps.dump import FORM, ChangedDumpError, DumpPosition, DumpReader
from polyculture.link.dumps.ingest import IngestCounts, ingested
from polyculture.link.index.assemble import assemble
from polyculture.link.index.draft import Draft, building_folder, kept_draft
from polyculture.link.index.snapshot import Snapshot, rows_version

_log = get_logger(__name__)

ALONE = 8 << 20  # bytes; for smaller dumps other processes are not worth their start
MOST_WORKERS = 6  # beyond, decompression is the bottleneck, and memory would pass 2 GiB
SEAL_EVERY = 60.0  # seconds between checkpoints: the work that a kill may cost
FIRST_SEAL = 10.0  # seconds to the first checkpoint; the interval doubles each time

# Called with the bytes of the dump read so far and its size on disk, every few megabytes.
BuildProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class BuildReport:
    """The snapshot, and the counts of the dump's lines."""

    snapshot: Snapshot
    counts: IngestCounts


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """How the work is done, without influence on the result."""

    workers: int | None = None  # reader processes; None: one per processor, none for small dumps
    progress: BuildProgress = lambda _read, _size: None
    seal_every: float = SEAL_EVERY

    def workers_for(self, size: int) -> int:
        """The number of reader processes for a dump of `size` bytes; 0: this process reads it."""
        if self.workers is not None:
            return self.workers
        if size <= ALONE:
            return 0
        return min(cores(), MOST_WORKERS)


DEFAULT = BuildSettings()


class Checkpoint(msgspec.Struct, frozen=True):
    """How far the rows of a draft were read from a dump, and with what counts."""

    languages: list[str]
    position: DumpPosition = msgspec.field(default_factory=DumpPosition)
    counts: IngestCounts = msgspec.field(default_factory=IngestCounts)
    whole: bool = False  # is the dump read to its end?
    version: str = ""  # of the rows


def build_index(dump: Path, out: Path, languages: Collection[str], settings: BuildSettings = DEFAULT) -> BuildReport:
    """Builds the snapshot `out` from `dump`: entity JSON, plain or packed, an array or an item a line.

    Names and descriptions in `languages` are kept. Malformed lines are counted, with line number and reason, in the
    report and in the snapshot's meta. A killed build resumes from its last checkpoint, unless the dump has changed
    before it; so does one of a truncated dump that was completed.
    Raises `SnapshotError` where the dump is missing, truncated, no dump or without items, and writes no index then;
    `StoreError` where `out` cannot be written; `JobHeldError` where another process builds it.
    """
    fresh = Checkpoint(sorted(set(languages)), version=rows_version(languages))
    folder = building_folder(out)

    def begun(state: Any) -> bool:  # a truncated dump may be completed, and the build goes on
        return bool(msgspec.convert(state, Checkpoint).counts.items)

    with kept_draft(folder, begun) as draft:
        done = _resume(dump, draft, fresh, settings)
        snapshot = assemble(out, folder, draft, fresh.languages, _provenance(dump, done))
    return BuildReport(snapshot, done.counts)


def _resume(dump: Path, draft: Draft, fresh: Checkpoint, settings: BuildSettings) -> Checkpoint:
    """Reads the part of the dump that the draft lacks; all of it, where the draft is of another dump or languages."""
    state = msgspec.convert(draft.state, Checkpoint) if draft.state else fresh
    if (state.version, state.languages) == (fresh.version, fresh.languages):
        try:
            return _read(dump, draft, state, settings)
        except ChangedDumpError:
            _log.info(f"{dump}: has changed since the build began; reading it from the start")
    with draft.transaction():
        draft.clear()
    return _read(dump, draft, fresh, settings)


def _read(dump: Path, draft: Draft, state: Checkpoint, settings: BuildSettings) -> Checkpoint:
    with DumpReader(dump, state.position if state.position.read else None) as reader:
        if state.whole and reader.size == state.position.read:
            _log.info(f"{dump}: was read already; sorting its items")
            return state
        if state.whole:
            raise ChangedDumpError
        if state.position.read:
            _log.info(f"{dump}: resuming at line {state.position.line}, with {state.counts.items} items")
        done = _ingest(reader, draft, state, settings)
    if not done.counts.items:
        raise SnapshotError(f"holds no item ({done.counts.broken} broken lines)", where=dump, remedy=FORM)
    return done


def _ingest(reader: DumpReader, draft: Draft, state: Checkpoint, settings: BuildSettings) -> Checkpoint:
    counts, patience = deepcopy(state.counts), min(FIRST_SEAL, settings.seal_every)
    with closing(ingested(reader.chunks(), state.languages, settings.workers_for(reader.size))) as chunks:
        more = True
        while more:  # a transaction for each checkpoint
            sealed = time.monotonic()
            with draft.transaction():
                more = False
                for position, of_chunk, tables in chunks:
                    counts.add(of_chunk)
                    draft.add(tables)
                    state = replace(state, position=position)
                    settings.progress(reader.read, reader.size)
                    if more := time.monotonic() - sealed >= patience:
                        break
                else:
                    position = dataclasses.replace(state.position, read=reader.size, sha256=reader.sha256)
                    state = replace(state, position=position, whole=True)
                state = replace(state, counts=counts)
                draft.state = msgspec.to_builtins(state)
            patience = min(2 * patience, settings.seal_every)
    return state


def _provenance(dump: Path, state: Checkpoint) -> dict[str, Any]:
    counts = state.counts
    return {
        "source": {"kind": "dump", "sha256": state.position.sha256},
        "file": dump.name,
        "bytes": state.position.read,
        "json_bytes": counts.json_bytes,
        "modified": counts.modified or None,
        "skipped": counts.skipped,
        "broken": counts.broken,
        "broken_lines": counts.broken_lines,
    }
