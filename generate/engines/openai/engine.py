"""Any OpenAI-compatible server: OpenAI, DeepSeek, `vllm serve`, llama.cpp's.

models = ["openai:gpt-4o-mini"]

[options.openai]
base_url = "http://localhost:8000/v1"
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self

import openai
from httpx2 import Limits, Response  # openai's own HTTP client
from tenacity import AsyncRetrying

from polyculture.generate.engines.base import Completion, ModelSpec, Request
from polyculture.generate.engines.openai.async_runner import Background
from polyculture.generate.engines.openai.chat import PATH, ChatApi, ChatCall
from polyculture.generate.engines.openai.faults import RequestError
from polyculture.generate.engines.openai.limiter import Limiter
from polyculture.generate.engines.openai.retries import retry_policy

_TOO_MANY = 429


class OpenAIEngine:
    """A model behind an OpenAI-compatible server: one call per sample, many calls in flight."""

    def __init__(
        self,
        spec: ModelSpec,
        *,
        key: str | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._api = ChatApi(spec, key)
        self.spec, self.options = spec, self._api.options
        self._answered = False
        self._retrying = AsyncRetrying(**retry_policy(self.options.max_retries), sleep=sleep)

    def __enter__(self) -> Self:
        self._background = Background(f"engine {self.spec.model}")
        self._background.run(self._connect())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._background.run(self._disconnect())
        self._background.close()

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields an answer or an error per request and seed, in the order of arrival.

        Transient faults are retried with backoff. Raises `EngineError` where every request would fail alike: no server,
        a wrong key, an unknown model, a web page.
        """
        asks = (ask for request in requests for ask in self._api.asks(request))
        return self._background.map_unordered(self._answer, asks, self.options.concurrency)

    async def _connect(self) -> None:
        self._limiter = Limiter(self.options.concurrency)
        limits = Limits(max_connections=self.options.concurrency)
        # Requests to a server on this machine bypass the environment's proxy.
        http = openai.DefaultAioHttpClient(trust_env=not self._api.local, timeout=self.options.timeout, limits=limits)
        self._client = openai.AsyncOpenAI(
            api_key=self._api.key or "none",
            base_url=self._api.address,
            max_retries=0,
            http_client=http,
            default_headers=self._api.headers,
        )

    async def _disconnect(self) -> None:
        await self._client.close()

    async def _answer(self, ask: ChatCall) -> Completion:
        try:
            return await self._retrying.copy()(self._call, ask)
        except RequestError as fault:
            if fault.unreachable:
                raise self._api.server.unreachable(str(fault)) from fault
            return Completion(
                ask.request_id,
                ask.seed,
                None,
                finish_reason=fault.finish_reason,
                error=str(fault),
                retryable=fault.retryable,
            )

    async def _call(self, ask: ChatCall) -> Completion:
        answer = self._api.read(await self._send(PATH, ask.whole))
        self._answered = True
        return self._api.completion(ask.request_id, ask.seed, answer)

    async def _send(self, path: str, body: Mapping[str, Any]) -> bytes:
        """The server's answer to one call; its outcome goes to the limiter."""
        permit = await self._limiter.acquire()
        try:
            # Bypasses the SDK's models of request and answer, whose validation costs more than the call itself.
            response = await self._client.post(path, cast_to=Response, body=body)
        except openai.APIError as error:
            if getattr(error, "status_code", None) == _TOO_MANY:
                self._limiter.refused(permit)
            else:
                self._limiter.failed()
            raise self._explain(error, path) from error
        except BaseException:
            self._limiter.failed()
            raise
        self._limiter.succeeded(permit)
        return response.content

    def _explain(self, error: openai.APIError, path: str) -> Exception:
        """Classifies an error. Before the first answer, an error that affects every request ends the work."""
        fault = self._api.server.explain(error)
        if isinstance(fault, RequestError) and not self._answered:
            if fault.unreachable:
                return self._api.server.unreachable(str(fault))
            if fault.status in (404, 405) and path == PATH:  # of the other path it may be all that is missing
                return self._api.server.unknown_model(str(fault))
        return fault
