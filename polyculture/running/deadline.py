"""A moment at which this process stops waiting, whatever it waits for."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_AT_ONCE = 0.001  # seconds: 0 would be never


class TimeIsOverError(Exception):
    """The deadline of a block has passed."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raises `TimeIsOverError` in the block once `seconds` have passed: anywhere in it, as Ctrl-C does.

    For the main thread. An alarm that somebody else has set rings after the block, if its time came meanwhile.
    """

    waiting = True

    def ring(_number: int, _frame: FrameType | None) -> None:
        if waiting:
            raise TimeIsOverError

    started, before = time.monotonic(), signal.signal(signal.SIGALRM, ring)
    other, _ = signal.setitimer(signal.ITIMER_REAL, max(seconds, _AT_ONCE))
    try:
        try:
            yield
        finally:
            waiting = False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if other:
            signal.setitimer(signal.ITIMER_REAL, max(other - (time.monotonic() - started), _AT_ONCE))
