"""Sweeps a corpus: scans every block once, in several processes, and writes the hits to disk.

The folder of the sweep holds a Parquet file per block: its hits, and in the footer how much it holds. A block that has
its file is done, so a stopped sweep resumes with the same patterns, also with further files or other processes.
The result does not depend on their number. Memory is bounded by a block per process; a hit takes some hundred bytes
of disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from polyculture.cache.errors import JobHeldError
from polyculture.cache.files import store_faults
from polyculture.cache.identity import content_id
from polyculture.cache.locks import Lock
from polyculture.cache.store.parquet import write_parquet
from polyculture.collect.mining.corpus import BrokenFileError, CorpusFile, blocks
from polyculture.collect.mining.patterns import PatternSet
from polyculture.collect.mining.scan import NAMED_LINES, ScannedBlock, Scanner
from polyculture.collect.mining.shares import BytesRead, in_shares

VERSION = 2  # raise when the hits or their files change
_LOCK, _SCANNED = ".mining.lock", "scanned"  # a scratch folder has a `.lock` of its own


@dataclass(slots=True)
class SweepReport:
    """The totals of a sweep, and the files with the hits."""

    files: int = 0
    text: int = 0
    lines: int = 0
    documents: int = 0
    hits: int = 0
    broken: int = 0
    broken_lines: list[tuple[str, int, str]] = field(default_factory=list)  # file, line, reason: the first of them
    failures: dict[str, str] = field(default_factory=dict)  # files that could not be read to their end
    parts: list[Path] = field(default_factory=list)


def sweep(
    files: Sequence[CorpusFile],
    chosen: PatternSet,
    folder: Path,
    processes: int = 1,
    progress: BytesRead = lambda _read: None,
) -> SweepReport:
    """Scans the rest of the corpus. Returns the totals of the whole corpus.

    A file that has changed is scanned again. Raises `StoreError` where the folder cannot be written, `JobHeldError`
    where another process sweeps into it, `IncompleteError` where a worker process was killed.
    """
    parts = folder / _identity(chosen)
    with store_faults(folder):
        parts.mkdir(parents=True, exist_ok=True)
    try:
        with store_faults(folder), Lock(folder / _LOCK):
            before = sum(found.read for file in files for found in map(_scanned, _done(parts, file).values()))
            work = _SweepShare(files, chosen, parts)
            failures: dict[str, str] = {}
            for failed in in_shares(work, processes, lambda read: progress(before + read)):
                failures |= failed
            return _report_of(files, parts, failures)
    except JobHeldError as fault:
        raise JobHeldError(f"{folder}: another process mines into it. Wait for it, or name another output.") from fault


@dataclass(frozen=True)
class _SweepShare:
    """What one process does."""

    files: Sequence[CorpusFile]
    chosen: PatternSet
    parts: Path

    def __call__(self, number: int, shares: int, report: BytesRead) -> dict[str, str]:
        """Scans the blocks of a share that are not done; returns the files that could not be read, and why."""
        scanner, read, failures = Scanner(self.chosen), 0, dict[str, str]()
        for place, file in enumerate(self.files):
            share, whole = (number - place) % shares, self.parts / f"{file.key}.whole"
            if whole.exists():
                continue
            try:
                for block in blocks(file, share, shares, _done(self.parts, file)):
                    scanned, hits = scanner.scan(file, block)
                    footer = {_SCANNED: orjson.dumps(asdict(scanned)).decode()}
                    write_parquet(hits, self.parts / f"{file.key}-{block.number:08}.parquet", footer)
                    read += block.read
                    report(read)
                if file.codec is not None and share == 0:  # it need not be unpacked again
                    whole.touch()
            except (OSError, BrokenFileError, pa.ArrowException) as fault:
                failures[str(file.path)] = (
                    str(fault) if isinstance(fault, BrokenFileError) else f"cannot be read: {fault}"
                )
        return failures


def _identity(chosen: PatternSet) -> str:
    """A hash of all that decides the hits in a text."""
    patterns = [asdict(pattern) for pattern in chosen.patterns]
    words = sorted(chosen.stop_words)
    return content_id(VERSION, chosen.language, patterns, chosen.unit, chosen.longest, words)


def _done(parts: Path, file: CorpusFile) -> dict[int, Path]:
    """The blocks of a file that are done, in their order, and where their hits are."""
    return {int(path.stem.rpartition("-")[2]): path for path in sorted(parts.glob(f"{file.key}-*.parquet"))}


def _scanned(part: Path) -> ScannedBlock:
    return ScannedBlock(**orjson.loads(pq.read_schema(part).metadata[_SCANNED.encode()]))


def _report_of(files: Sequence[CorpusFile], parts: Path, failures: dict[str, str]) -> SweepReport:
    """The sum over these files, with broken lines numbered within them."""
    swept = SweepReport(files=len(files), failures=failures)
    for file in files:
        before = 0
        for part in _done(parts, file).values():
            found = _scanned(part)
            for name in ("text", "lines", "documents", "hits", "broken"):
                setattr(swept, name, getattr(swept, name) + getattr(found, name))
            room = NAMED_LINES - len(swept.broken_lines)
            swept.broken_lines += [
                (str(file.path), before + line, reason) for line, reason in found.broken_lines[:room]
            ]
            before += found.lines
            if found.hits:
                swept.parts.append(part)
    return swept
