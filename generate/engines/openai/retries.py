"""The wait before a retry, and the limit after which a request fails."""

from __future__ import annotations

from typing import Any

from tenacity import RetryCallState, retry_if_exception, stop_after_attempt, stop_any, wait_random_exponential
from tenacity.stop import stop_base

from polyculture.generate.engines.openai.faults import RequestError

LONGEST_WAIT = 60.0  # seconds between two attempts, unless the server asks for more
LONGEST_RETRY_AFTER = 600.0  # seconds that a server may ask to wait; beyond it the request is left to a later run


def retry_policy(max_retries: int) -> dict[str, Any]:
    """tenacity's arguments: a transient fault is retried, `max_retries` times."""
    return {
        "retry": retry_if_exception(lambda error: isinstance(error, RequestError) and error.retryable),
        "stop": stop_any(stop_after_attempt(max_retries + 1), _AskedForTooLong()),
        "wait": _wait,
        "reraise": True,
    }


def _wait(state: RetryCallState) -> float:
    """The server's requested wait; without one, a random wait from an interval that doubles."""
    asked = _retry_after(state)
    return asked if asked is not None else wait_random_exponential(multiplier=1, max=LONGEST_WAIT)(state)


class _AskedForTooLong(stop_base):
    """Stops where the server requests a longer wait than a run should accept."""

    def __call__(self, retry_state: RetryCallState) -> bool:
        return (_retry_after(retry_state) or 0.0) > LONGEST_RETRY_AFTER


def _retry_after(state: RetryCallState) -> float | None:
    error = state.outcome.exception() if state.outcome else None
    return error.retry_after if isinstance(error, RequestError) else None
