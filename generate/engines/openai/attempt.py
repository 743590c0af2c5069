"""One attempt at an answer: it waits for its turn, is paid for, and is billed, however it ends; and the retries.

The client's own retries are off. What is sent again is in the table of faults, and when, in `outage`; a stage that
fails as a whole is stopped by its rule, not here.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

import openai
from tenacity import RetryCallState, stop_after_attempt, wait_random_exponential

from polyculture.cache.errors import EngineError
from polyculture.cache.text.sanitize import ResponseSanitizer, parse
from polyculture.cache.work.faults import RATE_LIMIT
from polyculture.cache.work.outage import LONGEST_RETRY_AFTER, LONGEST_WAIT
from polyculture.generate.engines.metering import Meter, Usage, read_usage
from polyculture.generate.engines.openai.faults import RequestError, WebPageError
from polyculture.generate.engines.openai.limiter import Limiter


class NotAdmittedError(Exception):
    """The meter of a request cannot pay for another attempt: nothing was sent."""


class _Billed(Protocol):
    @property
    def usage(self) -> Usage: ...


B = TypeVar("B", bound=_Billed)


class Attempt:
    """Around a call: a permit of the limiter, and the money where somebody counts. Raises `NotAdmittedError`."""

    def __init__(self, meter: Meter | None, limiter: Limiter) -> None:
        self._meter, self._limiter = meter, limiter
        self._bill = Usage()  # what is known of an answer that does not come

    async def __aenter__(self) -> Self:
        self._permit = await self._limiter.acquire()
        try:
            self._settle = None if self._meter is None else await self._meter()
        except BaseException:
            self._limiter.unused()
            raise
        if self._meter is not None and self._settle is None:
            self._limiter.unused()
            raise NotAdmittedError
        return self

    def billed(self, answer: B) -> B:
        """The answer, whose bill is settled at the end."""
        self._bill = answer.usage
        return answer

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(value, RequestError) and value.kind.name == RATE_LIMIT:
            asked = value.retry_after or 0.0
            self._limiter.refused(self._permit, asked if asked <= LONGEST_RETRY_AFTER else 0.0)
        elif value is None or isinstance(value, WebPageError) or getattr(value, "bill", None) is not None:
            self._limiter.succeeded(self._permit)
        else:
            self._limiter.failed()
        if self._settle is not None:
            bill, why = (self._bill, None) if value is None else (_bill_of(value), str(value) or type(value).__name__)
            self._settle(bill, why)


def too_late(seconds: float) -> RequestError:
    """The fault of an answer that is not whole within the deadline."""
    return RequestError(f"no whole answer within {seconds:g} seconds", retryable=False, later=True)


def _bill_of(fault: BaseException) -> Usage:
    """What an attempt cost that ended in a fault: what the server counts, nothing where nobody worked on it, else
    nobody knows. Services bill failures, too: the table of faults says which ones they do not."""
    bill = getattr(fault, "bill", None)
    error = fault.__cause__
    if not isinstance(bill, Usage):
        bill = _usage_in(error.response.content) if isinstance(error, openai.APIStatusError) else Usage()
    if not bill.unknown:
        return bill
    refused = isinstance(fault, RequestError) and (fault.unreachable or not fault.kind.billable)
    return Usage.nothing() if refused or isinstance(fault, EngineError) else bill


def _usage_in(content: bytes) -> Usage:
    """What an error says of its tokens; some are billed."""
    try:
        body = parse(content)
    except ValueError:
        return Usage()
    return read_usage(body.get("usage") if isinstance(body, dict) else None, ResponseSanitizer())


def retry_policy(max_retries: int) -> dict[str, Any]:
    """tenacity's arguments for a call that is no request for an answer: at most `max_retries` repetitions."""
    tries = stop_after_attempt(max_retries + 1)
    return {
        "retry": _repeats,
        "stop": lambda state: tries(state) or _asked_for_too_long(state),
        "wait": _wait,
        "reraise": True,
    }


def _repeats(state: RetryCallState) -> bool:
    fault = _fault(state)
    if fault is None or not fault.retryable:
        return False
    return fault.unreachable or fault.kind.waits or (fault.kind.then == "retry" and state.attempt_number == 1)


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
