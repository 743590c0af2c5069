"""Sweeps a corpus: scans every block once, in several processes, and writes the hits to disk.

The folder of the sweep holds a Parquet file per block with hits, and a journal with a line per block. A stopped sweep
resumes with the same patterns, also with further files. The result does not depend on the number of processes. Memory
is bounded by the blocks in flight; each hit takes a few hundred bytes of disk.
"""

from __future__ import annotations

import multiprocessing
import shutil
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from multiprocessing.synchronize import Event
from pathlib import Path

import orjson
from filelock import FileLock, Timeout

from polyculture.cache.errors import IncompleteError, JobHeldError
from polyculture.cache.extras import MINING
from polyculture.cache.files import replacing, store_faults
from polyculture.cache.identity import content_id
from polyculture.collect.mining.corpus import CorpusFile, byte_blocks
from polyculture.collect.mining.jobs import PARTS, End, ScanJob, ScanWorker, Swept, WholeFile, blocks_of, part_of
from polyculture.collect.mining.patterns import Edges, PatternSet
from polyculture.collect.mining.scan import NAMED_LINES, Scanner

VERSION = 1  # raise when the hits or their files change
_IN_FLIGHT = 2  # blocks per process: one running, one waiting
_JOURNAL, _IDENTITY, _LOCK = "journal.jsonl", "identity", "lock"

# Called with the number of bytes on disk that are swept.
SweepProgress = Callable[[int], None]
AnyJob = ScanJob | WholeFile | End


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
    progress: SweepProgress = lambda _read: None,
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
            journal = _resume(folder, _identity(chosen, stop_words_at))
            _sweep(files, journal, (chosen, stop_words_at, folder), processes, progress)
    except Timeout as fault:
        raise JobHeldError(f"{folder}: another process mines into it. Wait for it, or name another output.") from fault
    return _report_of(files, journal, folder)


def _sweep(
    files: Sequence[CorpusFile],
    journal: list[Swept],
    setting: tuple[PatternSet, Edges, Path],
    processes: int,
    progress: SweepProgress,
) -> None:
    """Scans the blocks that are not in the journal, and appends them to it."""
    known = {file.key for file in files}
    done = {(entry.file, entry.block) for entry in journal}
    read = sum(entry.read for entry in journal if entry.file in known)
    with (setting[-1] / _JOURNAL).open("ab") as log:
        for entry in _work(_jobs(files, done, processes), setting, processes):
            log.write(orjson.dumps(asdict(entry)) + b"\n")
            log.flush()
            journal.append(entry)
            read += entry.read
            progress(read)


def _jobs(files: Sequence[CorpusFile], done: set[tuple[str, int | None]], processes: int) -> Iterator[AnyJob]:
    """The remaining jobs. Many compressed files are decompressed by the workers, few by this process."""
    many = sum(file.codec is not None for file in files) >= 2 * processes
    begun = {file for file, _ in done}
    for file in files:
        if file.codec is None:
            blocks = byte_blocks(file)
            share = -(-file.size // blocks)
            yield from (ScanJob(file, block, share) for block in range(blocks) if (file.key, block) not in done)
        elif (file.key, None) in done:
            continue
        elif many and file.key not in begun:
            yield WholeFile(file)
        else:
            parts = blocks_of(file)
            yield from (part for part in parts if isinstance(part, End) or (file.key, part.block) not in done)


def _work(jobs: Iterable[AnyJob], setting: tuple[PatternSet, Edges, Path], processes: int) -> Iterator[Swept]:
    """The results of the jobs, in their order."""
    if processes == 1:
        worker = _worker(*setting, lambda: False)
        for job in jobs:
            yield from worker.do(job)
        return
    # Spawned: a forked process would share the locks of Arrow's threads.
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    pool = ProcessPoolExecutor(processes, context, _begin, (*setting, stop))
    waiting: deque[Future[list[Swept]]] = deque()
    try:
        for job in jobs:
            waiting.append(pool.submit(_do, job))
            if len(waiting) >= _IN_FLIGHT * processes:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    except BrokenProcessPool as fault:
        what = "a process was killed, perhaps for want of memory"
        raise IncompleteError(f"{what}; run the same command again, with fewer --processes, to go on") from fault
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _worker(chosen: PatternSet, stop_words_at: Edges, folder: Path, stopped: Callable[[], bool]) -> ScanWorker:
    return ScanWorker(Scanner(chosen, stop_words_at), folder, stopped)


_OURS: list[ScanWorker] = []  # the worker of this pool process


def _begin(chosen: PatternSet, stop_words_at: Edges, folder: Path, stop: Event) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent process
    _OURS.append(_worker(chosen, stop_words_at, folder, stop.is_set))


def _do(job: AnyJob) -> list[Swept]:
    return _OURS[0].do(job)


def _identity(chosen: PatternSet, stop_words_at: Edges) -> str:
    """A hash of all that decides the hits in a text."""
    patterns = [asdict(pattern) for pattern in chosen.patterns]
    words = sorted(chosen.stop_words)
    return content_id(VERSION, chosen.language, patterns, chosen.unit, chosen.longest, words, stop_words_at)


def _resume(folder: Path, identity: str) -> list[Swept]:
    """The journal, without files that failed; empty, with the parts removed, where it is of another sweep."""
    file, journal = folder / _IDENTITY, folder / _JOURNAL
    if not file.exists() or file.read_text(encoding="utf-8") != identity:
        shutil.rmtree(folder / PARTS)
        (folder / PARTS).mkdir()
        journal.unlink(missing_ok=True)
        file.write_text(identity, encoding="utf-8")
        return []
    lines = journal.read_bytes().splitlines(keepends=True) if journal.exists() else []
    # An incomplete line of a killed process has no newline.
    rows = [orjson.loads(line) for line in lines if line.endswith(b"\n")]
    failed = {row["file"] for row in rows if row["failure"]}
    kept = [row for row in rows if row["file"] not in failed]
    with replacing(journal) as temporary:
        temporary.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in kept))
    return [Swept(**{**row, "broken_lines": tuple(map(tuple, row["broken_lines"]))}) for row in kept]


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
