"""The capabilities of models. A new one is a Protocol and a `Capability`.

A stage opens a model for a capability: `open_engine(spec, SCORING)` returns a `Scoring`, or raises before anything is
loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from polyculture.generate.engines.base import Completion, Represented, Request, Scored, ScoreRequest
from polyculture.generate.engines.patching import (
    AnswerStates,
    Attention,
    AttentionRequest,
    Continuation,
    Inspection,
    Patch,
    StatesRequest,
)


class Engine(Protocol):
    """An opened model. Entering it loads the model or connects to it, leaving it frees what it holds."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Sampling(Engine, Protocol):
    """A model that samples texts."""

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields one completion per request and seed, in the order in which they finish.

        `requests` is consumed lazily: only as many are taken as are in flight. A failure that belongs to one request
        is a completion with an `error`; a failure of the engine itself (wrong key, port closed) raises `EngineError`.
        """
        ...


class Scoring(Engine, Protocol):
    """A model that gives the log-probabilities of a given text."""

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        """Yields one `Scored` per request and continuation, in the order in which they finish.

        `requests` is consumed lazily, a few ahead of what has been yielded. A continuation that cannot be scored (it
        tokenises to nothing or to unknown tokens, it is longer than the model's window) is a row with an `error`.
        """
        ...


class Representing(Engine, Protocol):
    """A model whose hidden states can be read."""

    def represent(self, requests: Iterable[ScoreRequest], layers: Sequence[str]) -> Iterator[Represented]:
        """Yields one row per request and continuation: hidden states at layers, averaged over its tokens.

        A layer is 'first' (what the first layer reads), 'middle', 'last', or its number. Raises `EngineError` of a
        layer that the model does not have.
        """
        ...


class Patching(Sampling, Protocol):
    """A model whose states at every layer can be read and replaced."""

    def depth(self) -> int:
        """How many layers it has. Raises `EngineError` where they cannot be reached."""
        ...

    def answer_states(self, requests: Iterable[StatesRequest]) -> Iterator[AnswerStates]:
        """Yields the states of each answer, some at a time. `requests` is consumed lazily.

        What the model cannot read whole is a row with an `error`. Raises `EngineError` as `depth` does.
        """
        ...

    def continue_texts(self, texts: Iterable[tuple[str, str]], max_tokens: int) -> Iterator[Continuation]:
        """Yields what the model writes behind each text, given with an id, in order, up to its line's end: greedily.

        A text without room in the model's window has the finish reason 'window'.
        """
        ...

    def continue_patched(self, inspection: Inspection, patches: Iterable[Patch]) -> Iterator[Continuation]:
        """Yields what the model writes behind the inspection's placeholder for each patch, in order.

        `patches` is consumed lazily. Raises `EngineError` as `depth` does, for a layer that the model does not have,
        and where the placeholder is not one token at the end of the prompt.
        """
        ...


class Attending(Engine, Protocol):
    """A model whose attention can be read."""

    def attend(self, requests: Iterable[AttentionRequest]) -> Iterator[Attention]:
        """Yields the attention of each prompt's last token, some at a time. `requests` is consumed lazily.

        What the model cannot read whole is a row with an `error`. Raises `EngineError` where the model gives no
        attention.
        """
        ...


class Tokenizing(Engine, Protocol):
    """A model's tokenizer, opened without the model."""

    def vocabulary(self) -> list[str]:
        """Every token as text, special ones left out; U+FFFD stands for bytes that are no whole letter."""
        ...

    def tokenize(self, texts: Sequence[str]) -> list[list[str]]:
        """The tokens of each text as the vocabulary writes them, without special tokens."""
        ...


E = TypeVar("E", bound=Engine)
E_co = TypeVar("E_co", bound=Engine, covariant=True)


@dataclass(frozen=True)
class Capability(Generic[E_co]):
    """A name for one of the Protocols above, and the words of the error where a model lacks it."""

    name: str
    lacking: str  # behind a model's name: 'gives no hidden states'


SAMPLING: Capability[Sampling] = Capability("sample", "writes no texts")
SCORING: Capability[Scoring] = Capability("score", "gives no log-probabilities of a given text")
REPRESENTING: Capability[Representing] = Capability("represent", "gives no hidden states")
PATCHING: Capability[Patching] = Capability("patch", "gives no access to its layers")
ATTENDING: Capability[Attending] = Capability("attend", "gives no access to its attention")
TOKENIZING: Capability[Tokenizing] = Capability("tokenize", "does not publish its tokenizer")
_ALL: tuple[Capability[Any], ...] = (SAMPLING, SCORING, REPRESENTING, PATCHING, ATTENDING, TOKENIZING)
# What each use of a model takes (`options.Use`); an answer of an instrument is a sampled text, too.
CAPABILITIES: Mapping[str, Capability[Any]] = {**{one.name: one for one in _ALL}, "answer": SAMPLING}
