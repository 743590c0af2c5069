"""The HTTP client of the openai engine: of an answer no more is read than its bound."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import cast

import aiohttp
import openai
from httpx2 import (
    AsyncBaseTransport,
    AsyncByteStream,
    AsyncClient,
    Headers,
    Limits,
    RemoteProtocolError,
    Request,
    Response,
    Timeout,
    create_ssl_context,
)

from polyculture.cache.network.http_answers import (
    ACCEPTED,
    MEBIBYTE,
    EncodingError,
    TooLargeError,
    bounded,
    certificates,
    environment_faults,
)
from polyculture.generate.engines.openai.faults import RequestError

MOST_BYTES = 16 * MEBIBYTE  # of an answer, decompressed
_CONNECT = 60.0  # seconds until a server takes a connection
_OF_THE_BODY = ("content-encoding", "content-length", "transfer-encoding")


def open_client(*, local: bool, connections: int, most: int | None) -> AsyncClient:
    """A client for `AsyncOpenAI`, on aiohttp. `most` is the size of a body in bytes.

    It waits for an answer for ever, as aiohttp 3.14.5 does after a chunk that is none: whoever asks sets a deadline.

    A request to a server on this machine bypasses the environment's proxy. None is sent on elsewhere: prompts go to the
    address that the user wrote, and its answers are that server's.
    """
    timeout = Timeout(None, connect=_CONNECT)
    with environment_faults():
        client = openai.DefaultAioHttpClient(
            verify=certificates(create_ssl_context, trust_env=not local),
            trust_env=not local,
            timeout=timeout,
            limits=Limits(max_connections=connections),
            follow_redirects=False,
        )
    # A client finds a transport per address, those of the environment's proxies among them: all of them are bounded.
    return AsyncClient(
        transport=_BoundedTransport(client, most or MOST_BYTES),
        headers={"Accept-Encoding": ACCEPTED},
        timeout=timeout,
        trust_env=False,
        follow_redirects=False,
    )


class _BoundedTransport(AsyncBaseTransport):
    """Hands on a client's answers: bodies are decompressed, bounded, and read as UTF-8 whatever their header says."""

    def __init__(self, client: AsyncClient, most: int) -> None:
        self._client, self._most = client, most

    async def handle_async_request(self, request: Request) -> Response:
        with _as_httpx():
            response = await self._client.send(request, stream=True)
        stream = cast("AsyncByteStream", response.stream)
        body = _Body(stream, response.headers.get("content-encoding", ""), self._most)
        headers = Headers([pair for pair in response.headers.multi_items() if pair[0] not in _OF_THE_BODY])
        if "content-type" in headers:
            headers["content-type"] = headers["content-type"].partition(";")[0]
        return Response(response.status_code, headers=headers, stream=body, extensions=response.extensions)

    async def aclose(self) -> None:
        await self._client.aclose()


@contextmanager
def _as_httpx() -> Iterator[None]:
    """Bytes that are no HTTP, as the client knows them: its adapter hands on some of aiohttp's own errors."""
    try:
        yield
    except (aiohttp.ClientError, ValueError, LookupError) as fault:
        raise RemoteProtocolError(str(fault) or type(fault).__name__) from fault


class _Body(AsyncByteStream):
    def __init__(self, stream: AsyncByteStream, encoding: str, most: int) -> None:
        self._stream, self._encoding, self._most = stream, encoding, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            with _as_httpx():
                async for piece in bounded(self._stream, self._encoding, self._most):
                    yield piece
        except (TooLargeError, EncodingError) as fault:
            raise RequestError(str(fault), retryable=False, later=True) from fault

    async def aclose(self) -> None:
        await self._stream.aclose()
