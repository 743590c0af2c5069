"""Any OpenAI-compatible server: OpenAI, DeepSeek, `vllm serve`, llama.cpp's.

models = ["openai:gpt-6-luna"]

[options.openai]
base_url = "http://localhost:8000/v1"
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Self, TypeVar

import openai
from httpx2 import Response  # openai's own HTTP client

from polyculture.cache.network.async_runner import Background
from polyculture.cache.work.faults import StopLimits
from polyculture.cache.work.outage import Outage
from polyculture.generate.engines.answer import NO_ANSWER, completed
from polyculture.generate.engines.base import Completion, ModelSpec, Request
from polyculture.generate.engines.models import Closing
from polyculture.generate.engines.openai.attempt import Attempt, NotAdmittedError, too_late
from polyculture.generate.engines.openai.chat import PATH, ChatApi, ChatCall
from polyculture.generate.engines.openai.faults import RequestError
from polyculture.generate.engines.openai.limiter import Limiter

Result = TypeVar("Result")


class OpenAIEngine(Closing):
    """A model behind an OpenAI-compatible server: one call per sample, many calls in flight."""

    metered = True  # it asks a request's meter before each attempt

    def __init__(
        self,
        spec: ModelSpec,
        *,
        api: ChatApi | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._api = api or ChatApi(spec)
        self.spec, self.options = spec, self._api.options
        self.template = ReasoningTemplate()
        self._answered = False  # has the server answered any request?
        options = self.options
        limits = StopLimits(options.outage_faults, options.outage_minutes)
        self._outage = Outage(limits, options.max_retries, sleep, name=spec.model)

    def __enter__(self) -> Self:
        self._background = Background(f"engine {self.spec.model}")
        self._background.run(self._connect())
        return self

    def close(self) -> None:
        self._background.run(self._disconnect())
        self._background.close()

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields an answer or an error per request and seed, in the order of arrival.

        Faults that may pass are repeated with growing waits (`Outage`). Raises `SystematicFaultError` where there is no
        server.
        """
        self._outage.begin()
        asks = (ask for request in requests for ask in self._api.asks(request))
        answers = self._background.map_unordered(self._answer, asks, self.options.concurrency)
        return self.template.settled(answers, self.options.concurrency)

    async def _connect(self) -> None:
        self._limiter = Limiter(self.options.concurrency)
        self._client = self._api.connect(self.options.concurrency)

    async def _disconnect(self) -> None:
        await self._client.close()

    async def _answer(self, ask: ChatCall) -> Completion:
        try:
            return await self._patiently(self._call, ask)
        except NotAdmittedError:
            return Completion(ask.request_id, ask.seed, None, error="not asked", retryable=True, asked=False)
        except RequestError as fault:
            return self._api.failure(ask, fault)

    async def _patiently(self, call: Callable[..., Awaitable[Result]], *arguments: Any) -> Result:
        """A call's result, with retries. Raises `RequestError`, and `SystematicFaultError` where there is no server.

        `NotAdmittedError` is raised where nothing was sent: a request that was sent and then not paid for again failed.
        """
        last: RequestError | None = None
        tries, request = 0, object()
        try:
            await self._outage.clear(request)
            while True:
                try:
                    result = await call(*arguments)
                except NotAdmittedError:
                    if last is None:
                        raise
                    raise last from None
                except RequestError as fault:
                    last, tries = fault, tries + 1
                    if not await self._outage.passes(request, fault, tries):
                        raise
                else:
                    self._outage.answer()
                    return result
        except RequestError as fault:
            if fault.unreachable:
                raise self._api.server.unreachable(str(fault)) from fault
            raise
        finally:
            self._outage.leave(request)

    async def _call(self, ask: ChatCall) -> Completion:
        async with Attempt(ask.meter, self._limiter) as attempt:
            answer = attempt.billed(self._api.parse(await self._send(PATH, ask.whole)))
        self._answered = True
        return completed(ask.request_id, ask.seed, answer)

    async def _send(self, path: str, body: Mapping[str, Any]) -> bytes:
        """The server's answer to one call."""
        try:
            async with asyncio.timeout(self.options.deadline):
                # Bypasses the SDK's models of request and answer, whose validation costs more than the call itself.
                response = await self._client.post(path, cast_to=Response, body=body)
        except openai.APIError as error:
            raise self._explain(error) from error
        except TimeoutError as fault:
            raise too_late(self.options.deadline) from fault
        return response.content

    def _explain(self, error: openai.APIError) -> Exception:
        """The fault of one request. Nobody at the address before the first answer ends the work."""
        fault = self._api.server.explain(error)
        if fault.unreachable and not self._answered:
            return self._api.server.unreachable(str(fault))
        return fault


class ReasoningTemplate:
    """What is known of one model's template: `opens` is None until an answer shows it."""

    def __init__(self) -> None:
        self.opens: bool | None = None

    def settled(self, answers: Iterator[Completion], most: int) -> Iterator[Completion]:
        """The answers. Cut ones without a tag wait, at most `most` of them, until a whole one shows what they are: its
        reasoning was closed and never opened, or it has none."""
        waiting: list[Completion] = []
        for answer in answers:
            self._learn(answer)
            if self.opens is None and _is_doubtful(answer) and len(waiting) < most:
                waiting.append(answer)
                continue
            if self.opens is not None:
                yield from map(self._settle, waiting)
                waiting.clear()
            yield self._settle(answer)
        yield from map(self._settle, waiting)

    def _learn(self, answer: Completion) -> None:
        if answer.prompt_opened:
            self.opens = True
        elif self.opens is None and answer.ending == "whole" and answer.text and not answer.reasoning:
            self.opens = False

    def _settle(self, answer: Completion) -> Completion:
        if not (self.opens and _is_doubtful(answer)):
            return answer
        error = f"{NO_ANSWER}: finish reason {answer.finish_reason}"
        return replace(answer, text=None, error=error, reasoning=answer.text, raw=answer.as_it_came)


def _is_doubtful(answer: Completion) -> bool:
    return answer.ending == "cut" and bool(answer.text) and not answer.reasoning
