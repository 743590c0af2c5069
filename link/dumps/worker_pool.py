"""Converts chunks of a dump to rows, in several processes or in this one.

Processes are spawned: forking a process with threads is not safe. At most a few chunks for each are under way, so that
memory does not grow with the dump.
"""

from __future__ import annotations

import gc
import io
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from threading import Thread
from typing import NamedTuple

from polyculture.cache.errors import StoreError
from polyculture.link.dumps.dump import Chunk, DumpPosition
from polyculture.link.dumps.ingest import IngestCounts, ingest_lines
from polyculture.link.entity_json import Rows
from polyculture.link.index.tables import ArrowTables


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
        remedy = "If memory was short, use fewer processes (--workers 1), then run the same command again: it resumes."
        raise StoreError("a process that reads the dump was killed", remedy=remedy) from fault
    finally:
        pool.shutdown(cancel_futures=True)


def _ingest(chunk: Chunk, languages: Sequence[str]) -> Ingested:
    rows = Rows(languages)
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
