"""Reads a dump's lines in several processes at once; each writes its own parts.

Every process holds one chunk at most, and the next one waits here until a process is free: memory does not grow with
the dump. They are started afresh, not forked, since forking a process with threads is not safe.
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
from polyculture.link.dumps.ingest import Intake, take_lines
from polyculture.link.entity_json import Rows
from polyculture.link.index.parts import PartWriter, Tables

_BATCH = 40_000  # names that are folded at once: enough to be cheap, and they still fit the processor's cache
_PATIENCE = 10.0  # seconds that a process is given to end


class Taker(Protocol):
    """Whoever turns chunks of a dump into parts."""

    def take(self, chunk: Chunk) -> Intake:
        """Takes a chunk; gives back what became of chunks that are done, this one or earlier ones."""
        ...

    def seal(self) -> Intake:
        """Ends the part: every chunk taken so far is done and on disk."""
        ...


class Reader:
    """Turns chunks into parts, in this process. Raises `StoreError` where they cannot be written."""

    def __init__(self, folder: Path, languages: Iterable[str], writer: int = 0) -> None:
        self._folder, self._languages = folder, sorted(languages)
        self._rows = Rows(self._languages)
        self._parts = PartWriter(folder, writer)

    def take(self, chunk: Chunk) -> Intake:
        return self.take_lines(chunk.text, chunk.line)

    def take_lines(self, text: bytes, first: int) -> Intake:
        """Takes some lines, the first of which has the number `first`."""
        intake = Intake(json_bytes=len(text))
        intake.add(take_lines(enumerate(io.BytesIO(text), first), self._rows))
        if self._rows.names >= _BATCH:
            self._hand_over()
        return intake

    def seal(self) -> Intake:
        self._hand_over()
        with store_faults(self._folder):
            self._parts.seal()
        return Intake()

    def _hand_over(self) -> None:
        self._add(self._rows.tables())
        self._rows = Rows(self._languages)

    def _add(self, tables: Tables) -> None:
        with store_faults(self._folder):
            self._parts.add(tables)


@dataclass(slots=True)
class _Worker:
    process: SpawnProcess
    pipe: Connection
    busy: bool = False


class Crew:
    """Several processes that do what `Reader` does.

    Raises what goes wrong in one of them; `StoreError` where one is killed.
    """

    def __init__(self, folder: Path, languages: Iterable[str], workers: int) -> None:
        self._folder = folder
        context = multiprocessing.get_context("spawn")
        self._workers = []
        for number in range(workers):
            ours, theirs = context.Pipe()
            arguments = (theirs, folder, sorted(languages), number)
            process = context.Process(target=_work, args=arguments, daemon=True)
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

    def take(self, chunk: Chunk) -> Intake:
        done = Intake()
        while all(worker.busy for worker in self._workers):
            done.add(self._listen())
        free = next(worker for worker in self._workers if not worker.busy)
        self._send(free, chunk.line, chunk.text)
        return done

    def seal(self) -> Intake:
        done = self._drain()
        for worker in self._workers:
            self._send(worker, None)
        done.add(self._drain())
        return done

    def _drain(self) -> Intake:
        done = Intake()
        while any(worker.busy for worker in self._workers):
            done.add(self._listen())
        return done

    def _send(self, worker: _Worker, command: int | None, text: bytes = b"") -> None:
        try:
            worker.pipe.send(command)
            if command is not None:
                worker.pipe.send_bytes(text)
        except OSError as fault:
            raise self._killed() from fault
        worker.busy = True

    def _listen(self) -> Intake:
        """Waits until a process has done what it was sent."""
        done, ready = Intake(), wait([worker.pipe for worker in self._workers if worker.busy])
        for worker in self._workers:
            if worker.pipe in ready:
                done.add(self._reply(worker))
        return done

    def _reply(self, worker: _Worker) -> Intake:
        try:
            reply = worker.pipe.recv()
        except (EOFError, OSError) as fault:
            raise self._killed() from fault
        if isinstance(reply, BaseException):
            raise reply
        worker.busy = False
        return cast(Intake, reply)

    def _killed(self) -> StoreError:
        remedy = "If memory was short, use fewer processes (--workers 1), then run the same command again: it resumes."
        return StoreError("a process that reads the dump was killed", where=self._folder, remedy=remedy)


def _work(pipe: Connection, folder: Path, languages: list[str], number: int) -> None:
    """What one process does: takes lines, or seals its part where it is sent no number of a first line."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process is told too, and closes the pipe
    gc.disable()  # nothing here refers to itself, and to look for it costs as much as to decode the JSON
    try:
        reader = Reader(folder, languages, number)
        while True:
            first = pipe.recv()
            pipe.send(reader.seal() if first is None else reader.take_lines(pipe.recv_bytes(), first))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except PolycultureError as fault:
        pipe.send(fault)
    except BaseException:  # noqa: BLE001 - the first process raises it
        pipe.send(RuntimeError(f"in a process that reads the dump:\n{traceback.format_exc()}"))
