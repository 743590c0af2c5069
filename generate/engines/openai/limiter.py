"""Limits the requests in flight to the number that the server accepts, by adaptive search.

The rule is TCP's (Jacobson 1988, Congestion avoidance and control). From `START` the limit doubles with every round
trip until the server rejects a request (HTTP 429). Then it is halved, and grows by one per round trip. Simultaneous
rejections count once: requests sent before the last cut do not cut again. Where the server names the time of the next
try, nothing is sent until then. Other faults leave the limit unchanged; but from a fault to the next answer few
requests are sent, since all of them may meet it.
"""

from __future__ import annotations

import asyncio
from collections import deque

START = 16  # requests in flight at first: within what every provider's smallest account bears
_IN_DOUBT = 8  # requests in flight from a fault to the next answer


class Limiter:
    """Issues permits in order, and adapts the limit to their outcome.

    Every permit is returned once, by `succeeded`, `refused`, `failed` or `unused`. For use within one event loop.
    """

    def __init__(self, most: int, start: int = START) -> None:
        self._most = most
        self._limit = float(min(start, most))
        self._cuts = self._in_flight = 0
        self._doubt = False  # the last request to end failed
        self._paused = 0.0  # until when the server asked to wait, by the loop's clock
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int:
        """The current limit of requests in flight."""
        return int(self._limit)

    @property
    def _room(self) -> int:
        return min(self.limit, _IN_DOUBT) if self._doubt else self.limit

    async def acquire(self) -> int:
        """Waits until one more request may be sent. The permit is the number of cuts of the limit before it."""
        if self._in_flight >= self._room or self._waiting:
            place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                if place.done() and not place.cancelled():
                    self._give_back()  # the permit had come already
                raise
        else:
            self._in_flight += 1
        await self._wait_for_the_server()
        return self._cuts

    def succeeded(self, permit: int) -> None:
        """An answer arrived. The limit grows if it was the bottleneck."""
        if permit == self._cuts and self._in_flight >= self.limit:
            self._limit = min(self._most, self._limit + (1 / self._limit if self._cuts else 1))
        self._doubt = False
        self._give_back()

    def refused(self, permit: int, wait: float = 0.0) -> None:
        """The server rejected the request as one too many (HTTP 429), and asks to wait some seconds."""
        if permit == self._cuts:
            self._limit = max(1.0, self._limit / 2)
            self._cuts += 1
        self._paused = max(self._paused, asyncio.get_running_loop().time() + wait)
        self._give_back()

    def failed(self) -> None:
        """The request failed for another reason."""
        self._doubt = True
        self._give_back()

    def unused(self) -> None:
        """Nothing was sent."""
        self._give_back()

    async def _wait_for_the_server(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while (left := self._paused - loop.time()) > 0:
                await asyncio.sleep(left)
        except asyncio.CancelledError:
            self._give_back()
            raise

    def _give_back(self) -> None:
        self._in_flight -= 1
        while self._waiting and self._in_flight < self._room:
            place = self._waiting.popleft()
            if not place.done():
                self._in_flight += 1
                place.set_result(None)
