"""Prompt log-probabilities from an OpenAI-compatible server: one request per continuation, many in flight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Self

from polyculture.cache.model_facts import DIRECT
from polyculture.generate.engines.base import Scored, ScoreRequest
from polyculture.generate.engines.metering import Bill, Meter
from polyculture.generate.engines.openai.attempt import Attempt, NotAdmittedError, UselessAnswerError
from polyculture.generate.engines.openai.engine import OpenAIEngine
from polyculture.generate.engines.openai.faults import RequestError
from polyculture.generate.engines.openai.prompt_logprobs import (
    PATH,
    PROBE,
    PromptLogprobs,
    PromptLogprobsApi,
    no_logprobs,
)
from polyculture.generate.engines.token_boundary import TokenisedPair

NO_SUCH_PATH = "not found"  # in the table of faults


class OpenAIScorer(OpenAIEngine):
    """A model behind a server that returns prompt log-probabilities, as `vllm serve` does."""

    def __enter__(self) -> Self:
        self._prompts = PromptLogprobsApi(self.spec, self.options)
        self._probed = False
        return super().__enter__()

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        """Yields a row per continuation, in the order in which they finish, with one request each.

        Raises `EngineError` where the first request returns no log-probabilities, or shows other tokens.
        """
        source = iter(requests)
        first = next(source, None)
        if first is None:
            return iter(())
        if not self._probed and not self._background.run(self._probe(first.meter)):
            return (_not_asked(first, index) for index in range(len(first.continuations)))
        self._probed = True
        pairs = self._prompts.pairs(chain((first,), source))
        return self._background.map_unordered(self._score, pairs, self.options.concurrency)

    async def _probe(self, meter: Meter | None) -> bool:
        """Whether the server could be tried; False where that cannot be paid."""
        prompts = self._prompts
        ids = prompts.probe
        try:
            text: PromptLogprobs = await self._retrying.copy()(self._read, meter, prompts.body(PROBE), None)
            numbers: PromptLogprobs = await self._retrying.copy()(self._read, meter, prompts.body(ids), len(ids))
        except NotAdmittedError:
            return False
        except RequestError as fault:
            if fault.unreachable:
                raise self._api.server.unreachable(str(fault)) from fault
            if not fault.kind.final and fault.kind.name != NO_SUCH_PATH:
                raise self._api.server.ended(fault) from fault
            raise no_logprobs(self.spec, self._api.server.url, str(fault)) from fault
        prompts.compare(text.values, numbers.values)
        return True

    async def _score(self, asked: tuple[ScoreRequest, TokenisedPair]) -> Scored:
        request, pair = asked
        if pair.error is not None:
            return Scored(request.request_id, pair.index, error=pair.error)
        ids = pair.ids[: pair.end]
        try:
            logprobs: PromptLogprobs = await self._retrying.copy()(
                self._read, request.meter, self._prompts.body(ids), len(ids)
            )
        except NotAdmittedError:
            return _not_asked(request, pair.index)
        except RequestError as fault:
            if fault.unreachable:
                raise self._api.server.unreachable(str(fault)) from fault
            return _failed(request, pair, fault)
        return self._prompts.scored(request, pair, logprobs)

    async def _read(self, meter: Meter | None, body: Mapping[str, Any], tokens: int | None) -> PromptLogprobs:
        async with Attempt(meter, self._limiter) as attempt:
            return attempt.billed(self._prompts.read(await self._send(PATH, body), tokens))


def _not_asked(request: ScoreRequest, index: int) -> Scored:
    return Scored(request.request_id, index, error="not asked", retryable=True, asked=False)


def _failed(request: ScoreRequest, pair: TokenisedPair, fault: RequestError) -> Scored:
    """A row without a score, with what the last attempt cost."""
    bill = fault.bill if isinstance(fault, UselessAnswerError) else Bill()
    return Scored(
        request.request_id,
        pair.index,
        boundary=pair.boundary,
        error=str(fault),
        retryable=fault.retryable or getattr(fault, "later", False),
        prompt_tokens=bill.prompt_tokens,
        completion_tokens=bill.completion_tokens,
        purchase=None if bill.unknown else DIRECT,
    )
