"""What an extractor is given, and what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from cache.prices import Purchase


@dataclass(frozen=True, slots=True)
class ResponseText:
    """A response to find the mentions of."""

    response_id: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class FoundMention:
    """A surface that was found: `text[start:end]`, or what the model wrote where that is not in the text."""

    surface: str
    kind: str
    start: int | None  # character offsets in the text; None when hallucinated
    end: int | None
    hallucinated: bool = False


@dataclass(frozen=True, slots=True)
class Extracted:
    """What became of one response: all its mentions, or the reason why there are none."""

    response_id: str
    status: str  # 'ok' | 'failed'
    mentions: tuple[FoundMention, ...] = ()
    attempts: int = 1
    error: str | None = None  # one line; None when ok
    retryable: bool | None = None  # of a failure: worth trying again
    raw: str | None = None  # the model's last answer, as it came
    prompt_tokens: int | None = None  # over all attempts
    completion_tokens: int | None = None
    extractor_model: str | None = None  # the model that was asked
    purchase: Purchase | None = None  # how its answers were bought


class Extractor(Protocol):
    """Finds the mentions of one topic's kinds."""

    @property
    def extractor_id(self) -> str:
        """A content hash of everything that decides the mentions."""
        ...

    @property
    def costly(self) -> bool:
        """Whether an answer costs money or minutes, so that each is kept the moment it comes."""
        ...

    def extract(self, responses: Iterable[ResponseText]) -> Iterator[Extracted]:
        """Yields one `Extracted` per response, as they finish. What fails is a row with a reason, not an exception."""
        ...
