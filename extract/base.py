"""The interface of extractors: responses in, mentions out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from polyculture.cache.store.model_facts import Purchase

MAX_TOKENS = 1024  # of a model's answer about a text, where the experiment does not say


@dataclass(frozen=True, slots=True)
class ResponseText:
    """A response to extract mentions from."""

    response_id: str
    language: str
    text: str
    unusable: tuple[Extracted, ...] = ()  # the unusable answers about it so far: the same request is not repeated


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity as an extractor model or a published study lists it."""

    text: str  # as it is written in the response
    kind: str
    name: str | None = None  # its dictionary form, in the language of the text
    english: str | None = None  # its English or international name; None where it has none


@dataclass(frozen=True, slots=True)
class FoundMention:
    """A mention: the surface `text[start:end]`, or a hallucinated one that the text does not contain."""

    surface: str
    kind: str
    start: int | None  # character offsets in the text; None when hallucinated
    end: int | None
    hallucinated: bool = False
    name: str | None = None  # its dictionary form; None where the extractor gave none
    english: str | None = None  # its English or international name; None where it has or was given none
    repaired: bool = False  # the extractor returned words that the text lacks: `surface` is the passage nearest to them
    returned: str | None = None  # what it returned then
    published: str | None = None  # the QID that an imported study gives it


@dataclass(frozen=True, slots=True)
class Extracted:
    """The result for one response: all its mentions, or the reason of a failure.

    An unusable answer is a result of its own, with its cost; another result for the response follows. So is an answer
    that the token limit cut, as long as it can be asked for again with more room.
    """

    response_id: str
    status: str  # 'ok' | 'failed' | 'unusable'
    mentions: tuple[FoundMention, ...] = ()
    attempts: int = 1  # including earlier ones
    error: str | None = None  # one line; None when ok
    retryable: bool | None = None  # of a failure: may a later run succeed?
    raw: str | None = None  # the model's answer, unchanged
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    extractor_model: str | None = None  # the extractor's model
    purchase: Purchase | None = None  # how its answers were bought
    ending: str | None = None  # of the answer: 'whole' | 'cut' | ..., as in `responses`
    finish_reason: str | None = None  # of the answer
    note: str | None = None  # what of the answer was mended or dropped on arrival
    cut: bool | None = None  # mentions may be missing: the token limit cut the answer before the end of its list
    unknown_kinds: int | None = None  # mentions that were dropped, since the topic has no such kind
    unreadable: int | None = None  # parts of the list that could not be read
    declined: bool | None = None  # the extractor says that the text declines its task; None where it does not say
    named_cost: float | None = None  # what the server said that the answer costs; None where it named no money
    body: str | None = None  # the server's answer as it came, where no text could be read in it


def unpaid(extracted: Extracted) -> Extracted:
    """A result whose answer is paid for in another row."""
    return replace(extracted, prompt_tokens=None, completion_tokens=None, named_cost=None, purchase=None)


class Extractor(Protocol):
    """Extracts the mentions of one topic's kinds."""

    @property
    def extractor_id(self) -> str:
        """A content hash of all that decides the mentions, but for who reads a model's answers."""
        ...

    @property
    def costly(self) -> bool:
        """Does an answer cost money or minutes, so that each is stored as it comes?"""
        ...

    def extract(self, responses: Iterable[ResponseText]) -> Iterator[Extracted]:
        """Yields one `Extracted` per response, as they finish, and one row per unusable answer, before it.

        A failure is a row with a reason, not an exception.
        """
        ...
