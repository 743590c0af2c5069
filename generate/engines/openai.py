"""Any OpenAI-compatible server: OpenAI, DeepSeek, `vllm serve`, llama.cpp's.

    models = ["openai:gpt-4o-mini"]

    [options.openai]
    base_url = "http://localhost:8000/v1"

API: https://platform.openai.com/docs/api-reference/chat/create
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import openai
from httpx2 import Limits, Response  # openai's own HTTP client
from pydantic import ValidationError
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    stop_any,
    wait_random_exponential,
)
from tenacity.stop import stop_base

from cache.errors import EngineError
from generate.engines.background import Background, Limiter
from generate.engines.base import Capabilities, Completion, ModelSpec, Request, Scored, ScoreRequest, cannot_score
from generate.engines.chat_answer import ChatAnswer, Usage
from generate.engines.faults import RequestError, Server, looks_like_html
from generate.engines.options import OpenAIOptions, read_options

_PATH = "/chat/completions"
LONGEST_WAIT = 60.0  # seconds between two attempts, unless the server asks for more
LONGEST_RETRY_AFTER = 600.0  # seconds that a server may ask to wait; beyond it the request is left to a later run


@dataclass(frozen=True, slots=True)
class _Ask:
    """One call: a request and one of its seeds."""

    request_id: str
    seed: int
    body: Mapping[str, Any]


class OpenAIEngine:
    """A model behind an OpenAI-compatible server, asked once per sample with many requests in flight."""

    def __init__(
        self,
        spec: ModelSpec,
        *,
        key: str | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.spec = spec
        self.options = read_options(OpenAIOptions, spec)
        host = urlsplit(self.options.base_url).hostname or ""
        self._official = host == "openai.com" or host.endswith(".openai.com")
        self._local = host in ("localhost", "127.0.0.1", "::1")
        self.capabilities = Capabilities(
            schema=not host.endswith("deepseek.com"),  # which knows JSON, but no schema
            seed=not self._official,  # which only tries its best
            top_k=not self._official,
            score=False,
        )
        self._key = self._read_key() if key is None else key
        self._server = Server(self.options.base_url, spec.name, self._key_remedy(), self._key)
        self._answered = False
        self._retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, RequestError) and error.retryable),
            stop=stop_any(stop_after_attempt(self.options.max_retries + 1), _AskedForTooLong()),
            wait=_wait,
            sleep=sleep,
            reraise=True,
        )

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
        """Yields an answer, or the reason why there is none, per request and seed, as they come.

        A fault that may pass is retried with backoff. Raises `EngineError` where every request would fail alike:
        nobody at the address, a wrong key, an unknown model, a web page.
        """
        asks = (ask for request in requests for ask in self._asks(request))
        return self._background.map_unordered(self._answer, asks, self.options.concurrency)

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:  # noqa: ARG002
        """Chat completions give no log-probabilities of a given text: raises `EngineError`."""
        raise cannot_score(self.spec)

    def _read_key(self) -> str:
        """The key, or nothing where a server may do without. A local one is not shown a key made for another."""
        variable = self.options.api_key_env or (None if self._local else "OPENAI_API_KEY")
        key = os.environ.get(variable, "").strip() if variable else ""
        if not key and (self._official or self.options.api_key_env):
            what = f"no API key: the environment variable {variable} is not set"
            raise EngineError(what, where=self.spec.model, remedy=f"Set it: export {variable}=...")
        if not key.isascii():
            raise EngineError(f"the key in {variable} holds a character that no key has", where=self.spec.model)
        return key

    def _key_remedy(self) -> str:
        if self._local and self.options.api_key_env is None:
            return "Name the environment variable that holds its key in the option api_key_env."
        variable = self.options.api_key_env or "OPENAI_API_KEY"
        return f"Set the environment variable {variable} to a key that is valid there."

    async def _connect(self) -> None:
        self._limiter = Limiter(self.options.concurrency)
        limits = Limits(max_connections=self.options.concurrency)
        # A proxy of the environment is for the world outside, not for a server on this machine.
        http = openai.DefaultAioHttpClient(trust_env=not self._local, timeout=self.options.timeout, limits=limits)
        self._client = openai.AsyncOpenAI(
            api_key=self._key or "none", base_url=self.options.base_url, max_retries=0, http_client=http
        )

    async def _disconnect(self) -> None:
        await self._client.close()

    def _asks(self, request: Request) -> Iterator[_Ask]:
        body = self._body(request)
        return (_Ask(request.request_id, seed, body) for seed in request.seeds)

    def _body(self, request: Request) -> dict[str, Any]:
        decoding = request.decoding
        body: dict[str, Any] = {
            "model": self.spec.name,
            "messages": [{"role": turn.role, "content": turn.content} for turn in request.messages],
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            # OpenAI's newer models know only the longer name, other servers often only the older one.
            "max_completion_tokens" if self._official else "max_tokens": decoding.max_tokens,
        }
        if decoding.top_k is not None and self.capabilities.top_k:
            body["top_k"] = decoding.top_k
        if decoding.schema is not None and self.capabilities.schema:
            schema = {"name": "answer", "strict": True, "schema": dict(decoding.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif decoding.schema is not None:
            body["response_format"] = {"type": "json_object"}
        return {**body, **self.options.extra_body}

    async def _answer(self, ask: _Ask) -> Completion:
        try:
            return await self._retrying.copy()(self._call, ask)
        except RequestError as fault:
            if fault.unreachable:
                raise self._server.unreachable(str(fault)) from fault
            return Completion(ask.request_id, ask.seed, None, error=str(fault), retryable=fault.retryable)

    async def _call(self, ask: _Ask) -> Completion:
        try:
            async with self._limiter:
                # Past the SDK's models of request and answer, whose checks cost more than the call itself.
                response = await self._client.post(_PATH, cast_to=Response, body={**ask.body, "seed": ask.seed})
        except openai.APIError as error:
            raise self._explain(error) from error
        answer = self._read(response.content)
        self._answered = True
        choice, usage = answer.choices[0], answer.usage or Usage()
        text, finish_reason = choice.message.content, choice.finish_reason
        reason = f"no text: {choice.message.refusal or f'finish reason {finish_reason}'}"
        return Completion(
            ask.request_id,
            ask.seed,
            text,
            finish_reason=finish_reason,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            model_version=" ".join(filter(None, (answer.model, answer.system_fingerprint))) or None,
            error=None if text is not None else self._server.in_short(reason),
        )

    def _explain(self, error: openai.APIError) -> Exception:
        """The fault that `error` is; before the first answer, one that every request would meet ends the work."""
        fault = self._server.explain(error)
        if isinstance(fault, RequestError) and not self._answered:
            if fault.unreachable:
                return self._server.unreachable(str(fault))
            if fault.status in (404, 405):
                return self._server.unknown_model(str(fault))
        return fault

    def _read(self, content: bytes) -> ChatAnswer:
        try:
            return ChatAnswer.model_validate_json(content)
        except ValidationError as error:
            if looks_like_html(content):
                raise self._server.not_an_api() from error
            words = self._server.in_short(content.decode("utf-8", "replace"))
            raise RequestError(f"the answer is no whole chat completion: {words}", retryable=True) from error


def _wait(state: RetryCallState) -> float:
    """As long as the server asks; without a wish of its own, at random from a span that doubles."""
    asked = _retry_after(state)
    return asked if asked is not None else wait_random_exponential(multiplier=1, max=LONGEST_WAIT)(state)


class _AskedForTooLong(stop_base):
    """Stops where the server asks for a longer wait than a run should bear."""

    def __call__(self, retry_state: RetryCallState) -> bool:
        return (_retry_after(retry_state) or 0.0) > LONGEST_RETRY_AFTER


def _retry_after(state: RetryCallState) -> float | None:
    error = state.outcome.exception() if state.outcome else None
    return error.retry_after if isinstance(error, RequestError) else None
