"""Prompt log-probabilities from an OpenAI-compatible server, by its API of plain completions.

A text is sent as token ids and echoed with the log-probability of each, as `vllm serve` does. The tokenizer that the
options name tokenizes it here, so that the token boundary is the same in all engines that score.

API: https://platform.openai.com/docs/api-reference/completions/create
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from polyculture.cache.credentials import hide_keys
from polyculture.cache.errors import EngineError
from polyculture.cache.prices import DIRECT
from polyculture.generate.engines.base import ModelSpec, Scored, ScoreRequest, TokenScore
from polyculture.generate.engines.openai.faults import RequestError
from polyculture.generate.engines.openai.options import OpenAIOptions
from polyculture.generate.engines.token_boundary import TokenisedPair, split_pairs

PATH = "/completions"
# The first request to a server, as a text and as token ids: where the two differ, the server's tokenizer is another.
PROBE = "She drank tea in the garden. 彼女は庭でお茶を飲んだ。"
_WRITTEN = 1  # tokens that a server is asked to write behind a text: not all take none
_APART = 0.5  # nats; a server that reads in 16 bits may round twice the same in two ways


class _Logprobs(BaseModel):
    token_logprobs: list[float | None] = []


class _Choice(BaseModel):
    logprobs: _Logprobs | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Answer(BaseModel):
    choices: Annotated[list[_Choice], Field(min_length=1)]
    model: str | None = None
    usage: _Usage | None = None


@dataclass(frozen=True, slots=True)
class PromptLogprobs:
    """The log-probability of each token but the first, which has none, and the server's own description."""

    values: list[float | None]
    model: str | None
    prompt_tokens: int
    completion_tokens: int


class PromptLogprobsApi:
    """Builds requests for prompt log-probabilities, and parses their answers."""

    def __init__(self, spec: ModelSpec, options: OpenAIOptions) -> None:
        self._spec = spec
        self._tokenizer: Any = _load_tokenizer(spec, str(options.tokenizer))
        self._bos: int | None = self._tokenizer.bos_token_id if options.bos else None

    def pairs(self, requests: Iterator[ScoreRequest]) -> Iterator[tuple[ScoreRequest, TokenisedPair]]:
        """Every continuation of every request, as tokens."""
        for request in requests:
            for pair in split_pairs(self._tokenizer, request, bos=self._bos):
                yield request, pair

    def body(self, prompt: str | Sequence[int]) -> dict[str, Any]:
        """The request body for one text."""
        asked = prompt if isinstance(prompt, str) else list(prompt)
        return {"model": self._spec.name, "prompt": asked, "echo": True, "logprobs": 1, "max_tokens": _WRITTEN}

    def read(self, content: bytes, tokens: int | None = None) -> PromptLogprobs:
        """Parse the server's answer for a text. Where the server reports no token count, the sent tokens are counted.

        Raises `RequestError` where the answer is no echo, or has another number of tokens than were sent. It also
        raises where all values are 0.0, as from a server that does not compute them: no model is certain of every
        token.
        """
        try:
            answer = _Answer.model_validate_json(content)
        except ValidationError as fault:
            raise RequestError("the answer is no whole completion", retryable=True) from fault
        logprobs = answer.choices[0].logprobs
        values = logprobs.token_logprobs[:-1] if logprobs else []  # the last is of what was written
        if len(values) < 2 or (tokens is not None and len(values) != tokens):
            raise RequestError("the answer does not echo the text with its log-probabilities", retryable=False)
        if not any(value is not None and value < 0 for value in values):
            raise RequestError("the answer has no log-probability below 0", retryable=False)
        usage = answer.usage or _Usage()
        model = hide_keys(answer.model) if answer.model else None
        read, written = usage.prompt_tokens, usage.completion_tokens
        return PromptLogprobs(
            values,
            model,
            len(values) if read is None else read,
            _WRITTEN if written is None else written,
        )

    def scored(self, request: ScoreRequest, pair: TokenisedPair, server: PromptLogprobs) -> Scored:
        """A row of the log-probabilities of a whole text."""
        bought = Scored(
            request.request_id,
            pair.index,
            boundary=pair.boundary,
            prompt_tokens=server.prompt_tokens,
            completion_tokens=server.completion_tokens,
            purchase=DIRECT,
        )
        found = [value for value in server.values[pair.start : pair.end] if value is not None and math.isfinite(value)]
        if len(found) != pair.end - pair.start:
            return replace(bought, error="a log-probability is not a finite number")
        names = self._tokenizer.convert_ids_to_tokens(list(pair.ids[pair.start : pair.end]))
        tokens = tuple(map(TokenScore, names, found))
        return replace(bought, tokens=tokens, model_version=server.model)

    @property
    def probe(self) -> list[int]:
        """The token ids of `PROBE`."""
        ids: list[int] = self._tokenizer(PROBE)["input_ids"]
        return ids

    def compare(self, text: Sequence[float | None], numbers: Sequence[float | None]) -> None:
        """Raises `EngineError` where the server's tokens of `PROBE` differ from ours."""
        alike = len(text) == len(numbers) and all(
            abs((one or 0.0) - (other or 0.0)) <= _APART for one, other in zip(text, numbers, strict=True)
        )
        if not alike:
            raise EngineError(
                "tokenizer: the server's model reads a text as other tokens",
                where=f"options of {self._spec.model}",
                remedy="Name the tokenizer of the very model that is served there.",
            )


def no_logprobs(spec: ModelSpec, url: str, reason: str) -> EngineError:
    """The error for a server that returned no log-probabilities to the first request."""
    return EngineError(
        f"{spec.model} gives no log-probabilities of a given text ({reason})",
        where=url,
        remedy="`vllm serve` does.",
    )


def _load_tokenizer(spec: ModelSpec, name: str) -> Any:
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError, ImportError, KeyError) as fault:
        reason = " ".join(str(fault).split())[:200]
        where, remedy = f"options of {spec.model}", "Give a name of the hub, or a folder with tokenizer.json."
        raise EngineError(f"tokenizer: {name} cannot be opened: {reason}", where=where, remedy=remedy) from fault
    if not tokenizer.is_fast:
        raise EngineError(f"tokenizer: {name} is no fast tokenizer", where=f"options of {spec.model}")
    return tokenizer
