"""Builds a snapshot from a Wikidata JSON dump, in one streaming pass that can be resumed.

report = build_index(Path("latest-all.json.gz"), Path("wikidata-2026-09.duckdb"), catalog.label_languages)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from polyculture.cache.database import cores
from polyculture.cache.errors import SnapshotError
from polyculture.link.dumps.checkpoint import Checkpoint, CheckpointFolder
from polyculture.link.dumps.dump import FORM, ChangedDumpError, DumpReader
from polyculture.link.dumps.ingest import IngestCounts
from polyculture.link.dumps.worker_pool import ingested
from polyculture.link.index.parts import PartWriter, part_files
from polyculture.link.index.snapshot import Snapshot, assemble, open_snapshot
from polyculture.link.index.under_way import building_folder, locked_folder

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
    """How the work is done, without influence on the result. `tell` receives messages for the user."""

    workers: int | None = None  # reader processes; None: one per processor, none for small dumps
    progress: BuildProgress = lambda _read, _size: None
    tell: Callable[[str], None] = lambda _line: None
    seal_every: float = SEAL_EVERY

    def workers_for(self, size: int) -> int:
        """The number of reader processes for a dump of `size` bytes; 0: this process reads it."""
        if self.workers is not None:
            return self.workers
        if size <= ALONE:
            return 0
        return min(cores(), MOST_WORKERS)


DEFAULT = BuildSettings()


def build_index(dump: Path, out: Path, languages: Iterable[str], settings: BuildSettings = DEFAULT) -> BuildReport:
    """Builds the snapshot `out` from `dump`: entity JSON, plain or packed, an array or an item a line.

    Names and descriptions in `languages` are kept. Malformed lines are counted, with line number and reason, in the
    report and in the snapshot's meta. A killed build resumes from its last checkpoint, unless the dump has changed.
    Raises `SnapshotError` where the dump is missing, truncated, no dump or without items, and writes no index then;
    `StoreError` where `out` cannot be written; `JobHeldError` where another process builds it.
    """
    wanted, path = frozenset(languages), building_folder(out)
    with locked_folder(path):
        folder = CheckpointFolder(path, wanted)
        if folder.state.built and not out.is_file():
            folder.clear()  # somebody removed the snapshot, and the parts may be gone, too
        try:
            _resume(dump, folder, settings)
        except SnapshotError:
            folder.remove()
            raise
        if folder.state.built:
            snapshot = open_snapshot(out)
        else:
            snapshot = assemble(
                out, folder.path, partial(part_files, folder.parts), wanted, _provenance(dump, folder.state)
            )
        folder.finish()
    return BuildReport(snapshot, folder.state.counts)


def _resume(dump: Path, folder: CheckpointFolder, settings: BuildSettings) -> None:
    """Reads the part of the dump that the folder lacks; all of it, where the folder is of another dump."""
    try:
        _read(dump, folder, settings)
    except ChangedDumpError:
        settings.tell(f"{dump}: has changed since the build began; reading it from the start")
        folder.clear()
        _read(dump, folder, settings)


def _read(dump: Path, folder: CheckpointFolder, settings: BuildSettings) -> None:
    state = folder.state
    with DumpReader(dump, state.position if state.parts else None) as reader:
        if state.whole and reader.size == state.position.read:
            settings.tell(f"{dump}: was read already; sorting its items")
            return
        if state.whole:
            raise ChangedDumpError
        if state.parts:
            settings.tell(f"{dump}: resuming at line {state.position.line}, with {state.counts.items} items")
        _ingest(reader, folder, settings)
    counts = folder.state.counts
    if not counts.items:
        raise SnapshotError(f"holds no item ({counts.broken} broken lines)", where=dump, remedy=FORM)


def _ingest(reader: DumpReader, folder: CheckpointFolder, settings: BuildSettings) -> None:
    state, parts = folder.state, PartWriter(folder.parts, folder.state.parts)
    position, counts = state.position, deepcopy(state.counts)
    sealed, patience = time.monotonic(), min(FIRST_SEAL, settings.seal_every)
    workers = settings.workers_for(reader.size)
    with closing(ingested(reader.chunks(), state.languages, workers)) as done:
        for position, more, tables in done:
            counts.add(more)
            parts.add(tables)
            if time.monotonic() - sealed >= patience:
                folder.save(position, counts, parts.seal())
                sealed, patience = time.monotonic(), min(2 * patience, settings.seal_every)
            settings.progress(reader.read, reader.size)
        folder.save(replace(position, read=reader.size, sha256=reader.sha256), counts, parts.seal(), whole=True)


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
