"""tenacity's policy for calls to a server, which owns all retries: the client's own are off.

What is sent again stands in the table of faults. A stage that fails as a whole is stopped by its rule, not here.
"""

from __future__ import annotations

from typing import Any

from tenacity import RetryCallState, stop_after_attempt, stop_after_delay, stop_any, wait_random_exponential

from polyculture.generate.engines.openai.faults import RequestError

LONGEST_WAIT = 60.0  # seconds between two attempts, unless the server asks for more
LONGEST_RETRY_AFTER = 600.0  # seconds that a server may ask to wait; beyond it the request is left to a later run


def retry_policy(max_retries: int, minutes: float = 0.0) -> dict[str, Any]:
    """tenacity's arguments: at most `max_retries` repetitions, and none once `minutes` (0: ever) have passed."""
    enough = stop_any(stop_after_attempt(max_retries + 1), *([stop_after_delay(minutes * 60)] if minutes else []))
    return {
        "retry": _repeats,
        "stop": lambda state: enough(state) or _asked_for_too_long(state),
        "wait": _wait,
        "reraise": True,
    }


def _repeats(state: RetryCallState) -> bool:
    fault = _fault(state)
    if fault is None or not fault.retryable:
        return False
    return (
        fault.unreachable
        or fault.kind.repeat == "always"
        or (fault.kind.repeat == "once" and state.attempt_number == 1)
    )


def _wait(state: RetryCallState) -> float:
    """The server's requested wait; without one, a random wait from an interval that doubles."""
    fault = _fault(state)
    if fault is not None and fault.retry_after is not None:
        return fault.retry_after
    return wait_random_exponential(multiplier=1, max=LONGEST_WAIT)(state)


def _asked_for_too_long(state: RetryCallState) -> bool:
    fault = _fault(state)
    return fault is not None and (fault.retry_after or 0.0) > LONGEST_RETRY_AFTER


def _fault(state: RetryCallState) -> RequestError | None:
    error = state.outcome.exception() if state.outcome else None
    return error if isinstance(error, RequestError) else None
