"""Converts chunks of a dump to rows of a snapshot, in several processes or in this one.

Lines that give no row are counted, with reasons. Processes are spawned: forking a process with threads is not safe. At
most a few chunks for each are under way, so that memory does not grow with the dump.
"""

from __future__ import annotations

import gc
import heapq
import io
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from typing import NamedTuple

import msgspec

from polyculture.cache.errors import StoreError
from polyculture.link.dumps.dump import LONGEST_LINE, Chunk, DumpPosition
from polyculture.link.entity import NotAnItemError
from polyculture.link.entity_json import EntityRows
from polyculture.link.index.tables import ArrowTables

NAMED_LINES = 100  # broken lines that are listed, the first ones; the others are only counted
_NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)  # the last one for very deep nesting


@dataclass(slots=True)
class IngestCounts:
    """The counts of some of a dump's lines."""

    items: int = 0
    json_bytes: int = 0
    skipped: int = 0  # properties, lexemes: valid, but no items
    broken: int = 0
    broken_lines: list[tuple[int, str]] = field(default_factory=list)  # line number and reason, of the first ones
    modified: str = ""  # the latest change of an item, which approximates the dump's date

    def add(self, part: IngestCounts) -> None:
        """Adds the counts of other lines of the dump; the order does not matter."""
        self.items += part.items
        self.json_bytes += part.json_bytes
        self.skipped += part.skipped
        self.broken += part.broken
        self.broken_lines = heapq.nsmallest(NAMED_LINES, self.broken_lines + part.broken_lines)
        self.modified = max(self.modified, part.modified)

    def reject(self, line: int, reason: str) -> None:
        """Counts a malformed line; lines come in order."""
        self.broken += 1
        if len(self.broken_lines) < NAMED_LINES:
            self.broken_lines.append((line, reason))


class IngestedChunk(NamedTuple):
    """What a chunk holds, and the position after it."""

    end: DumpPosition
    counts: IngestCounts
    tables: ArrowTables


def ingested(chunks: Iterable[Chunk], languages: Sequence[str], workers: int) -> Generator[IngestedChunk, None, None]:
    """Yields what each chunk holds, in their order, as `workers` processes read it; 0: this process does.

    Raises `StoreError` where one of them ends early, because it was killed or failed.
    """
    if not workers:
        yield from (_ingest(chunk, languages) for chunk in chunks)
        return
    processes = [_ReaderProcess(languages) for _ in range(workers)]
    idle: SimpleQueue[_ReaderProcess] = SimpleQueue()
    for process in processes:
        idle.put(process)

    def read(chunk: Chunk) -> IngestedChunk:
        process = idle.get()
        try:
            return process.read(chunk)
        finally:
            idle.put(process)

    # A thread waits for each process. Killed processes end the waiting: the pipes break.
    threads = ThreadPoolExecutor(workers)
    under_way: deque[Future[IngestedChunk]] = deque()
    try:
        for chunk in chunks:
            under_way.append(threads.submit(read, chunk))
            if len(under_way) > workers + 1:  # as many as work, one to be taken up, and the first may be done
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        for process in processes:
            process.kill()
        threads.shutdown(cancel_futures=True)
        for process in processes:
            process.close()


class _ReaderProcess:
    """A process that reads chunks, one at a time, as they are sent to it through a pipe."""

    def __init__(self, languages: Sequence[str]) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other_end = context.Pipe()
        self._process = context.Process(target=_read_chunks, args=(other_end, languages), daemon=True)
        self._process.start()
        other_end.close()  # only the process has it now, so that the pipe breaks when the process ends

    def read(self, chunk: Chunk) -> IngestedChunk:
        """What the chunk holds. Raises `StoreError` where the process has ended."""
        try:
            self._connection.send(chunk)
            answer: IngestedChunk = self._connection.recv()
        except (EOFError, ConnectionError) as fault:
            self._process.join()
            if (self._process.exitcode or 0) > 0:
                remedy = "Its error is printed above; please report it. The same command resumes the build."
                raise StoreError("a process that reads the dump failed", remedy=remedy) from fault
            remedy = "If memory was short, use fewer processes (--workers 1). The same command resumes the build."
            raise StoreError("a process that reads the dump was killed", remedy=remedy) from fault
        return answer

    def kill(self) -> None:
        """Ends the process at once, whatever it does."""
        self._process.kill()

    def close(self) -> None:
        """Waits for the end of the killed process. No thread may read from it any more."""
        self._connection.close()
        self._process.join()
        self._process.close()


def _read_chunks(connection: Connection, languages: Sequence[str]) -> None:
    """What a process does: answers each chunk with what it holds, until the other end of the pipe is closed."""
    _begin()
    with suppress(EOFError):
        while True:
            connection.send(_ingest(connection.recv(), languages))


def _ingest(chunk: Chunk, languages: Sequence[str]) -> IngestedChunk:
    rows = EntityRows(languages)
    counts = ingest_lines(enumerate(io.BytesIO(chunk.text), chunk.line), rows)
    counts.json_bytes = len(chunk.text)
    return IngestedChunk(chunk.end, counts, rows.tables())


def _begin() -> None:
    """Prepares a process: it ends with the one that started it, which alone hears Ctrl+C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # no reference cycles here, and looking for them costs as much as decoding
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def ingest_lines(lines: Iterable[tuple[int, bytes]], rows: EntityRows) -> IngestCounts:
    """Adds the items of whole lines, given with their numbers, to `rows`; does not count bytes."""
    counts, before = IngestCounts(), len(rows)
    for number, line in lines:
        entity = line.rstrip(b",\n\r\t ")
        if len(entity) > LONGEST_LINE:
            counts.reject(number, f"has more than {LONGEST_LINE >> 20} MiB")
        elif entity.startswith(b"{") and entity.endswith(b"}"):
            _add_entity(entity, number, rows, counts)
        elif entity:
            _add_array_line(entity, number, rows, counts)
    counts.items, counts.modified = len(rows) - before, rows.modified
    return counts


def _add_entity(entity: bytes, line: int, rows: EntityRows, counts: IngestCounts) -> None:
    try:
        rows.add_json(entity)
    except NotAnItemError:
        counts.skipped += 1
    except msgspec.ValidationError as fault:
        counts.reject(line, f"not an item: {fault}")
    except _NOT_JSON as fault:
        counts.reject(line, f"not JSON: {fault}")
    except ValueError as fault:
        counts.reject(line, f"not an item: {fault}")


def _add_array_line(line: bytes, number: int, rows: EntityRows, counts: IngestCounts) -> None:
    """Adds a line with a bracket of the array, or with the whole array."""
    text = line.strip()
    if text.startswith(b"[") and text.endswith(b"]") and len(text) > 1:
        try:
            entities = [bytes(entity) for entity in msgspec.json.decode(text, type=list[msgspec.Raw])]
        except _NOT_JSON as fault:
            counts.reject(number, f"not JSON: {fault}")
            return
    else:
        entities = [text.removeprefix(b"[").removesuffix(b"]").strip(b", \t\r")]
    for entity in filter(None, entities):
        _add_entity(entity, number, rows, counts)
