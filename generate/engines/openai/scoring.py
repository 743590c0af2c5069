"""Prompt log-probabilities from an OpenAI-compatible server: one request per continuation, many in flight.

A text is sent as token ids and echoed with the log-probability of each, as `vllm serve` does. The tokenizer that the
options name tokenizes it here, so that the token boundary is the same in all engines that score.

API: https://platform.openai.com/docs/api-reference/completions/create
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Self

from polyculture.cache.errors import EngineError
from polyculture.cache.store.model_facts import DIRECT
from polyculture.cache.text.sanitize import ResponseSanitizer, hide_keys, parse
from polyculture.generate.engines.answer import LONGEST_NAME
from polyculture.generate.engines.base import SCORE_TOKENS, ModelSpec, Scored, ScoreRequest, TokenScore
from polyculture.generate.engines.bodies import first_choice
from polyculture.generate.engines.error_body import WEB_PAGE, looks_like_html
from polyculture.generate.engines.metering import Meter, Usage, read_usage
from polyculture.generate.engines.model_files import SILENT, hub_arguments
from polyculture.generate.engines.openai.attempt import Attempt, NotAdmittedError
from polyculture.generate.engines.openai.engine import OpenAIEngine
from polyculture.generate.engines.openai.faults import RequestError, WebPageError, useless
from polyculture.generate.engines.token_boundary import TokenisedPair, first_token, split_pairs

NO_SUCH_PATH = "not found"  # in the table of faults


class OpenAIScorer(OpenAIEngine):
    """A model behind a server that returns prompt log-probabilities, as `vllm serve` does."""

    def __enter__(self) -> Self:
        self._tokenizer: Any = _load_tokenizer(self.spec, str(self.options.tokenizer))
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
        bos = self._tokenizer.bos_token_id if self.options.bos else None
        begins = first_token(self._tokenizer.bos_token_id, self._tokenizer.eos_token_id)
        pairs = (
            (request, pair)
            for request in chain((first,), source)
            for pair in split_pairs(self._tokenizer, request, bos=bos, first=begins)
        )
        return self._background.map_unordered(self._score, pairs, self.options.concurrency)

    async def _probe(self, meter: Meter | None) -> bool:
        """Whether the server could be tried; False where that cannot be paid.

        Raises `EngineError` where the server's tokens of `PROBE` differ from ours.
        """
        ids: list[int] = self._tokenizer(PROBE)["input_ids"]
        try:
            text = await self._patiently(self._read, meter, PROBE)
            numbers = await self._patiently(self._read, meter, ids)
        except NotAdmittedError:
            return False
        except RequestError as fault:
            if not fault.kind.final and fault.kind.name != NO_SUCH_PATH:
                raise self._api.server.ended(fault) from fault
            what = f"{self.spec.model} gives no log-probabilities of a given text ({fault})"
            raise EngineError(what, where=self._api.server.url, remedy="`vllm serve` does.") from fault
        alike = len(text.values) == len(numbers.values) and all(
            abs((one or 0.0) - (other or 0.0)) <= _APART for one, other in zip(text.values, numbers.values, strict=True)
        )
        if not alike:
            raise EngineError(
                "tokenizer: the server's model reads a text as other tokens",
                where=f"options of {self.spec.model}",
                remedy="Name the tokenizer of the very model that is served there.",
            )
        return True

    async def _score(self, asked: tuple[ScoreRequest, TokenisedPair]) -> Scored:
        request, pair = asked
        if pair.error is not None:
            return Scored(request.request_id, pair.index, error=pair.error)
        try:
            server = await self._patiently(self._read, request.meter, pair.ids[: pair.end])
        except NotAdmittedError:
            return _not_asked(request, pair.index)
        except RequestError as fault:
            return _failed(request, pair, fault)
        return self._scored(request, pair, server)

    async def _read(self, meter: Meter | None, prompt: str | Sequence[int]) -> PromptLogprobs:
        asked, tokens = (prompt, None) if isinstance(prompt, str) else (list(prompt), len(prompt))
        body = {"model": self.spec.name, "prompt": asked, "echo": True, "logprobs": 1, "max_tokens": SCORE_TOKENS}
        async with Attempt(meter, self._limiter) as attempt:
            return attempt.billed(read_logprobs(await self._send(PATH, body), tokens))

    def _scored(self, request: ScoreRequest, pair: TokenisedPair, server: PromptLogprobs) -> Scored:
        """A row of the log-probabilities of a whole text."""
        bought = Scored(
            request.request_id,
            pair.index,
            boundary=pair.boundary,
            prompt_tokens=server.usage.prompt,
            completion_tokens=server.usage.completion,
            purchase=DIRECT,
            note=server.note,
            named_cost=server.usage.cost,
        )
        logprobs = [
            value for value in server.values[pair.start : pair.end] if value is not None and math.isfinite(value)
        ]
        if len(logprobs) != pair.end - pair.start:
            return replace(bought, error="a log-probability is not a finite number")
        if max(logprobs, default=0.0) > _ROUNDING:
            return replace(bought, error="a log-probability is above 0")
        names = self._tokenizer.convert_ids_to_tokens(list(pair.ids[pair.start : pair.end]))
        return replace(bought, tokens=tuple(map(TokenScore, names, logprobs)), model_version=server.model)


def _not_asked(request: ScoreRequest, index: int) -> Scored:
    return Scored(request.request_id, index, error="not asked", retryable=True, asked=False)


def _failed(request: ScoreRequest, pair: TokenisedPair, fault: RequestError) -> Scored:
    """A row without a score, with what the last attempt cost."""
    bill = fault.bill or Usage()
    return Scored(
        request.request_id,
        pair.index,
        boundary=pair.boundary,
        error=str(fault),
        retryable=fault.retryable or fault.later,
        prompt_tokens=bill.prompt,
        completion_tokens=bill.completion,
        purchase=None if bill.unknown else DIRECT,
        named_cost=bill.cost,
    )


PATH = "/completions"
# The first request to a server, as a text and as token ids: where the two differ, the server's tokenizer is another.
PROBE = "She drank tea in the garden. 彼女は庭でお茶を飲んだ。"
_ROUNDING = 1e-3  # nats by which a log-probability of a certain token may pass 0
_APART = 0.5  # nats; a server that reads in 16 bits may round twice the same in two ways


@dataclass(frozen=True, slots=True)
class PromptLogprobs:
    """The log-probability of each token but the first, which has none, and the server's own description."""

    values: list[float | None]
    model: str | None
    usage: Usage
    note: str | None  # what of the answer was dropped


