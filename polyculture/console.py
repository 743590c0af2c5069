"""Progress and messages: a progress bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from polyculture.cache.control_chars import shown as visible
from polyculture.cache.credentials import conceal
from polyculture.cache.outcome import Outcome, Progress

PLAIN_EVERY = 10.0  # seconds between two plain lines
SILENT = 15.0  # seconds without any line, after which one says that the work goes on
BAR_EVERY = 0.25  # seconds between two updates of a bar


Send = Callable[[str], bool]  # takes a line elsewhere; says whether it arrived
_send: list[Send] = []
_said = [0.0]  # when this process wrote its last line, by the monotonic clock


def send_lines(send: Send) -> None:
    """Sends the lines of this process elsewhere: a worker of a cluster has no terminal."""
    _send[:] = [send]


@contextmanager
def sending(send: Send) -> Iterator[None]:
    """A block whose lines are sent elsewhere."""
    before = list(_send)
    _send[:] = [send]
    try:
        yield
    finally:
        _send[:] = before


def say(line: str) -> None:
    """Writes a line to standard error, without keys; results go to standard output."""
    _said[0] = time.monotonic()
    shown = visible(conceal(line))  # servers and files put control characters into their words
    if _send and _send[0](shown):
        return
    # In one write: jobs report from several threads.
    sys.stderr.write(f"{shown}\n")
    sys.stderr.flush()


@contextmanager
def watch(label: str, total: int) -> Iterator[Progress]:
    """A progress for one job of `total` units of work (0: unknown), as a bar or as lines."""
    if sys.stderr.isatty() and not _send:
        with _bar(label, total) as progress:
            yield progress
    else:
        with _plain(label, total) as progress:
            yield progress


@contextmanager
def _bar(label: str, total: int) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))
    with Bar(*columns, console=Console(stderr=True), refresh_per_second=1 / BAR_EVERY) as bar:
        task, rate = bar.add_task(label, total=total or None, rate=""), Rate(total)

        def progress(outcome: Outcome) -> None:
            failed = f" ({outcome.failed} failed)" if outcome.failed else ""
            finished = outcome.done + outcome.failed
            bar.update(task, completed=finished, description=label + failed, rate=rate.tell(finished))

        yield progress


@contextmanager
def _plain(label: str, total: int) -> Iterator[Progress]:
    last, rate, finished = time.monotonic(), Rate(total), 0
    of = f" of {total}" if total else ""

    def progress(outcome: Outcome) -> None:
        nonlocal last, finished
        finished = outcome.done + outcome.failed
        told = rate.tell(finished)
        if time.monotonic() - last < PLAIN_EVERY:
            return
        last = time.monotonic()
        say(f"{label}: {finished}{of}, {outcome.failed} failed{told and ', '}{told}")

    with _never_silent(lambda: say(f"{label}: {finished}{of}, still at work")):
        yield progress


@contextmanager
def _never_silent(tell: Callable[[], None]) -> Iterator[None]:
    """Calls `tell` whenever this process has written no line for `SILENT` seconds: a first answer may take minutes."""
    ended = Event()

    def watch_silence() -> None:
        while not ended.wait(SILENT / 10):
            if time.monotonic() - _said[0] >= SILENT:
                tell()

    _said[0] = time.monotonic()
    Thread(target=watch_silence, daemon=True).start()
    try:
        yield
    finally:
        ended.set()


class Rate:
    """The rate of a job in this process and its remaining time: '3.4 a second, 2 min 10 s left'.

    Items that were finished before do not count, nor does the time until the first new item is finished, which is
    mostly loading. A `total` of 0 is unknown.
    """

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._clock = total, clock
        self._found: int | None = None  # how much was finished when the job began
        self._began: tuple[float, int] | None = None  # when the first of the new was finished, and how much was then

    def tell(self, finished: int) -> str:
        """The rate in words; empty while it is unknown."""
        now = self._clock()
        if self._found is None:
            self._found = finished
        if self._began is None:
            if finished > self._found:
                self._began = (now, finished)
            return ""
        began, before = self._began
        if finished <= before or now <= began:
            return ""
        rate = (finished - before) / (now - began)
        left = f", {_duration((self._total - finished) / rate)} left" if self._total >= finished else ""
        return f"{rate:.1f} a second{left}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
