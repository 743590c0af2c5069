"""A question with choices as it is asked, the job that it belongs to, and what came of asking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from polyculture.cache.run_folder import Job
from polyculture.generate.engines.base import Decoding
from polyculture.generate.engines.models import MODEL

if TYPE_CHECKING:
    from polyculture.cache.worker import Work


class ChoiceAsk(Protocol):
    """A question to a model, with its choices as they are shown."""

    @property
    def answer_id(self) -> str: ...

    @property
    def choices(self) -> tuple[str, ...]: ...

    @property
    def text(self) -> str:
        """The message to the model."""
        ...

    @property
    def group(self) -> str | None:
        """The same of questions whose messages begin alike, as those that differ in the order of choices alone."""
        ...


A = TypeVar("A", bound=ChoiceAsk)
Q = TypeVar("Q")
S = TypeVar("S")
BLOCK = 16  # questions of which all first orders are asked before the second ones


@dataclass(frozen=True, slots=True)
class Scoring:
    """What is scored of a question: its choices after the whole of it, and after the end that all questions have."""

    asked: str
    alone: str
    continuations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """What a reader makes of an answer."""

    reading: str  # the choice under its sign, 'out-of-choice' or 'refusal'
    ground: str  # why it is read so


_KEPT = (  # of an outcome, in every answer's row under these names
    "raw", "reader", "reading", "ground", "status", "error", "retryable", "prompt_tokens", "completion_tokens",
    "model_version", "purchase", "note", "reader_id",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of asking: the columns of an answer's row that are no part of the question."""

    status: str
    reader: str
    raw: str | None = None
    scores: list[float] | None = None
    tokens: list[float] | None = None
    unconditional: list[float] | None = None
    reading: str | None = None
    ground: str | None = None
    reader_id: str | None = None
    error: str | None = None
    retryable: bool | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model_version: str | None = None
    purchase: str | None = None
    note: str | None = None
    finish_reason: str | None = None  # 'length': a text that was cut off

    @property
    def kept(self) -> dict[str, Any]:
        """The columns that the row of every answer has, however it was asked."""
        return {name: getattr(self, name) for name in _KEPT}


class ChoiceJob(Protocol[A]):
    """The questions of one job to one model, by one method."""

    @property
    def job(self) -> Job: ...

    @property
    def decoding(self) -> Decoding | None:
        """None of likelihoods."""
        ...

    @property
    def seed(self) -> int: ...

    @property
    def size(self) -> int:
        """How many questions are asked."""
        ...

    def asks(self) -> Iterator[A]: ...

    def row(self, ask: A, found: Outcome) -> object:
        """The row that an answer becomes."""
        ...


class ScoredJob(ChoiceJob[A], Protocol[A]):
    """A job that asks by likelihood."""

    def scoring(self, ask: A) -> Scoring:
        """What is scored of a question."""
        ...


def decided(decoding: Decoding | None, seed: int) -> tuple[dict[str, Any] | None, int | None]:
    """How an answer's tokens are chosen, for ids. A seed decides nothing at temperature 0 and of likelihoods."""
    return asdict(decoding) if decoding else None, seed if decoding and decoding.temperature else None


def blocks(questions: Sequence[Q]) -> Iterator[Sequence[Q]]:
    """Questions, some at a time: as many as an engine on this machine answers at once."""
    for start in range(0, len(questions), BLOCK):
        yield questions[start : start + BLOCK]


def in_turn(orders: Sequence[tuple[Q, Sequence[S]]]) -> Iterator[tuple[Q, S]]:
    """The first order of every question, then the second: the same question comes when it has been answered once.

    An engine then still holds what it has read of that question, and need not read it again.
    """
    for place in range(max((len(some) for _, some in orders), default=0)):
        for question, some in orders:
            if place < len(some):
                yield question, some[place]


def works_of(jobs: Sequence[ChoiceJob[A]]) -> Iterator[Work[A]]:
    """A work per job."""
    from polyculture.cache.worker import Work  # loads Arrow, which a list of instruments must not

    for asked in jobs:
        label = f"{asked.job.model} {asked.job.topic.replace('-', ' ')}"
        yield Work(asked.job, {MODEL: asked.job.model}, asked.asks, asked.size, label)