def read_logprobs(content: bytes, tokens: int | None = None) -> PromptLogprobs:
    """Parse the server's answer for a text. Where the server reports no token count, the sent tokens are counted.

    Raises `RequestError` where the answer is no echo, or has another number of tokens than were sent. It also
    raises where all values are 0.0, as from a server that does not compute them: no model is certain of every
    token.
    """
    try:
        body = parse(content)
    except ValueError as fault:
        page = looks_like_html(content)
        why = WebPageError(WEB_PAGE) if page else useless("the answer is no whole completion", Usage())
        raise why from fault
    sanitizer = ResponseSanitizer()
    answer = body if isinstance(body, dict) else {}
    bill = read_usage(answer.get("usage"), sanitizer)
    logprobs = _token_logprobs(answer)
    if logprobs is None:
        raise useless("the answer is no whole completion", bill)
    values = logprobs[:-1]  # the last is of what was written
    if len(values) < 2 or (tokens is not None and len(values) != tokens):
        raise _no_echo("the answer does not echo the text with its log-probabilities", bill)
    if not any(value is not None and value < 0 for value in values):
        raise _no_echo("the answer has no log-probability below 0", bill)
    if bill.unknown and bill.nonsense is None:
        bill = Usage(len(values) if bill.prompt is None else bill.prompt, SCORE_TOKENS)
    model = sanitizer.text("model", answer.get("model"), LONGEST_NAME)
    return PromptLogprobs(values, hide_keys(model) if model else None, bill, sanitizer.note)


def _no_echo(reason: str, bill: Usage) -> RequestError:
    """The fault of an answer without log-probabilities of the text: the next one will have none, either."""
    return RequestError(reason, retryable=False, bill=bill)


def _token_logprobs(answer: Mapping[str, Any]) -> list[float | None] | None:
    """The values of the choice with the lowest `index`, empty where it has none; None in an answer of another form."""
    choice = first_choice(answer.get("choices"))
    if not choice:
        return None
    logprobs = choice.get("logprobs")
    values = logprobs.get("token_logprobs") if isinstance(logprobs, dict) else []
    if not isinstance(values, list) or not all(value is None or type(value) in (int, float) for value in values):
        return None
    return [None if value is None else _float(value) for value in values]


def _float(value: float) -> float:
    """A number as a float; an integer beyond floats is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _load_tokenizer(spec: ModelSpec, name: str) -> Any:
    from transformers import AutoTokenizer

    place = spec.place_or_name(name)
    arguments = {} if Path(place).is_dir() else hub_arguments()
    try:
        tokenizer = AutoTokenizer.from_pretrained(place, **arguments)
    except (OSError, ValueError, ImportError, KeyError) as fault:
        reason = SILENT if arguments else " ".join(str(fault).split())[:200]
        where, remedy = f"options of {spec.model}", "Give a name of the hub, or a folder with tokenizer.json."
        raise EngineError(f"tokenizer: {name} cannot be opened: {reason}", where=where, remedy=remedy) from fault
    if not tokenizer.is_fast:
        raise EngineError(f"tokenizer: {name} is no fast tokenizer", where=f"options of {spec.model}")
    return tokenizer
