"""How far a job is, and how long it may take: lines in the log, or a bar where the command line shows one."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from threading import Event, Thread

from polyculture.cache.log import get_logger, silent_since
from polyculture.cache.work.outcome import Outcome, Progress

PLAIN_EVERY = 10.0  # seconds between two plain lines
SILENT = 15.0  # seconds without any line, after which one says that the work goes on
# Of a model that is a path, all but its last part.
_FOLDERS = re.compile(r"(?<!\S)(\w+:)(?:[^\s/\\]*[/\\]){2,}(?=[^\s/\\])")
_log = get_logger(__name__)
Bar = Callable[[str, int, "Rate"], AbstractContextManager[Progress]]  # of a label, and a total
_bars: list[Bar] = []  # the innermost is last; without any, lines are logged


@dataclass(frozen=True, slots=True)
class JobPosition:
    """Where a job stands among those of its stage: its number, how many there are, and the units of later ones."""

    number: int
    of: int
    later: int

    def __str__(self) -> str:
        return f"job {self.number} of {self.of}"


def brief(label: str) -> str:
    """A label whose model is a path, with the path's end alone."""
    return _FOLDERS.sub(r"\1…/", label)


@contextmanager
def shown_by(bar: Bar) -> Iterator[None]:
    """A block in which each job's progress is shown by `bar`, in place of lines in the log."""
    _bars.append(bar)
    try:
        yield
    finally:
        _bars.pop()


@contextmanager
def watch(label: str, total: int, place: JobPosition | None = None) -> Iterator[Progress]:
    """A progress for one job of `total` units of work (0: unknown), as lines in the log or as a bar.

    With a `place` among several jobs, it says which one it is, and how long those after it may take.
    """
    several = place if place is not None and place.of > 1 else None
    name = f"{several}, {label}" if several else label
    rate = Rate(total, later=several.later if several else 0)
    with (_bars[-1] if _bars else _plain)(name, total, rate) as progress:
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
        _log.info(f"{label}: {finished}{of}, {outcome.failed} failed{told and ', '}{told}")

    with never_silent(lambda: _log.info(f"{label}: {finished}{of}, still at work")):
        yield progress


@contextmanager
def never_silent(tell: Callable[[], None]) -> Iterator[None]:
    """Calls `tell` whenever this process has logged nothing for `SILENT` seconds: a first answer may take minutes."""
    ended, begun = Event(), time.monotonic()

    def watch_silence() -> None:
        while not ended.wait(SILENT / 10):
            if time.monotonic() - max(begun, silent_since()) >= SILENT:
                tell()

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
