"""Progress and messages: a progress bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any

from polyculture.cache.text.sanitize import conceal
from polyculture.cache.text.sanitize import escape_control_chars as visible
from polyculture.cache.work.outcome import Outcome, Progress

PLAIN_EVERY = 10.0  # seconds between two plain lines
SILENT = 15.0  # seconds without any line, after which one says that the work goes on
BAR_EVERY = 0.25  # seconds between two updates of a bar
BAR_WIDTH = 12  # columns
BESIDE_LABEL = 40  # columns of the spinner, the bar, the count and the clock
# Of a model that is a path, all but its last part.
_FOLDERS = re.compile(r"(?<!\S)(\w+:)(?:[^\s/\\]*[/\\]){2,}(?=[^\s/\\])")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a job stands among those of its stage: its number, how many there are, and the units of later ones."""

    number: int
    of: int
    later: int

    def __str__(self) -> str:
        return f"job {self.number} of {self.of}"


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


@contextmanager
def quietly(progress: bool = False) -> Iterator[None]:
    """A block whose lines are logged at the level INFO; with `progress` they are printed."""
    if progress:
        yield
        return
    with sending(_log):
        yield


def _log(line: str) -> bool:
    import logging  # here: a command line prints

    logging.getLogger("polyculture").info("%s", line)
    return True


def brief(label: str) -> str:
    """A label whose model is a path, with the path's end alone."""
    return _FOLDERS.sub(r"\1…/", label)


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
def watch(label: str, total: int, place: Place | None = None) -> Iterator[Progress]:
    """A progress for one job of `total` units of work (0: unknown), as a bar or as lines.

    With a `place` among several jobs, it says which one it is, and how long those after it may take.
    """
    several = place if place is not None and place.of > 1 else None
    name = f"{several}, {label}" if several else label
    rate = Rate(total, later=several.later if several else 0)
    if sys.stderr.isatty() and not _send:
        with _bar(name, total, rate) as progress:
            yield progress
    else:
        with _plain(name, total, rate) as progress:
            yield progress


@contextmanager
def _bar(label: str, total: int, rate: Rate) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class TwoLines(Bar):
        """The bar, and below it what an 80-column terminal has no room for beside it."""

        said = ""

        def get_renderables(self) -> Iterator[Any]:
            yield self.make_tasks_table(self.tasks)
            if self.said:
                yield Text(f"  {self.said}", overflow="ellipsis", no_wrap=True)

    # The spinner and the clock move by themselves: also before the first answer is there.
    columns = (
        *(SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=BAR_WIDTH)),
        *(MofNCompleteColumn(), TimeElapsedColumn()),
    )
    console = Console(stderr=True)
    room = max(console.width - BESIDE_LABEL, 8)
    shown = label if len(label) <= room else f"{label[: room - 1]}…"
    with TwoLines(*columns, console=console, refresh_per_second=1 / BAR_EVERY) as bar:
        task = bar.add_task(shown, total=total or None)

        def progress(outcome: Outcome) -> None:
            finished = outcome.done + outcome.failed
            failed = f"{outcome.failed} failed" if outcome.failed else ""
            bar.said = ", ".join(filter(None, [failed, rate.tell(finished)]))
            bar.update(task, completed=finished)

        yield progress


@contextmanager
def _plain(label: str, total: int, rate: Rate) -> Iterator[Progress]:
    last, finished = time.monotonic(), 0
    of = f" of {total}" if total else ""

    def progress(outcome: Outcome) -> None:
        nonlocal last, finished
        finished = outcome.done + outcome.failed
        told = rate.tell(finished)
        if time.monotonic() - last < PLAIN_EVERY:
            return
        last = time.monotonic()
        say(f"{label}: {finished}{of}, {outcome.failed} failed{told and ', '}{told}")

    with never_silent(lambda: say(f"{label}: {finished}{of}, still at work")):
        yield progress


@contextmanager
def never_silent(tell: Callable[[], None]) -> Iterator[None]:
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
    mostly loading. A `total` of 0 is unknown. `later` units stand in jobs after this one: what they take at this rate
    is told as the most, for some of them may be done before.
    """

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic, later: int = 0) -> None:
        self._total, self._clock, self._later = total, clock, later
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
        if self._total < finished:
            return f"{rate:.1f} a second"
        left = f"{rate:.1f} a second, {_duration((self._total - finished) / rate)} left"
        whole = _duration((self._total - finished + self._later) / rate)
        return f"{left}, all jobs at most {whole}" if self._later else left


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
