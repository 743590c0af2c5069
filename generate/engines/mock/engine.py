"""An engine that only plays a model: for tests, and for dry runs of an experiment. No number made with it is real.

    models = ["mock:any-name"]

    [options.mock]
    answers = "answers.toml"       # without it, an answer is made up from the prompt
    fail_share = 0.1               # of the samples, always the same ones

The file is a list of `[[answer]]` tables (or the same as JSON). The first whose `prompt` occurs in what is asked gives
the answer, its `texts` in turn by seed; a table with `error` fails instead, `retryable` or not.

In Python, `MockEngine(spec, script=function)` takes its answers from a function. The same question always gets the same
answer; scores are those of a model that predicts a byte from the one before it, so they are true log-probabilities.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.answer import completed, read_text
from polyculture.generate.engines.base import (
    Completion,
    ModelSpec,
    Represented,
    Request,
    Scored,
    ScoreRequest,
)
from polyculture.generate.engines.capabilities import REPRESENTING, SAMPLING, SCORING, TOKENIZING
from polyculture.generate.engines.kind import EngineKind, Offer, TokenCounter
from polyculture.generate.engines.metering import Usage
from polyculture.generate.engines.mock.answers import VERSION, Answers, Script, read_answers
from polyculture.generate.engines.mock.byte_model import ByteModel, mean_vector, share
from polyculture.generate.engines.models import Wrapper
from polyculture.generate.engines.options import PACE, Options, read_options

Failure = Literal["transient", "permanent", "refusal", "content_filter", "length"]
LAYERS = 4  # above what the first one reads
_CUT = 20  # characters of an answer that is cut


class MockOptions(Options):
    """Options of the `mock` engine."""

    answers: Annotated[str | None, PACE] = None  # a TOML or JSON file; its content is part of the setup, not its path
    fail_share: float = Field(default=0.0, ge=0, le=1)  # of the samples and continuations
    fail_as: Failure = "transient"
    dies_after: Annotated[int | None, PACE] = Field(default=None, ge=0)  # answers, then the engine itself fails
    reasoning: str | None = None  # written before each answer, in tags
    latency: Annotated[float, PACE] = Field(default=0.0, ge=0)  # seconds for one answer


class MockEngine(Wrapper):
    """Plays a model. Nothing is loaded."""

    def __init__(self, spec: ModelSpec, script: Script | None = None) -> None:
        self.spec = spec
        self.options = read_options(MockOptions, spec)
        self._script = script or Answers(spec, self.options.answers)
        self._left = math.inf if self.options.dies_after is None else self.options.dies_after
        self._bytes = ByteModel(spec.name)

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields a completion per request and seed, in order. Raises `EngineError` after `dies_after` answers."""
        for request in requests:
            prompt = "\n".join(turn.content for turn in request.messages)
            for seed in request.seeds:
                self._spend()
                yield self._complete(request, prompt, seed)

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        """Yields a row per continuation, in order; a token is a character."""
        for request in requests:
            for index, continuation in enumerate(request.continuations):
                self._spend()
                yield self._scored(request, index, continuation)

    def represent(self, requests: Iterable[ScoreRequest], layers: Sequence[str]) -> Iterator[Represented]:
        """Yields a row per continuation, in order: a vector is a function of the layer and the characters."""
        numbers = tuple(map(self._layer, layers))
        for request in requests:
            for index, continuation in enumerate(request.continuations):
                if not continuation.strip():
                    yield Represented(request.request_id, index, error="the continuation is empty")
                    continue
                vectors = tuple(mean_vector(number, continuation) for number in numbers)
                yield Represented(request.request_id, index, numbers, vectors, model_version=VERSION)

    def vocabulary(self) -> list[str]:
        """The letters of ASCII."""
        return [chr(code) for code in range(128) if chr(code).isprintable()]

    def tokenize(self, texts: Sequence[str]) -> list[list[str]]:
        """Characters."""
        return [list(text) for text in texts]

    def _spend(self) -> None:
        if self._left <= 0:
            raise EngineError("fails, as its option dies_after says", where=self.spec.model)
        self._left -= 1
        if self.options.latency:
            time.sleep(self.options.latency)

    def _complete(self, request: Request, prompt: str, seed: int) -> Completion:
        said = self._script(request, seed)
        if isinstance(said, Completion):
            return said
        failed = share(self.spec.name, prompt, str(seed)) < self.options.fail_share
        if failed and self.options.fail_as != "length":
            return _failed(request.request_id, seed, self.options.fail_as)
        text = said if self.options.reasoning is None else f"<think>{self.options.reasoning}</think>\n\n{said}"
        answer = read_text(
            text[:_CUT] if failed else text,
            "length" if failed else "stop",
            usage=Usage(len(prompt.split()), len(text.split())),
            version=VERSION,
        )
        return completed(request.request_id, seed, answer)

    def _scored(self, request: ScoreRequest, index: int, continuation: str) -> Scored:
        if not continuation.strip():
            return Scored(request.request_id, index, error=f"{continuation!r} tokenises to nothing")
        if share(self.spec.name, request.prefix, continuation) < self.options.fail_share:
            retryable = self.options.fail_as == "transient"
            return Scored(request.request_id, index, error="fails, as it is told", retryable=retryable)
        text = continuation + (request.suffix if request.to_end else "")
        tokens = tuple(self._bytes.tokens(request.prefix, text))
        return Scored(request.request_id, index, tokens, "clean", model_version=VERSION)

    def _layer(self, layer: str) -> int:
        named = {"first": 0, "middle": LAYERS // 2, "last": LAYERS}
        number = named.get(layer, int(layer) if layer.isdecimal() else -1)
        if not 0 <= number <= LAYERS:
            raise EngineError(f"has no layer {layer!r}", where=self.spec.model, remedy=f"It has 0 to {LAYERS}.")
        return number


def _failed(request_id: str, seed: int, how: Failure) -> Completion:
    """A failure as engines give it, whatever server or model stands behind them."""
    withheld = how in ("refusal", "content_filter")
    error = f"refused: {how}, as it is told" if withheld else "fails, as it is told"
    found = Completion(request_id, seed, None, error=error, retryable=how == "transient", model_version=VERSION)
    return replace(found, ending="withheld", finish_reason=how) if withheld else found


def _check(spec: ModelSpec, options: MockOptions) -> None:
    if options.answers is not None:
        read_answers(spec, Path(options.answers).expanduser())


def _files(_: ModelSpec, options: MockOptions) -> Path | None:
    return None if options.answers is None else Path(options.answers).expanduser()


KIND = EngineKind(
    name="mock",
    options=MockOptions,
    paid=False,
    real=False,
    offers=(
        Offer(SAMPLING, MockEngine),
        Offer(SCORING, MockEngine),
        Offer(REPRESENTING, MockEngine),
        Offer(TOKENIZING, MockEngine),
    ),
    check=_check,
    files=_files,
    counter=lambda _spec: TokenCounter(lambda text: len(text.split()), "words; no real model"),
)
