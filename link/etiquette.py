"""The rules of requests to Wikimedia's services: a contact in the User-Agent, a rate limit, and retries with backoff.

Sources: https://www.mediawiki.org/wiki/API:Etiquette and
https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

import httpx
from tenacity import RetryCallState, wait_exponential_jitter

TRIES = 8  # for a busy service
TRIES_UNREACHED = 3  # for a service that cannot be reached, or is not the expected one
LONGEST_PAUSE = 900.0  # seconds; a longer wait ends the run
REPORTED_PAUSE = 10.0  # seconds; longer pauses are reported to the user
MINUTE = 60.0

_BACKOFF = wait_exponential_jitter(initial=1.0, max=60.0)
_ADDRESS = re.compile(r"[^\s@<>()]+@[^\s@<>()]+\.[A-Za-z0-9-]{2,}")
_PAGE = re.compile(r"https?://[^\s/()]+\.[^\s()]+")


def is_contact(text: str) -> bool:
    """Is it an e-mail address or the URL of a page, in ASCII, and nothing else?"""
    plain = text.strip()
    return plain.isascii() and any(form.fullmatch(plain) for form in (_ADDRESS, _PAGE))


def duration(minutes: float) -> str:
    """Minutes as people say them: minutes, hours from an hour and a half on, days from two."""
    if minutes < 90:
        return f"{minutes:.0f} minutes" if minutes >= 1.5 else "a minute"
    return f"{minutes / 60:.1f} hours" if minutes < 2880 else f"{minutes / 1440:.1f} days"


def user_agent(contact: str) -> str:
    """The User-Agent header: name and version, contact, HTTP library."""
    try:
        ours = version("polyculture")
    except PackageNotFoundError:
        ours = "0"
    return f"Polyculture/{ours} ({contact.strip()}) httpx/{httpx.__version__}"


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


class TryAgainError(Exception):
    """A service cannot answer now. `after`: the seconds it asks to wait, 0 where it does not say."""

    def __init__(self, reason: str, after: float = 0.0, tries: int = TRIES) -> None:
        super().__init__(reason)
        self.after, self.tries = after, tries


def fault_of(state: RetryCallState) -> TryAgainError:
    """The fault of the last try."""
    fault = state.outcome.exception() if state.outcome else None
    return fault if isinstance(fault, TryAgainError) else TryAgainError("")


def wait(state: RetryCallState) -> float:
    """The seconds until the next try."""
    return max(fault_of(state).after, _BACKOFF(state))


def reportable_pause(state: RetryCallState) -> float:
    """The seconds until the next try where they are worth a message, else 0."""
    pause = state.next_action.sleep if state.next_action else 0.0
    return pause if pause >= REPORTED_PAUSE else 0.0
