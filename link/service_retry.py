"""When a service is asked again: after as long as it says, else after ever longer pauses, and not for ever."""

from __future__ import annotations

from tenacity import RetryCallState, wait_exponential_jitter

TRIES = 8  # of a service that is busy
TRIES_UNREACHED = 3  # of a service that is not there, or is something else
LONGEST_PAUSE = 900.0  # seconds; whoever is told to wait longer comes back later
TOLD_PAUSE = 10.0  # seconds from which on the user is told what is waited for

_BACKOFF = wait_exponential_jitter(initial=1.0, max=60.0)


class TryAgainError(Exception):
    """A service cannot answer now; `after` is how many seconds it asks to wait, 0 where it does not say."""

    def __init__(self, reason: str, after: float = 0.0, tries: int = TRIES) -> None:
        super().__init__(reason)
        self.after, self.tries = after, tries


def fault_of(state: RetryCallState) -> TryAgainError:
    """What the last try ended with."""
    fault = state.outcome.exception() if state.outcome else None
    return fault if isinstance(fault, TryAgainError) else TryAgainError("")


def wait(state: RetryCallState) -> float:
    """The seconds until the next try."""
    return max(fault_of(state).after, _BACKOFF(state))


def pause_worth_telling(state: RetryCallState) -> float:
    """The seconds until the next try where they are many, else 0."""
    pause = state.next_action.sleep if state.next_action else 0.0
    return pause if pause >= TOLD_PAUSE else 0.0
