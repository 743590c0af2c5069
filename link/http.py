"""The HTTP client of the Wikidata services, for synchronous callers: whole answers, within a deadline and a size.

A timeout is per read: a byte a second would hold a caller for ever. Requests therefore run in an event loop, where they
can be cut off as a whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx

from polyculture.cache.async_runner import Background
from polyculture.cache.http_answers import (
    ACCEPTED,
    MEBIBYTE,
    EncodingError,
    TooLargeError,
    bounded,
    certificates,
    environment_faults,
)

__all__ = ["BoundedHttp", "TooLargeError"]

_REDIRECTS = 5
_OF_THE_BODY = ("content-encoding", "content-length", "transfer-encoding")


class BoundedHttp:
    """Sends requests over one connection. `timeout`: seconds without a byte; `deadline`: seconds for a whole answer.

    Raises httpx's errors, `httpx.ReadTimeout` at the deadline, and `TooLargeError` beyond `megabytes`.
    """

    def __init__(self, headers: Mapping[str, str], *, timeout: float, deadline: float, megabytes: float) -> None:
        self._deadline, self._most = deadline, int(megabytes * MEBIBYTE)
        self._background = Background("wikidata")
        with environment_faults():
            self._client = httpx.AsyncClient(
                verify=certificates(httpx.create_ssl_context),
                headers={**headers, "Accept-Encoding": ACCEPTED},
                limits=httpx.Limits(max_connections=1),
                timeout=timeout,
            )

    def request(self, method: str, address: str, **options: Any) -> httpx.Response:
        """The whole answer; `options` are those of `httpx.AsyncClient.build_request`."""
        return self._background.run(self._answer(self._client.build_request(method, address, **options)))

    def close(self) -> None:
        """Closes the connections. No request may be under way."""
        self._background.run(self._client.aclose())
        self._background.close()

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        try:
            async with asyncio.timeout(self._deadline):
                for _ in range(1 + _REDIRECTS):
                    response = await self._whole(request)
                    if response.next_request is None:
                        return response
                    request = response.next_request
        except TimeoutError as fault:
            raise httpx.ReadTimeout(f"no whole answer within {self._deadline:g} seconds") from fault
        raise httpx.TooManyRedirects(f"more than {_REDIRECTS} redirects", request=request)

    async def _whole(self, request: httpx.Request) -> httpx.Response:
        """One answer, read here: httpx would decompress whatever its header says, to any size."""
        response = await self._client.send(request, stream=True)
        try:
            encoding = response.headers.get("content-encoding", "")
            body = b"".join([piece async for piece in bounded(response.aiter_raw(), encoding, self._most)])
        except EncodingError as fault:
            raise httpx.DecodingError(str(fault), request=request) from fault
        finally:
            await response.aclose()
        headers = [pair for pair in response.headers.multi_items() if pair[0] not in _OF_THE_BODY]
        whole = httpx.Response(response.status_code, headers=headers, content=body, request=request)
        whole.next_request = response.next_request
        return whole
