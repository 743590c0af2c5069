"""The HTTP client of the Wikidata services, for synchronous callers: whole answers, within a deadline and a size.

A timeout is per read: a byte a second would hold a caller for ever. Requests therefore run in an event loop in a thread
of their own, where they can be cut off as a whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from threading import Thread
from typing import Any, cast

import httpx

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
        self._deadline = deadline
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="wikidata", daemon=True)
        self._thread.start()
        with environment_faults():
            self._client = httpx.AsyncClient(
                verify=certificates(httpx.create_ssl_context),
                headers={**headers, "Accept-Encoding": ACCEPTED},
                limits=httpx.Limits(max_connections=1),
                timeout=timeout,
                follow_redirects=True,
                max_redirects=_REDIRECTS,
            )
        most = int(megabytes * MEBIBYTE)
        # httpx finds a transport per address: the environment's proxies are transports of their own.
        self._client._transport = _Bounded(self._client._transport, most)
        for pattern, transport in self._client._mounts.items():
            self._client._mounts[pattern] = None if transport is None else _Bounded(transport, most)

    def request(self, method: str, address: str, **options: Any) -> httpx.Response:
        """The whole answer; `options` are those of `httpx.AsyncClient.request`."""
        future = asyncio.run_coroutine_threadsafe(self._request(method, address, options), self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def close(self) -> None:
        """Closes the connections. No request may be under way."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._client.aclose(), self._loop).result()
        asyncio.run_coroutine_threadsafe(self._loop.shutdown_default_executor(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _request(self, method: str, address: str, options: Mapping[str, Any]) -> httpx.Response:
        try:
            async with asyncio.timeout(self._deadline):
                return await self._client.request(method, address, **options)
        except TimeoutError as fault:
            raise httpx.ReadTimeout(f"no whole answer within {self._deadline:g} seconds") from fault


class _Bounded(httpx.AsyncBaseTransport):
    """Hands on answers whose bodies are decompressed and bounded."""

    def __init__(self, transport: httpx.AsyncBaseTransport, most: int) -> None:
        self._transport, self._most = transport, most

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._transport.handle_async_request(request)
        stream = cast("httpx.AsyncByteStream", response.stream)
        body = _Body(stream, response.headers.get("content-encoding", ""), self._most)
        headers = httpx.Headers([pair for pair in response.headers.multi_items() if pair[0] not in _OF_THE_BODY])
        return httpx.Response(response.status_code, headers=headers, stream=body, extensions=response.extensions)

    async def aclose(self) -> None:
        await self._transport.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream, encoding: str, most: int) -> None:
        self._stream, self._encoding, self._most = stream, encoding, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in bounded(self._stream, self._encoding, self._most):
                yield piece
        except EncodingError as fault:
            raise httpx.DecodingError(str(fault)) from fault

    async def aclose(self) -> None:
        await self._stream.aclose()
