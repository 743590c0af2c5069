"""What an extractor is given, and what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from polyculture.cache.prices import Purchase


@dataclass(frozen=True, slots=True)
class ResponseText:
    """A response to find the mentions of."""

    response_id: str
    language: str
    text: str
    unusable: int = 0  # answers about it that were of no use, so far: the same question is not asked again


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
    """What became of one response: all its mentions, or the reason why there are none. An answer of no use, after
    which it is asked again, is 'unusable': it says what was paid for it, and another follows."""

    response_id: str
    status: str  # 'ok' | 'failed' | 'unusable'
    mentions: tuple[FoundMention, ...] = ()
    attempts: int = 1  # those before this one included
    error: str | None = None  # one line; None when ok
    retryable: bool | None = None  # of a failure: worth trying again
    raw: str | None = None  # the model's answer, as it came
    prompt_tokens: int | None = None
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
        """Yields one `Extracted` per response, as they finish, and one more before it per answer that was of no use.

        What fails is a row with a reason, not an exception.
        """
        ...
