"""Requests and answers: the types that flow between the stages and the engines.

A model is named `engine:name`, e.g. `openai:gpt-6-luna`. `capabilities` says what can be done with a model; what
an engine declares of itself in `kind`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from polyculture.cache.errors import EngineError
from polyculture.cache.store.model_facts import DIRECT, Purchase
from polyculture.cache.written_paths import whole_name, whole_path
from polyculture.generate.engines.metering import Meter


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
    """One prompt, asked once per seed."""

    request_id: str
    messages: tuple[Message, ...]
    decoding: Decoding
    seeds: tuple[int, ...]
    meter: Meter | None = None  # who pays for each attempt; None: nobody counts
    group: str | None = None  # the same of requests that begin alike, so that one's prompt cache serves the next


# How an answer ended (`endings.toml`): by itself, at a limit, withheld by a policy, in a fault, or in no known way.
Ending = Literal["whole", "cut", "withheld", "broken", "unknown"]


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer to a request: the text for `seed`, or the reason why there is none."""

    request_id: str
    seed: int
    text: str | None  # without the reasoning that the model wrote before it
    ending: Ending | None = None  # None where no answer came
    finish_reason: str | None = None  # the server's own word for it
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model_version: str | None = None
    error: str | None = None  # one line; None when there is a text
    retryable: bool = False  # of a failure: it may be transient
    purchase: Purchase = DIRECT  # how it was bought
    reasoning: str | None = None  # the reasoning before the answer
    reasoning_tokens: int | None = None  # of `completion_tokens`, where the server counts them apart
    prompt_opened: bool = False  # the reasoning had no opening tag: the chat template writes it
    raw: str | None = None  # the answer as it came, where `text` is another
    note: str | None = None  # what of the answer was repaired or dropped on arrival
    asked: bool = True  # False: its meter did not admit it, and nothing was sent
    # Of a failure: whether it may have been billed all the same. None: as `faults.toml` says of the kind of its error.
    bill_unknown: bool | None = None
    named_cost: float | None = None  # what the server said that it costs; None where it named no money
    body: str | None = None  # the server's answer as it came, where no text could be read in it

    @property
    def as_it_came(self) -> str | None:
        """The whole answer, with the reasoning that stood in it."""
        return self.text if self.raw is None else self.raw

    @property
    def tool_call(self) -> str | None:
        """What a tool was called with in place of a text, as it came; else None."""
        called = self.text is None and (self.finish_reason or "").casefold().startswith(("tool", "function"))
        return self.raw if called else None


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """A context and the continuations that compete for its gap. What is scored is always the literal text
    `prefix + continuation + suffix`; the suffix is read by masked models, and by others where they score `to_end`."""

    request_id: str
    prefix: str
    continuations: tuple[str, ...]
    suffix: str = ""
    meter: Meter | None = None  # as in `Request`
    to_end: bool = False  # a causal model scores the suffix with the continuation; a masked one reads it in any case
    one_by_one: bool = False  # a masked model masks each token of the continuation alone, whatever its option says


@dataclass(frozen=True, slots=True)
class TokenScore:
    """A token of a continuation, as the vocabulary writes it, and its log-probability (natural logarithm): given all
    that stands before it, or in a masked model all that is not masked."""

    token: str
    log_probability: float


SCORE_TOKENS = 1  # that a server is asked to write behind a text that it scores: not all take none

# The token boundary between context and continuation, which are tokenised together and split by character offsets.
# - clean: the tokens of the context are those that it has alone
# - moved space: the same, once the spaces at the end of the context were moved to the continuation
# - merged: a token spans the boundary; it is charged to the continuation
# - resplit: no token spans it, but the context before it falls into other tokens than it does alone
TokenBoundary = Literal["clean", "moved space", "merged", "resplit"]


@dataclass(frozen=True, slots=True)
class Scored:
    """The tokens of one continuation of a request, or the reason why there are none. Never an empty score."""

    request_id: str
    index: int  # of the continuation in its request, from 0
    tokens: tuple[TokenScore, ...] = ()
    boundary: TokenBoundary | None = None  # None where the pair was not tokenised
    error: str | None = None  # one line; None when there are tokens
    retryable: bool = False  # of a failure: it may be transient
    model_version: str | None = None
    prompt_tokens: int | None = None  # that a server counted for it, and those that it wrote
    completion_tokens: int | None = None
    purchase: Purchase | None = None  # how it was bought; None where nothing was asked of a server
    note: str | None = None  # what of the answer was dropped on arrival
    asked: bool = True  # False: its meter did not admit it, and nothing was sent
    masked: bool = False  # by a masked model, which reads what stands on both sides
    named_cost: float | None = None  # what the server said that it costs; None where it named no money

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
    """The hidden states of one continuation of a request, a vector per requested layer; or the error."""

    request_id: str
    index: int  # of the continuation in its request, from 0
    layers: tuple[int, ...] = ()  # 0 is what the first layer reads, 1 what it gives, ...
    vectors: tuple[tuple[float, ...], ...] = ()  # the mean over the continuation's tokens
    error: str | None = None
    model_version: str | None = None


def layer_number(name: str, last: int, model: str) -> int:
    """The number of a layer that is named 'first', 'middle', 'last', or by its number. Raises `EngineError`."""
    named = {"first": 0, "middle": last // 2, "last": last}
    number = named.get(name, int(name) if name.isdecimal() else -1)
    if not 0 <= number <= last:
        remedy = f"Name 'first', 'middle', 'last', or a number from 0 to {last}."
        raise EngineError(f"has no layer {name!r}", where=model, remedy=remedy)
    return number


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model as the experiment file names it, with the engine's own options (base_url, concurrency, ...)."""

    model: str  # 'engine:name', as tables have it
    options: Mapping[str, Any] = field(default_factory=dict)
    variant: str | None = None  # the name of a variant of a model: 'engine:name@variant'
    folder: Path = Path()  # of the experiment file, which paths in it are relative to; else the shell's

    @property
    def engine(self) -> str:
        return self.model.partition(":")[0]

    @property
    def name(self) -> str:
        """What the engine knows the model by."""
        name = self.model.partition(":")[2]
        return name if self.variant is None else name.removesuffix(f"@{self.variant}")

    def place(self, written: str) -> Path:
        """A path in the model's name or options."""
        return whole_path(written, self.folder)

    def place_or_name(self, written: str) -> str:
        """The path of a file or folder that is there; else the name as it is written, which the hub may know."""
        return whole_name(written, self.folder)
