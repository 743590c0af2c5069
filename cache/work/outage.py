"""Waits for a service that does not answer: from eight faults in a row one request at a time is sent, for all of them.

A fault that may pass is waited for (`then` in the table of faults). While the service answers others, each request is
repeated for itself, `max_retries` times. From the eighth fault in a row (`[stop] answers`) it is the service that
fails: one request asks after it, with growing waits, and all others wait for the outcome, those that were never sent
included. So an outage costs the requests that were in flight when it began and a bounded number of repetitions, however
many requests wait.

A service that had answered is waited for as long as `[stop] minutes` says, and so is one that is loading its model. Any
other is given up after `max_retries` repetitions. Then the requests that wait have failed, and their rows count for the
stop rule like those of any other fault: eight different prompts in a row stop the stage. Until they do, requests that
were never sent are sent one at a time and once, from the ninth on with growing waits.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

from polyculture.cache.log import get_logger
from polyculture.cache.work.faults import FaultKind, StopLimits

LONGEST_WAIT = 60.0  # seconds between two attempts, unless the server asks for more
LONGEST_RETRY_AFTER = 600.0  # seconds that a server may ask to wait; beyond it the request is left to a later run
_LOOK_EVERY = 0.05  # seconds, of who waits for the outcome
_SAID_AT = 4  # repetitions, some ten seconds: an outage that is shorter needs no line

_log = get_logger(__name__)


class Fault(Protocol):
    """Why a request has no answer."""

    @property
    def kind(self) -> FaultKind: ...

    @property
    def retryable(self) -> bool: ...

    @property
    def retry_after(self) -> float | None:
        """Seconds that the server asks to wait."""
        ...

    @property
    def unreachable(self) -> bool:
        """Whether there is no server."""
        ...


class Outage:
    """What is known of a service since its last answer. For use within one event loop."""

    def __init__(
        self,
        limits: StopLimits,
        max_retries: int,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        name: str = "the service",
    ) -> None:
        """So many `answers` in a row that fail make an outage (0: none do). `name` is the service's in the log."""
        self._name = name
        self._most, self._seconds, self._max_retries = limits.answers, limits.minutes * 60, max_retries
        self._sleep, self._clock = sleep, clock
        self._waiting = 0  # requests that may be sent again and wait for the outcome
        self._answered = False  # the service has answered a request
        self.begin()

    def answer(self) -> None:
        """The service answered."""
        self._answered = True
        self.begin()

    def begin(self) -> None:
        """The service is asked as if it had not failed: it said something, or is asked anew after it was given up."""
        self._in_a_row = self._repetitions = 0
        self._others = 0  # requests that were sent for the first time after it was given up
        self._since: float | None = None  # when the first fault in a row came
        self._asking: object | None = None  # the request that asks after the service
        self._given_up = False

    @property
    def is_on(self) -> bool:
        """Whether it is the service that fails, and not one request."""
        return 0 < self._most <= self._in_a_row

    async def clear(self, request: object) -> None:
        """Waits until a request that was never sent may be: in an outage for its end, or its turn."""
        while self.is_on:
            if self._asking is None and (self._given_up or not self._waiting):
                self._asking = request
                self._others += self._given_up
                if self._others > self._most:  # a stop rule that knows no more prompts would have stopped the stage
                    await self._sleep(_growing(self._others - self._most))
                return
            await asyncio.sleep(_LOOK_EVERY)

    async def passes(self, request: object, fault: Fault, tries: int) -> bool:
        """Whether a request that failed for the `tries`-th time is to be sent again, once the time for it has come."""
        if fault.kind.then == "stop" and not fault.unreachable:
            self.begin()  # the service answers: what it says no to is another question
            return False
        self._in_a_row += 1
        self._since = self._clock() if self._since is None else self._since
        if fault.kind.then == "retry" and tries > 1:
            return False
        if not fault.retryable or (fault.retry_after or 0.0) > LONGEST_RETRY_AFTER:
            return False
        if self._is_over(fault, tries):
            return False
        if not self.is_on:
            await self._sleep(self._wait(fault, tries))
        self._waiting += 1
        try:
            while self.is_on and not self._given_up:
                if self._asking in (None, request):
                    self._asking = request
                    return await self._ask_after(fault)
                await asyncio.sleep(_LOOK_EVERY)
        finally:
            self._waiting -= 1
        return not self._given_up

    def leave(self, request: object) -> None:
        """A request has ended, however it did: another one may ask after the service."""
        if self._asking is request:
            self._asking = None

    async def _ask_after(self, fault: Fault) -> bool:
        self._repetitions += 1
        if self._is_over(fault, self._repetitions):
            self._given_up = True
            return False
        if self._repetitions == _SAID_AT:
            until = f"up to {self._seconds / 60:g} minutes" if self._seconds else "until it answers"
            _log.info("%s: %s (%s); its requests wait, %s", self._name, fault.kind.says, fault, until)
        await self._sleep(self._wait(fault, self._repetitions))
        return True

    def _is_over(self, fault: Fault, repetitions: int) -> bool:
        """Whether the fault was waited for long enough: where the service will answer, the minutes alone decide."""
        lasted = 0.0 if self._since is None else self._clock() - self._since
        will_answer = (self._answered and self.is_on) or fault.kind.then == "wait from the start"
        return 0 < self._seconds <= lasted or (repetitions > self._max_retries and not will_answer)

    def _wait(self, fault: Fault, repetition: int) -> float:
        """Seconds before a repetition: what the server asks for. Beyond `max_retries` the wait grows all the same,
        since each repetition may be billed."""
        if fault.retry_after is None:
            return _growing(repetition)
        return max(fault.retry_after, _growing(repetition) if repetition > self._max_retries else 0.0)


def _growing(repetition: int) -> float:
    """Seconds before a repetition, which double up to a minute. They vary, so that machines do not ask together."""
    return min(LONGEST_WAIT, 2.0 ** (repetition - 1)) * random.uniform(0.5, 1)
