"""An engine that only plays a model: for tests, and for dry runs of an experiment. No number made with it is real.

    models = ["mock:any-name"]

    [options.mock]
    answers = "answers.toml"       # without it, an answer is made up from the prompt

The file is a list of `[[answer]]` tables. The first whose `prompt` occurs in what is asked gives
the answer, its `texts` in turn by seed; a table with `error` fails instead, `retryable` or not.

In Python, `MockEngine(spec, script=function)` takes its answers from a function. The same question always gets the same
answer; scores are those of a model that predicts a byte from the one before it, so they are true log-probabilities.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from polyculture.cache.errors import CatalogError, EngineError
from polyculture.cache.toml_files import parse_model, read_toml
from polyculture.cache.validation import ClosedModel
from polyculture.generate.engines.answer import completed, read_text
from polyculture.generate.engines.base import (
    Completion,
    ModelSpec,
    Represented,
    Request,
    Scored,
    ScoreRequest,
    TokenScore,
    layer_number,
)
from polyculture.generate.engines.capabilities import REPRESENTING, SAMPLING, SCORING
from polyculture.generate.engines.kind import EngineKind, Offer, TokenCounter
from polyculture.generate.engines.metering import Usage
from polyculture.generate.engines.models import Wrapper
from polyculture.generate.engines.options import PACE, Options, read_options

LAYERS = 4  # above what the first one reads


class MockOptions(Options):
    """Options of the `mock` engine."""

    answers: Annotated[str | None, PACE] = None  # a TOML file; its content is part of the setup, not its path
    reasoning: str | None = None  # written before each answer, in tags


class MockEngine(Wrapper):
    """Plays a model. Nothing is loaded."""

    def __init__(self, spec: ModelSpec, script: Script | None = None) -> None:
        self.spec = spec
        self.options = read_options(MockOptions, spec)
        self._script = script or MockAnswers(spec, self.options.answers)
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
        numbers = tuple(layer_number(name, LAYERS, self.spec.model) for name in layers)
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


def _check(spec: ModelSpec, options: MockOptions) -> None:
    if options.answers is not None:
        read_answers(spec, spec.place(options.answers))


def _files(spec: ModelSpec, options: MockOptions) -> Path | None:
    return None if options.answers is None else spec.place(options.answers)


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


# The answer to a request under one of its seeds: a text, or a whole completion.
Script = Callable[[Request, int], str | Completion]
VERSION = "mock"  # the model's version in every row


class _ScriptedAnswer(ClosedModel):
    prompt: str = ""  # a part of the prompt
    texts: tuple[str, ...] = ()
    error: str | None = None
    retryable: bool = False


class _ScriptFile(ClosedModel):
    answer: tuple[_ScriptedAnswer, ...]


class MockAnswers:
    """The answers of a file; without one, or where it has none for a prompt, they are made up."""

    def __init__(self, spec: ModelSpec, file: str | None) -> None:
        self._spec = spec
        self._answers = () if file is None else read_answers(spec, spec.place(file))

    def __call__(self, request: Request, seed: int) -> str | Completion:
        prompt = "\n".join(turn.content for turn in request.messages)
        match = next((answer for answer in self._answers if answer.prompt in prompt), None)
        if match is not None and match.error is not None:
            error, retryable = match.error, match.retryable
            return Completion(request.request_id, seed, None, error=error, retryable=retryable, model_version=VERSION)
        if match is not None and match.texts:
            return match.texts[seed % len(match.texts)]
        if request.decoding.schema is not None:
            return json.dumps(_instance(request.decoding.schema, seed), ensure_ascii=False)
        return f"{request.messages[-1].content} {seed}"


def read_answers(spec: ModelSpec, file: Path) -> tuple[_ScriptedAnswer, ...]:
    """Raises `EngineError` where the file cannot be read, or is none of answers."""
    try:
        return parse_model(_ScriptFile, read_toml(file), file).answer
    except CatalogError as fault:
        remedy = "Write [[answer]] tables with prompt, texts, error, retryable."
        raise EngineError(f"answers: {file}: {fault.what}", where=f"options of {spec.model}", remedy=remedy) from fault


def _instance(schema: Mapping[str, Any], seed: int) -> Any:
    """The smallest value that a JSON schema allows; of several words, one by seed."""
    if "enum" in schema:
        return schema["enum"][seed % len(schema["enum"])]
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            return {name: _instance(properties[name], seed) for name in schema.get("required", properties)}
        case "array":
            return [_instance(schema["items"], seed)] * int(schema.get("minItems", 0))
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
    return ""


SIZE = 8  # numbers in a vector


@dataclass(frozen=True)
class ByteModel:
    """P(byte | the byte before it): a softmax of weights that are a hash of the model's name and the pair."""

    name: str

    def tokens(self, prefix: str, continuation: str) -> Iterator[TokenScore]:
        """Each character with the sum over its bytes."""
        last = (prefix.encode() or b"\0")[-1]
        for letter in continuation:
            total = 0.0
            for byte in letter.encode():
                total += _row(self.name, last)[byte]
                last = byte
            yield TokenScore(letter, total)


@lru_cache(maxsize=4096)
def _row(name: str, last: int) -> tuple[float, ...]:
    """The log-probabilities of the 256 bytes behind `last`."""
    weights = hashlib.shake_256(f"{name} {last}".encode()).digest(256)
    total = math.log(math.fsum(math.exp(weight / 64) for weight in weights))
    return tuple(weight / 64 - total for weight in weights)


def mean_vector(layer: int, text: str) -> tuple[float, ...]:
    """The mean over the text's characters, each a function of layer and character."""
    return _mean([_vector(layer, letter) for letter in text])


def _vector(layer: int, letter: str) -> list[float]:
    return [byte / 127.5 - 1 for byte in hashlib.shake_256(f"{layer} {letter}".encode()).digest(SIZE)]


def _mean(vectors: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(sum(values) / len(vectors) for values in zip(*vectors, strict=True))
