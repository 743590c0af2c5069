"""Builds a snapshot from a Wikidata JSON dump, in one streaming pass that can be taken up again.

report = build_index(Path("latest-all.json.gz"), Path("wikidata-2026-09.duckdb"), catalog.label_languages)
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from polyculture.cache.errors import SnapshotError
from polyculture.link.dumps.checkpoint import BuildingFolder, State
from polyculture.link.dumps.dump import FORM, ChangedDumpError, DumpReader
from polyculture.link.dumps.ingest import Intake
from polyculture.link.dumps.worker_pool import Crew, Reader, Taker
from polyculture.link.index.snapshot import Snapshot, assemble

ALONE = 8 << 20  # bytes of a dump up to which other processes are not worth their start
MOST_WORKERS = 6  # beyond, unpacking is what takes the time, and memory would pass 2 GiB
SEAL_EVERY = 60.0  # seconds of work that a kill may cost
FIRST_SEAL = 10.0  # the same in the beginning; it doubles each time

# Called with the bytes of the dump read so far and its size on disk, every few megabytes.
BuildProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class BuildReport:
    """The snapshot that was built, and what became of the dump's lines."""

    snapshot: Snapshot
    intake: Intake


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """How the work is done; what comes out does not depend on it. `tell` is given what the user should know."""

    workers: int | None = None  # processes that read; None: as many as there are processors, for all but small dumps
    progress: BuildProgress = lambda _read, _size: None
    tell: Callable[[str], None] = lambda _line: None
    seal_every: float = SEAL_EVERY

    def workers_for(self, size: int) -> int:
        """How many processes read a dump of so many bytes, beside this one; 0: this one does it."""
        if self.workers is not None:
            return self.workers
        if size <= ALONE:
            return 0
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return min(cores, MOST_WORKERS)


DEFAULT = BuildSettings()


def build_index(dump: Path, out: Path, languages: Iterable[str], settings: BuildSettings = DEFAULT) -> BuildReport:
    """Builds the snapshot `out` from `dump`: entity JSON, plain or packed, an array or an item a line.

    Names and descriptions in `languages` are kept. A line that cannot be read is counted, with its number and the
    reason, in the report and in the snapshot's meta. A build that was killed is taken up where it left off, unless
    the dump has changed. Raises `SnapshotError` where the dump is missing, cut, no dump or without any item, and
    leaves no index then; `StoreError` where `out` cannot be written; `JobHeldError` where it is being built already.
    """
    wanted = frozenset(languages)
    with BuildingFolder(out, wanted) as folder:
        try:
            _resume(dump, folder, settings)
        except SnapshotError:
            folder.remove()
            raise
        snapshot = assemble(out, folder.path, folder.files, wanted, _provenance(dump, folder.state))
        folder.remove()
    return BuildReport(snapshot, folder.state.intake)


def _resume(dump: Path, folder: BuildingFolder, settings: BuildSettings) -> None:
    """Reads what the folder does not have yet; all of it, where it is of another dump."""
    try:
        _read(dump, folder, settings)
    except ChangedDumpError:
        settings.tell(f"{dump}: is not what it was when the build began; it is read anew")
        folder.clear()
        _read(dump, folder, settings)


def _read(dump: Path, folder: BuildingFolder, settings: BuildSettings) -> None:
    state = folder.state
    with DumpReader(dump, state.place if state.runs else None) as reader:
        if state.whole and reader.size == state.place.read:
            settings.tell(f"{dump}: is read already, and its items are sorted now")
            return
        if state.whole:
            raise ChangedDumpError
        if state.runs:
            settings.tell(f"{dump}: goes on from line {state.place.line}, with {state.intake.items} items")
        with _taker(folder, settings.workers_for(reader.size)) as taker:
            _take(reader, taker, folder, settings)
    intake = folder.state.intake
    if not intake.items:
        raise SnapshotError(f"holds no item ({intake.broken} broken lines)", where=dump, remedy=FORM)


def _taker(folder: BuildingFolder, workers: int) -> AbstractContextManager[Taker]:
    if workers:
        return Crew(folder.run, folder.state.languages, workers)
    return nullcontext(Reader(folder.run, folder.state.languages))


def _take(reader: DumpReader, taker: Taker, folder: BuildingFolder, settings: BuildSettings) -> None:
    place, intake, parts = folder.state.place, deepcopy(folder.state.intake), 0
    sealed, patience = time.monotonic(), min(FIRST_SEAL, settings.seal_every)
    for chunk in reader.chunks():
        intake.add(taker.take(chunk))
        place = chunk.end
        if time.monotonic() - sealed >= patience:
            intake.add(taker.seal())
            parts += 1
            folder.save(place, intake, parts)
            sealed, patience = time.monotonic(), min(2 * patience, settings.seal_every)
        settings.progress(reader.read, reader.size)
    intake.add(taker.seal())
    folder.save(replace(place, read=reader.size, sha256=reader.sha256), intake, parts + 1, whole=True)


def _provenance(dump: Path, state: State) -> dict[str, Any]:
    intake = state.intake
    return {
        "source": {"kind": "dump", "sha256": state.place.sha256},
        "file": dump.name,
        "bytes": state.place.read,
        "json_bytes": intake.json_bytes,
        "modified": intake.modified or None,
        "skipped": intake.skipped,
        "broken": intake.broken,
        "broken_lines": intake.broken_lines,
    }
