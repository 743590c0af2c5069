"""Mentions that imported texts came with: written with the texts, so that nothing is left to extract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from polyculture.cache.identity import content_id
from polyculture.extract.base import Extracted, FoundMention, NamedEntity, ResponseText
from polyculture.extract.offsets import locate


def published_extractor_id() -> str:
    """What published mentions are known by."""
    return content_id("published mentions", 1)


class PublishedExtractor:
    """What is left are texts of files that name no items: each is a failure that says so."""

    costly = False
    extractor_id = published_extractor_id()

    def extract(self, responses: Iterable[ResponseText]) -> Iterator[Extracted]:
        for one in responses:
            yield Extracted(one.response_id, "failed", error="the imported file names no items", retryable=False)


def place(text: str, named: Iterable[NamedEntity], language: str) -> tuple[FoundMention, ...]:
    """The entities as mentions, one each, in their order.

    A surface that is listed again is the next occurrence; after the last one, the first again. What the text does not
    hold in any form is hallucinated.
    """
    after: dict[str, int] = {}
    mentions = []
    for entity in named:
        surface = entity.text
        start = text.find(surface, after.get(surface, 0))
        start = text.find(surface) if start < 0 else start
        if start >= 0:
            after[surface] = start + len(surface)
            mentions.append(
                FoundMention(
                    surface, entity.kind, start, start + len(surface), name=entity.name, english=entity.english
                )
            )
        else:
            mentions.append(locate(text, [entity], language)[0])
    return tuple(mentions)
