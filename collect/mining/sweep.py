"""Sweeps a corpus: scans every block once, in several processes, and writes the hits to disk.

The folder of the sweep holds a Parquet file per block with hits, and a journal of each process with a line per block. A
stopped sweep resumes with the same patterns, also with further files or other processes. The result does not depend on
their number. Memory is bounded by a block per process; each hit takes a few hundred bytes of disk.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import orjson
import pyarrow as pa
from filelock import FileLock, Timeout

from polyculture.cache.errors import JobHeldError
from polyculture.cache.extras import MINING
from polyculture.cache.files import replacing, store_faults
from polyculture.cache.identity import content_id
from polyculture.cache.parquet import write_parquet
from polyculture.collect.mining.corpus import Block, BrokenStreamError, CorpusFile, blocks
from polyculture.collect.mining.patterns import Edges, PatternSet
from polyculture.collect.mining.scan import NAMED_LINES, Scanner
from polyculture.collect.mining.shares import Progress, in_shares

VERSION = 1  # raise when the hits or their files change
PARTS = "parts"  # the folder of the hits
_JOURNAL, _IDENTITY, _LOCK = "journal-{}.jsonl", "identity", "lock"


@dataclass(frozen=True, slots=True)
class Swept:
    """The result of a block. `block` is None where a file could not be read any further, or is wholly unpacked."""

    file: str  # the key of the corpus file
    block: int | None
    read: int = 0  # bytes on disk
    text: int = 0  # bytes of decompressed text
    lines: int = 0
    documents: int = 0
    hits: int = 0
    broken: int = 0
    broken_lines: tuple[tuple[int, str], ...] = ()  # within the block, from 1
    failure: str | None = None


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
    stop_words_at: Edges,
    folder: Path,
    processes: int = 1,
    progress: Progress = lambda _read: None,
) -> SweepReport:
    """Scans the rest of the corpus. Returns the totals of the whole corpus.

    A file that has changed, or could not be read to its end, is scanned again. Raises `StoreError` where the folder
    cannot be written, `JobHeldError` where another process sweeps into it, `IncompleteError` where a worker process was
    killed, `MissingDependencyError` where the extra `mining` is not installed.
    """
    MINING.check("Mining")
    with store_faults(folder):
        (folder / PARTS).mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / _LOCK, timeout=0), store_faults(folder):
            done = _resume(folder, _identity(chosen, stop_words_at))
            known = {file.key for file in files}
            before = sum(entry.read for entry in done if entry.file in known)
            work = _Share(files, chosen, stop_words_at, folder, {(entry.file, entry.block) for entry in done})
            list(in_shares(work, processes, lambda read: progress(before + read)))
            return _report_of(files, _journal(folder), folder)
    except Timeout as fault:
        raise JobHeldError(f"{folder}: another process mines into it. Wait for it, or name another output.") from fault


@dataclass(frozen=True)
class _Share:
    """What one process does."""

    files: Sequence[CorpusFile]
    chosen: PatternSet
    stop_words_at: Edges
    folder: Path
    done: set[tuple[str, int | None]]

    def __call__(self, number: int, shares: int, report: Progress) -> None:
        """Scans the blocks of a share that are not done, and appends them to its journal."""
        scanner, read = Scanner(self.chosen, self.stop_words_at), 0
        with (self.folder / _JOURNAL.format(number)).open("ab") as log:
            for place, file in enumerate(self.files):
                for entry in self._swept(scanner, file, (number - place) % shares, shares):
                    log.write(orjson.dumps(asdict(entry)) + b"\n")
                    log.flush()
                    read += entry.read
                    report(read)

    def _swept(self, scanner: Scanner, file: CorpusFile, share: int, shares: int) -> Iterator[Swept]:
        if (file.key, None) in self.done:
            return
        done = {block for key, block in self.done if key == file.key and block is not None}
        failure = None
        try:
            for block in blocks(file, share, shares, done):
                yield self._scanned(scanner, file, block)
        except (OSError, BrokenStreamError, pa.ArrowException) as fault:
            failure = str(fault) if isinstance(fault, BrokenStreamError) else f"cannot be read: {fault}"
        if failure or (file.codec is not None and share == 0):
            yield Swept(file.key, None, failure=failure)

    def _scanned(self, scanner: Scanner, file: CorpusFile, block: Block) -> Swept:
        found = scanner.scan(file, block)
        if len(found.hits):
            write_part(self.folder, file.key, block.number, found.hits)
        return Swept(
            file.key, block.number, block.read, found.text, found.lines, found.documents, len(found.hits), found.broken,
            tuple(found.broken_lines),
        )  # fmt: skip


def part_of(folder: Path, file: str, block: int) -> Path:
    """The file with the hits of a block."""
    return folder / PARTS / f"{file}-{block:08}.parquet"


def write_part(folder: Path, file: str, block: int, hits: pa.Table) -> Path:
    """Writes the hits of a block, with its file and number. Raises `StoreError` where it cannot be written."""
    files, numbers = pa.array([file] * len(hits), pa.string()), pa.array([block] * len(hits), pa.uint32())
    table = pa.Table.from_arrays([*hits.columns, files, numbers], names=[*hits.column_names, "file", "block"])
    write_parquet(table, part_of(folder, file, block))
    return part_of(folder, file, block)


def _identity(chosen: PatternSet, stop_words_at: Edges) -> str:
    """A hash of all that decides the hits in a text."""
    patterns = [asdict(pattern) for pattern in chosen.patterns]
    words = sorted(chosen.stop_words)
    return content_id(VERSION, chosen.language, patterns, chosen.unit, chosen.longest, words, stop_words_at)


def _resume(folder: Path, identity: str) -> list[Swept]:
    """What is done, without files that failed; nothing, with the parts removed, where it is of another sweep."""
    file = folder / _IDENTITY
    known = file.exists() and file.read_text(encoding="utf-8") == identity
    entries = _journal(folder) if known else []
    failed = {entry.file for entry in entries if entry.failure}
    kept = [entry for entry in entries if entry.file not in failed]
    if not known:
        shutil.rmtree(folder / PARTS)
        (folder / PARTS).mkdir()
    journals = sorted(folder.glob(_JOURNAL.format("*")))
    with replacing(folder / _JOURNAL.format(0)) as temporary:
        temporary.write_bytes(b"".join(orjson.dumps(asdict(entry)) + b"\n" for entry in kept))
    for journal in journals:
        if journal.name != _JOURNAL.format(0):
            journal.unlink()
    file.write_text(identity, encoding="utf-8")
    return kept


def _journal(folder: Path) -> list[Swept]:
    """What all processes have done; an incomplete line of a killed one has no newline."""
    journals = sorted(folder.glob(_JOURNAL.format("*")))
    lines = [line for journal in journals for line in journal.read_bytes().splitlines(keepends=True)]
    rows = [orjson.loads(line) for line in lines if line.endswith(b"\n")]
    # A process that outlived a killed command may have done a block once more.
    found = {(row["file"], row["block"], row["failure"]): row for row in rows}
    return [Swept(**{**row, "broken_lines": tuple(map(tuple, row["broken_lines"]))}) for row in found.values()]


def _report_of(files: Sequence[CorpusFile], journal: Sequence[Swept], folder: Path) -> SweepReport:
    """The sum of the journal over these files, with broken lines numbered within them."""
    swept = SweepReport(files=len(files))
    entries: dict[str, list[Swept]] = {file.key: [] for file in files}
    for entry in journal:
        entries.get(entry.file, []).append(entry)
    for file in files:
        before = 0
        for entry in sorted(entries[file.key], key=lambda entry: (entry.block is None, entry.block or 0)):
            _add(swept, entry, str(file.path), before)
            before += entry.lines
            if entry.hits and entry.block is not None:
                swept.parts.append(part_of(folder, entry.file, entry.block))
    return swept


def _add(swept: SweepReport, entry: Swept, path: str, before: int) -> None:
    for name in ("text", "lines", "documents", "hits", "broken"):
        setattr(swept, name, getattr(swept, name) + getattr(entry, name))
    room = NAMED_LINES - len(swept.broken_lines)
    swept.broken_lines += [(path, before + line, reason) for line, reason in entry.broken_lines[:room]]
    if entry.failure:
        swept.failures.setdefault(path, entry.failure)
