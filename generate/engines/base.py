"""The seam between Polyculture and the models: what an engine is asked, and what it answers.

A model is named `engine:name`, e.g. `openai:gpt-4o-mini`. An engine is one file in this folder; `open_engine` in
`generate.engines` imports it when it is first used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Protocol, Self

from polyculture.cache.errors import EngineError
from polyculture.cache.prices import DIRECT, Purchase


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: str  # 'system' | 'user' | 'assistant'
    content: str


@dataclass(frozen=True, slots=True)
class Decoding:
    """How tokens are chosen. `schema`, a JSON schema, constrains the answer where the engine can."""

    temperature: float = 0.7
    top_p: float = 0.9
    top_k: int | None = 10
    max_tokens: int = 512
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt, asked once per seed. Seeds are consecutive, as vLLM's own `n` makes them from the first."""

    request_id: str
    messages: tuple[Message, ...]
    decoding: Decoding
    seeds: tuple[int, ...]


# The finish reasons of an answer that the provider's filter kept back, or that its refusal field takes the place of.
CONTENT_FILTER, REFUSAL = "content_filter", "refusal"


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer to a request: the text for `seed`, or the reason why there is none."""

    request_id: str
    seed: int
    text: str | None
    finish_reason: str | None = None  # 'stop' | 'length' | 'content_filter' | 'refusal' | what the server says
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model_version: str | None = None
    error: str | None = None  # one line; None when there is a text
    retryable: bool = False  # of a failure: asking again later may help
    purchase: Purchase = DIRECT  # how it was bought


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """A context and the continuations that compete for its gap. What is scored is always the literal text
    `prefix + continuation + suffix`; the suffix is read by masked models alone."""

    request_id: str
    prefix: str
    continuations: tuple[str, ...]
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class TokenScore:
    """A token of a continuation, as the vocabulary writes it, and its log-probability (natural logarithm): given all
    that stands before it, or in a masked model all that is not masked."""

    token: str
    log_probability: float


# How a continuation met its context. Both are tokenised together and split by character offsets.
# - clean: the tokens of the context are those that it has alone
# - moved space: the same, once the spaces at the end of the context were moved to the continuation
# - merged: a token spans the boundary; it is charged to the continuation
# - resplit: no token spans it, but the context before it falls into other tokens than it does alone
TokenBoundary = Literal["clean", "moved space", "merged", "resplit"]
BROKEN_BOUNDARIES: frozenset[TokenBoundary] = frozenset({"merged", "resplit"})  # exact all the same, but worth a count


@dataclass(frozen=True, slots=True)
class Scored:
    """The tokens of one continuation of a request, or the reason why there are none. Never an empty score."""

    request_id: str
    index: int  # of the continuation in its request, from 0
    tokens: tuple[TokenScore, ...] = ()
    boundary: TokenBoundary | None = None  # None where the pair was not tokenised
    error: str | None = None  # one line; None when there are tokens
    retryable: bool = False  # of a failure: asking again later may help
    model_version: str | None = None
    prompt_tokens: int | None = None  # that a server counted for it, and those that it wrote
    completion_tokens: int | None = None
    purchase: Purchase | None = None  # how it was bought; None where nothing was asked of a server

    @property
    def total(self) -> float | None:
        """The log-probability of the whole continuation, the sum over its tokens (Camellia); None of a failure."""
        return math.fsum(token.log_probability for token in self.tokens) if self.tokens else None

    @property
    def mean(self) -> float | None:
        """The mean over its tokens (CAMeL); None of a failure. `len(scored.tokens)` is the count."""
        total = self.total
        return None if total is None else total / len(self.tokens)


@dataclass(frozen=True, slots=True)
class Represented:
    """The hidden states of one continuation of a request, a vector per layer that was asked for; or why not."""

    request_id: str
    index: int  # of the continuation in its request, from 0
    layers: tuple[int, ...] = ()  # 0 is what the first layer reads, 1 what it gives, ...
    vectors: tuple[tuple[float, ...], ...] = ()  # the mean over the continuation's tokens
    error: str | None = None
    model_version: str | None = None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do."""

    schema: bool  # constrains answers by a JSON schema
    seed: bool  # the same seed gives the same text
    top_k: bool  # honours top-k
    score: bool  # gives log-probabilities of continuations
    represent: bool = False  # gives hidden states: it is a `Representing`


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model as the experiment file names it, with the engine's own options (base_url, concurrency, ...)."""

    model: str  # 'engine:name'
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def engine(self) -> str:
        return self.model.partition(":")[0]

    @property
    def name(self) -> str:
        return self.model.partition(":")[2]


class Engine(Protocol):
    """A model that is ready to answer. Use it as a context manager; leaving it frees what it holds."""

    @property
    def capabilities(self) -> Capabilities: ...

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields one completion per request and seed, in the order in which they finish.

        `requests` is consumed lazily: only as many are taken as are in flight. A failure that belongs to one request
        is a completion with an `error`; a failure of the engine itself (wrong key, port closed) raises `EngineError`.
        """
        ...

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        """Yields one `Scored` per request and continuation, in the order in which they finish.

        `requests` is consumed lazily, a few ahead of what has been yielded. A continuation that cannot be scored (it
        tokenises to nothing or to unknown tokens, it is longer than the model's window) is a row with an `error`.
        Raises `EngineError` where `capabilities.score` is false, at the call, before anything is consumed.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Representing(Protocol):
    """What an engine can do besides whose `capabilities.represent` is true."""

    def represent(self, requests: Iterable[ScoreRequest], layers: Sequence[str]) -> Iterator[Represented]:
        """Yields one row per request and continuation: hidden states at layers, averaged over its tokens.

        A layer is 'first' (what the first layer reads), 'middle', 'last', or its number. Raises `EngineError` of a
        layer that the model does not have.
        """
        ...


def cannot_score(spec: ModelSpec) -> EngineError:
    """What an engine raises that is asked to score and cannot."""
    return EngineError(
        f"{spec.model} gives no log-probabilities of a given text",
        remedy="The engines 'transformers' and 'vllm' can score, and 'openai' in front of `vllm serve` with the option "
        "tokenizer: name one of them, or leave this measure out.",
    )
