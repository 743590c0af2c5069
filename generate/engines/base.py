"""The seam between Polyculture and the models: what an engine is asked, and what it answers.

A model is named `engine:name`, e.g. `openai:gpt-4o-mini`. An engine is one file in this folder; `open_engine` in
`generate.engines` imports it when it is first used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol, Self

from cache.errors import EngineError


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


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer to a request: the text for `seed`, or the reason why there is none."""

    request_id: str
    seed: int
    text: str | None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model_version: str | None = None
    error: str | None = None  # one line; None when there is a text
    retryable: bool = False  # of a failure: asking again later may help


@dataclass(frozen=True, slots=True)
class TokenScore:
    """A token of a continuation and its log-probability (natural logarithm) given all that stands before it."""

    token: str
    log_probability: float


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do."""

    schema: bool  # constrains answers by a JSON schema
    seed: bool  # the same seed gives the same text
    top_k: bool  # honours top-k
    score: bool  # gives log-probabilities of continuations


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

    def score(self, prefix: str, continuations: Sequence[str]) -> Iterator[Sequence[TokenScore]]:
        """Yields, for each continuation in order, its tokens' log-probabilities behind `prefix`.

        Raises `EngineError` where `capabilities.score` is false.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def cannot_score(spec: ModelSpec) -> EngineError:
    """What an engine raises that is asked to score and cannot."""
    return EngineError(
        f"{spec.model} gives no log-probabilities of a given text",
        remedy="Ask an engine that can score, or leave this measure out.",
    )
