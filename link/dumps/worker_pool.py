"""Ingests a dump's lines in several processes; each writes its own parts.

Every process holds at most one chunk, and the next chunk waits until a process is free, so that memory does not grow
with the dump. Processes are spawned: forking a process with threads is not safe.
"""

from __future__ import annotations

import gc
import io
import multiprocessing
import signal
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, cast

from polyculture.cache.errors import PolycultureError, StoreError
from polyculture.cache.files import store_faults
from polyculture.link.dumps.dump import Chunk
from polyculture.link.dumps.ingest import IngestCounts, ingest_lines
from polyculture.link.entity_json import Rows
from polyculture.link.index.parts import ArrowTables, PartWriter

_BATCH = 40_000  # names normalised together: enough to be cheap, few enough for the processor's cache
_PATIENCE = 10.0  # seconds until a process that does not end is killed


class Ingester(Protocol):
    """Converts chunks of a dump to parts."""

    def take(self, chunk: Chunk) -> IngestCounts:
        """Takes a chunk; returns the counts of the chunks that are done, this one or earlier ones."""
        ...

    def seal(self) -> IngestCounts:
        """Closes the part: every chunk so far is done and on disk."""
        ...


class LocalIngester:
    """Ingests chunks in this process. Raises `StoreError` where the parts cannot be written."""

    def __init__(self, folder: Path, languages: Iterable[str], writer: int = 0) -> None:
        self._folder, self._languages = folder, sorted(languages)
        self._rows = Rows(self._languages)
        self._parts = PartWriter(folder, writer)

    def take(self, chunk: Chunk) -> IngestCounts:
        return self.ingest_lines(chunk.text, chunk.line)

    def ingest_lines(self, text: bytes, first: int) -> IngestCounts:
        """Ingests lines, the first of which has the number `first`."""
        counts = IngestCounts(json_bytes=len(text))
        counts.add(ingest_lines(enumerate(io.BytesIO(text), first), self._rows))
        if self._rows.names >= _BATCH:
            self._flush_rows()
        return counts

    def seal(self) -> IngestCounts:
        self._flush_rows()
        with store_faults(self._folder):
            self._parts.seal()
        return IngestCounts()

    def _flush_rows(self) -> None:
        self._add(self._rows.tables())
        self._rows = Rows(self._languages)

    def _add(self, tables: ArrowTables) -> None:
        with store_faults(self._folder):
            self._parts.add(tables)


@dataclass(slots=True)
class _Worker:
    process: SpawnProcess
    pipe: Connection
    busy: bool = False


class WorkerPool:
    """Ingests chunks in several processes.

    Raises the fault of any of them; `StoreError` where one is killed.
    """

    def __init__(self, folder: Path, languages: Iterable[str], workers: int) -> None:
        self._folder = folder
        context = multiprocessing.get_context("spawn")
        self._workers = []
        for number in range(workers):
            ours, theirs = context.Pipe()
            arguments = (theirs, folder, sorted(languages), number)
            process = context.Process(target=_run_worker, args=arguments, daemon=True)
            process.start()
            theirs.close()
            self._workers.append(_Worker(process, ours))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.pipe.close()
        for worker in self._workers:
            worker.process.join(_PATIENCE if kind is None else 0.0)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()

    def take(self, chunk: Chunk) -> IngestCounts:
        done = IngestCounts()
        while all(worker.busy for worker in self._workers):
            done.add(self._wait_for_reply())
        free = next(worker for worker in self._workers if not worker.busy)
        self._send(free, chunk.line, chunk.text)
        return done

    def seal(self) -> IngestCounts:
        done = self._drain()
        for worker in self._workers:
            self._send(worker, None)
        done.add(self._drain())
        return done

    def _drain(self) -> IngestCounts:
        done = IngestCounts()
        while any(worker.busy for worker in self._workers):
            done.add(self._wait_for_reply())
        return done

    def _send(self, worker: _Worker, command: int | None, text: bytes = b"") -> None:
        try:
            worker.pipe.send(command)
            if command is not None:
                worker.pipe.send_bytes(text)
        except OSError as fault:
            raise self._killed() from fault
        worker.busy = True

    def _wait_for_reply(self) -> IngestCounts:
        """Waits until a process has finished its task."""
        done, ready = IngestCounts(), wait([worker.pipe for worker in self._workers if worker.busy])
        for worker in self._workers:
            if worker.pipe in ready:
                done.add(self._reply(worker))
        return done

    def _reply(self, worker: _Worker) -> IngestCounts:
        try:
            reply = worker.pipe.recv()
        except (EOFError, OSError) as fault:
            raise self._killed() from fault
        if isinstance(reply, BaseException):
            raise reply
        worker.busy = False
        return cast(IngestCounts, reply)

    def _killed(self) -> StoreError:
        remedy = "If memory was short, use fewer processes (--workers 1), then run the same command again: it resumes."
        return StoreError("a process that reads the dump was killed", where=self._folder, remedy=remedy)


def _run_worker(pipe: Connection, folder: Path, languages: list[str], number: int) -> None:
    """The loop of one process: ingests lines, or closes its part when it receives None."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process receives it too, and closes the pipe
    gc.disable()  # no reference cycles here, and looking for them costs as much as decoding
    try:
        reader = LocalIngester(folder, languages, number)
        while True:
            first = pipe.recv()
            pipe.send(reader.seal() if first is None else reader.ingest_lines(pipe.recv_bytes(), first))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except PolycultureError as fault:
        pipe.send(fault)
    except BaseException:  # noqa: BLE001 - the first process raises it
        pipe.send(RuntimeError(f"in a process that reads the dump:\n{traceback.format_exc()}"))
