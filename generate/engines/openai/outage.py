"""Waits for a service that does not answer: from eight faults in a row one request at a time is sent, for all of them.

A fault that may pass is repeated (`repeat` in the table of faults). While the service answers others, each request is
repeated for itself. From the eighth fault in a row (`[stop] answers`) it is the service that fails: one request asks
after it, with growing waits, and all others wait for the outcome, those that were never sent included. So an outage
costs the requests that were in flight when it began and a bounded number of repetitions, however many requests wait.

After `max_retries` repetitions, or `minutes` (`[stop] minutes`), the requests that wait have failed; a server that is
loading its model is given the minutes. What becomes of the stage then, its stop rule decides by these failures, as by
any other: eight different prompts in a row stop it. Until it does, requests that were never sent are sent one at a time
and once, from the ninth on with growing waits.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from polyculture.cache.work.faults import LOADING
from polyculture.generate.engines.openai.faults import RequestError

LONGEST_WAIT = 60.0  # seconds between two attempts, unless the server asks for more
LONGEST_RETRY_AFTER = 600.0  # seconds that a server may ask to wait; beyond it the request is left to a later run
_LOOK_EVERY = 0.05  # seconds, of who waits for the outcome


class Outage:
    """What is known of a service since its last answer. For use within one event loop."""

    def __init__(
        self, faults: int, max_retries: int, minutes: float, sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        """`faults` in a row make an outage (0: none do), which `minutes` without an answer end (0: none do)."""
        self._most, self._max_retries, self._seconds, self._sleep = faults, max_retries, minutes * 60, sleep
        self._waiting = 0  # requests that may be sent again and wait for the outcome
        self.begin()

    def begin(self) -> None:
        """The service answered; or it is asked anew, whatever was given up before."""
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

    async def passes(self, request: object, fault: RequestError, tries: int) -> bool:
        """Whether a request that failed for the `tries`-th time is to be sent again, once the time for it has come."""
        if fault.kind.repeat == "never" and not fault.unreachable:
            self.begin()  # the service answers: what it says no to is another question
            return False
        self._in_a_row += 1
        self._since = self._now if self._since is None else self._since
        if fault.kind.repeat == "once" and tries > 1:
            return False
        if not fault.retryable or (fault.retry_after or 0.0) > LONGEST_RETRY_AFTER:
            return False
        if self._is_over(fault, tries):
            return False
        if not self.is_on:
            await self._sleep(_growing(tries) if fault.retry_after is None else fault.retry_after)
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

    async def _ask_after(self, fault: RequestError) -> bool:
        self._repetitions += 1
        if self._is_over(fault, self._repetitions):
            self._given_up = True
            return False
        await self._sleep(_growing(self._repetitions) if fault.retry_after is None else fault.retry_after)
        return True

    def _is_over(self, fault: RequestError, repetitions: int) -> bool:
        lasted = self._now - (self._since or self._now)
        enough = repetitions > self._max_retries and fault.kind.name != LOADING
        return enough or 0 < self._seconds <= lasted

    @property
    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def _growing(repetition: int) -> float:
    """Seconds before a repetition, which double up to a minute. They vary, so that machines do not ask together."""
    return min(LONGEST_WAIT, 2.0 ** (repetition - 1)) * random.uniform(0.5, 1)
