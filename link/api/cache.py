"""The cache of the live service's answers, restricted to entities with all statements that linking needs now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from polyculture.cache.wikidata_cache import WikidataCache
from polyculture.link.api.answers import is_complete

_AT_ONCE = 500  # entities in memory


class AnswerCache(WikidataCache):
    """The answers of one service by request. `set_aside` is the path that a damaged file was moved to."""

    def entities(self, qids: Iterable[str], languages: Iterable[str]) -> dict[str, dict[str, Any] | None]:
        """The cached entities that were requested in all these languages; None for one that does not exist."""
        kept = super().entities(qids, languages)
        return {qid: entity for qid, entity in kept.items() if entity is None or is_complete(entity)}

    def batches(
        self, qids: Sequence[str], languages: Iterable[str]
    ) -> Iterator[tuple[Sequence[str], dict[str, dict[str, Any] | None]]]:
        """Yields the QIDs in batches of some hundreds, each with its `entities`."""
        names, left = list(languages), iter(qids)
        while some := list(islice(left, _AT_ONCE)):
            yield some, self.entities(some, names)
