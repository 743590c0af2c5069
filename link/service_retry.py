"""Retry policy for services: waits as long as `Retry-After` says, else exponential backoff, with a limit on tries."""

from __future__ import annotations

from tenacity import RetryCallState, wait_exponential_jitter

TRIES = 8  # for a busy service
TRIES_UNREACHED = 3  # for a service that cannot be reached, or is not the expected one
LONGEST_PAUSE = 900.0  # seconds; a longer wait ends the run
REPORTED_PAUSE = 10.0  # seconds; longer pauses are reported to the user

_BACKOFF = wait_exponential_jitter(initial=1.0, max=60.0)


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
