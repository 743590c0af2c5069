"""An engine that only plays a model: for tests, and for dry runs of an experiment. No number made with it is real.

    models = ["mock:any-name"]

    [options.mock]
    answers = "answers.toml"       # without it, an answer is made up from the prompt

The file is a list of `[[answer]]` tables (or the same as JSON). The first whose `prompt` occurs in what is asked gives
the answer, its `texts` in turn by seed; a table with `error` fails instead, `retryable` or not.

In Python, `MockEngine(spec, script=function)` takes its answers from a function. The same question always gets the same
answer; scores are those of a model that predicts a byte from the one before it, so they are true log-probabilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

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
from polyculture.generate.engines.capabilities import REPRESENTING, SAMPLING, SCORING
from polyculture.generate.engines.kind import EngineKind, Offer, TokenCounter
from polyculture.generate.engines.metering import Usage
from polyculture.generate.engines.mock.answers import VERSION, Answers, Script, read_answers
from polyculture.generate.engines.mock.byte_model import ByteModel, mean_vector
from polyculture.generate.engines.models import Wrapper
from polyculture.generate.engines.options import PACE, Options, read_options

LAYERS = 4  # above what the first one reads


class MockOptions(Options):
    """Options of the `mock` engine."""

    answers: Annotated[str | None, PACE] = None  # a TOML or JSON file; its content is part of the setup, not its path
    reasoning: str | None = None  # written before each answer, in tags


class MockEngine(Wrapper):
    """Plays a model. Nothing is loaded."""

    def __init__(self, spec: ModelSpec, script: Script | None = None) -> None:
        self.spec = spec
        self.options = read_options(MockOptions, spec)
        self._script = script or Answers(spec, self.options.answers)
        self._bytes = ByteModel(spec.name)

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields a completion per request and seed, in order."""
        for request in requests:
            prompt = "\n".join(turn.content for turn in request.messages)
            for seed in request.seeds:
                yield self._complete(request, prompt, seed)

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        """Yields a row per continuation, in order; a token is a character."""
        for request in requests:
            for index, continuation in enumerate(request.continuations):
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

    def _complete(self, request: Request, prompt: str, seed: int) -> Completion:
        said = self._script(request, seed)
        if isinstance(said, Completion):
            return said
        text = said if self.options.reasoning is None else f"<think>{self.options.reasoning}</think>\n\n{said}"
        usage = Usage(len(prompt.split()), len(text.split()))
        answer = read_text(text, "stop", usage=usage, version=VERSION)
        return completed(request.request_id, seed, answer)

    def _scored(self, request: ScoreRequest, index: int, continuation: str) -> Scored:
        if not continuation.strip():
            return Scored(request.request_id, index, error=f"{continuation!r} tokenises to nothing")
        text = continuation + (request.suffix if request.to_end else "")
        tokens = tuple(self._bytes.tokens(request.prefix, text))
        return Scored(request.request_id, index, tokens, "clean", model_version=VERSION)

    def _layer(self, layer: str) -> int:
        named = {"first": 0, "middle": LAYERS // 2, "last": LAYERS}
        number = named.get(layer, int(layer) if layer.isdecimal() else -1)
        if not 0 <= number <= LAYERS:
            raise EngineError(f"has no layer {layer!r}", where=self.spec.model, remedy=f"It has 0 to {LAYERS}.")
        return number


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
    ),
    check=_check,
    files=_files,
    counter=lambda _spec: TokenCounter(lambda text: len(text.split()), "words; no real model"),
)
