"""Limits requests to a rate per minute, and sends none while the service asks for a pause."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

MINUTE = 60.0


class StoppedError(Exception):
    """The answer is no longer needed: another request failed, or the user stopped the run."""


class RateLimiter:
    """One rate for all connections together. Thread-safe. `sleep` and `clock` are for tests."""

    def __init__(
        self,
        requests_per_minute: float,
        *,
        sleep: Callable[[float], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._gap = MINUTE / requests_per_minute
        self._stopped = threading.Event()
        self._sleep, self._clock = sleep or self._stopped.wait, clock
        self._lock = threading.Lock()
        self.requests = 0  # sent so far
        self._next = 0.0  # time of the next request
        self._paused = 0.0  # end of the pause

    def take_turn(self) -> None:
        """Waits until this request may be sent. Raises `StoppedError` after `stop`."""
        turn = self._wait_for_turn()
        while turn < self._paused:  # the service asked for a pause while this request waited
            turn = self._wait_for_turn()
        with self._lock:
            self.requests += 1

    def pause(self, seconds: float) -> None:
        """Sends nothing for `seconds` from now on, over any connection."""
        with self._lock:
            self._paused = max(self._paused, self._clock() + seconds)

    def stop(self) -> None:
        """Ends all waits: `take_turn` raises `StoppedError` from now on."""
        self._stopped.set()

    def _wait_for_turn(self) -> float:
        with self._lock:
            now = self._clock()
            turn = max(now, self._next, self._paused)
            self._next = turn + self._gap
        if turn > now:
            self._sleep(turn - now)
        if self._stopped.is_set():
            raise StoppedError
        return turn
