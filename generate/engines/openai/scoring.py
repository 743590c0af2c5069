"""Prompt log-probabilities from an OpenAI-compatible server: one request per continuation, many in flight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Self

from polyculture.generate.engines.base import Scored, ScoreRequest
from polyculture.generate.engines.openai.engine import OpenAIEngine
from polyculture.generate.engines.openai.faults import RequestError
from polyculture.generate.engines.openai.prompt_logprobs import PATH, PROBE, PromptLogprobsApi, no_logprobs
from polyculture.generate.engines.token_boundary import TokenisedPair


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
        if not self._probed:
            self._background.run(self._probe())
            self._probed = True
        return self._background.map_unordered(
            self._score, self._prompts.pairs(iter(requests)), self.options.concurrency
        )

    async def _probe(self) -> None:
        prompts = self._prompts
        try:
            text = prompts.read(await self._retrying.copy()(self._send, PATH, prompts.body(PROBE)))
            ids = prompts.probe
            numbers = prompts.read(await self._retrying.copy()(self._send, PATH, prompts.body(ids)), len(ids))
        except RequestError as fault:
            if fault.unreachable:
                raise self._api.server.unreachable(str(fault)) from fault
            raise no_logprobs(self.spec, self._api.server.url, str(fault)) from fault
        prompts.compare(text.values, numbers.values)
        self._answered = True

    async def _score(self, asked: tuple[ScoreRequest, TokenisedPair]) -> Scored:
        request, pair = asked
        if pair.error is not None:
            return Scored(request.request_id, pair.index, error=pair.error)
        try:
            return await self._retrying.copy()(self._read_score, request, pair)
        except RequestError as fault:
            if fault.unreachable:
                raise self._api.server.unreachable(str(fault)) from fault
            error, retryable = str(fault), fault.retryable
            return Scored(request.request_id, pair.index, boundary=pair.boundary, error=error, retryable=retryable)

    async def _read_score(self, request: ScoreRequest, pair: TokenisedPair) -> Scored:
        ids = pair.ids[: pair.end]
        found = self._prompts.read(await self._send(PATH, self._prompts.body(ids)), len(ids))
        return self._prompts.scored(request, pair, found)
