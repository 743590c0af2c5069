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
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import Any, NamedTuple

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


class Ingested(NamedTuple):
    """What a chunk holds, and the position after it."""

    end: DumpPosition
    counts: IngestCounts
    tables: ArrowTables


def ingested(chunks: Iterable[Chunk], languages: Sequence[str], workers: int) -> Generator[Ingested, None, None]:
    """Yields what each chunk holds, in their order, as `workers` processes read it; 0: this process does.

    Raises `StoreError` where one of them is killed.
    """
    if not workers:
        yield from (_ingest(chunk, languages) for chunk in chunks)
        return
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin)
    under_way: deque[Future[Ingested]] = deque()
    try:
        for chunk in chunks:
            under_way.append(pool.submit(_ingest, chunk, languages))
            if len(under_way) > workers + 1:  # as many as work, one to be taken up, and the first may be done
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    except BrokenProcessPool as fault:
        _stop_feeding(pool)
        remedy = "If memory was short, use fewer processes (--workers 1), then run the same command again: it resumes."
        raise StoreError("a process that reads the dump was killed", remedy=remedy) from fault
    finally:
        pool.shutdown(cancel_futures=True)


def _stop_feeding(pool: Any) -> None:
    """Lets the thread end that feeds a pool of killed processes: it may wait for a reader of a full pipe for good.

    Python 3.11.7 does so itself, 3.11.2 does not (https://github.com/python/cpython/issues/94777).
    """
    with suppress(AttributeError, OSError):  # what is named here is no interface of the library
        pool._call_queue._reader.close()


def _ingest(chunk: Chunk, languages: Sequence[str]) -> Ingested:
    rows = EntityRows(languages)
    counts = ingest_lines(enumerate(io.BytesIO(chunk.text), chunk.line), rows)
    counts.json_bytes = len(chunk.text)
    return Ingested(chunk.end, counts, rows.tables())


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
