"""A process that is watched by another: it ends when it takes longer, or holds more memory, than it may.

DuckDB counts its own memory, and hears of a timer between two pieces of work. `SELECT range(900000000)` is one
piece: it was at work after a minute with `--timeout 8`, and held 19.7 GB. What the system has resident of a process is
therefore looked at from outside, some twenty times a second, and the process is killed when it is too much. This holds
on Linux and on macOS alike. The system's own limit (RLIMIT_AS) would not do: on macOS it is not enforced, and on Linux
it counts addresses that nobody uses, of which DuckDB, Arrow and threads reserve many gigabytes.
"""

from __future__ import annotations

import glob
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

LOOK_EVERY = 0.05  # seconds
GRACE = 1.0  # seconds beyond its time in which a process may end by itself, with a line of its own
AFTER_STOP = 3.0  # seconds in which it may end after Ctrl-C
_to_watcher: int | None = None  # where this process tells its limits, if it is watched


class OverLimitError(Exception):
    """A watched process was killed: `limit` is 'time' or 'memory', `most` its seconds or bytes."""

    def __init__(self, limit: str, most: float) -> None:
        super().__init__(limit)
        self.limit, self.most = limit, most


def begin(seconds: float, memory: int, output: Path | None = None) -> None:
    """Says that what follows in this process may take so many seconds and bytes, and writes to `output`; does nothing
    where nobody watches."""
    if _to_watcher is not None:
        place = output and str(output.absolute())
        os.write(_to_watcher, f"{json.dumps([seconds, memory, place])}\n".encode())


def watched(work: Callable[[], None]) -> int:
    """Does `work` in a copy of this process, which has no thread yet. Returns its exit code.

    Raises `OverLimitError` where it was killed for a limit that it told with `begin`, and `KeyboardInterrupt` where it
    did not end after Ctrl-C, or died of it. The copy ends where this process does.
    """
    global _to_watcher
    told, tell = os.pipe()
    os.set_blocking(told, False)
    parent = os.getpid()
    process = os.fork()
    if process == 0:
        os.close(told)
        _to_watcher = tell
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
        work()
        os._exit(0)
    os.close(tell)
    stopped: list[float] = []
    signal.signal(signal.SIGINT, lambda *_: stopped.append(time.monotonic()))  # the copy hears of it, too
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: _end_both(process, number))
    try:
        return _watch(process, told, stopped)
    finally:
        os.close(told)


def _watch(process: int, told: int, stopped: list[float]) -> int:
    end, seconds, memory, output = float("inf"), 0.0, 0, None
    while True:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            code = os.waitstatus_to_exitcode(status)
            if code < 0:
                _remove_unfinished(process, output)
            # Ctrl-C reaches both. A library that is loading then, or has threads of its own, may bring the copy down.
            if code == -signal.SIGINT or (stopped and code < 0):
                raise KeyboardInterrupt
            return code
        with suppress(BlockingIOError):
            if lines := os.read(told, 4 * 4096).decode().splitlines():
                seconds, memory, output = json.loads(lines[-1])
                end = time.monotonic() + seconds + GRACE
        now = time.monotonic()
        if stopped and now - stopped[0] > AFTER_STOP:
            _kill(process, output)
            raise KeyboardInterrupt
        over = "time" if now > end else "memory" if memory and resident_memory(process) > memory else ""
        if over:
            _kill(process, output)
            raise OverLimitError(over, seconds if over == "time" else memory)
        time.sleep(LOOK_EVERY if end < float("inf") else LOOK_EVERY / 5)


@dataclass
class Watch:
    """What came of watching a process: the limit for which it was killed, 'time' or 'memory'; else ''."""

    over: str = ""


@contextmanager
def watching(process: int, seconds: float, memory: int) -> Iterator[Watch]:
    """Kills a process of ours that is still at work in the block after so many seconds, or holds so many bytes."""
    watch, ended = Watch(), threading.Event()
    end = time.monotonic() + seconds

    def look() -> None:
        while not ended.wait(LOOK_EVERY):
            watch.over = "time" if time.monotonic() > end else "memory" if resident_memory(process) > memory else ""
            if watch.over:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                return

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield watch
    finally:
        ended.set()
        looking.join()


def resident_memory(process: int | None = None) -> int:
    """Bytes of memory that a process of this user occupies, by default this one; 0 where it has ended."""
    try:
        if sys.platform == "linux":
            pages = Path(f"/proc/{process or 'self'}/statm").read_text(encoding="ascii").split()[1]
            return int(pages) * os.sysconf("SC_PAGE_SIZE")
        return _resident_by_ps(process or os.getpid())
    except (OSError, ValueError, IndexError):
        return 0


def _resident_by_ps(process: int) -> int:
    """The same by a program that every Unix has."""
    found = subprocess.run(["ps", "-o", "rss=", "-p", str(process)], capture_output=True, text=True, check=False)  # noqa: S603, S607
    return int(found.stdout.split()[0]) << 10


def _kill(process: int, output: str | None = None) -> None:
    """Kills a process, and removes what it has written for `output` so far."""
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(process, 0)
    _remove_unfinished(process, output)


def _remove_unfinished(process: int, output: str | None) -> None:
    """Removes what a process that was killed has written for `output`."""
    if output is not None:
        path = Path(output)
        for temporary in path.parent.glob(
            f".{glob.escape(path.name)}.{process}-*.tmp"
        ):  # as `files.replacing` calls it
            temporary.unlink(missing_ok=True)


def _end_both(process: int, number: int) -> None:
    _kill(process)
    os._exit(128 + number)


def _end_with(parent: int) -> None:
    """Ends this process when its parent is gone: nobody reads its answer any more."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
