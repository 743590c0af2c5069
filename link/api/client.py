"""A client of the Action API of Wikidata (or another Wikibase): searches names, fetches entities.

See https://www.wikidata.org/w/api.php?action=help&modules=wbsearchentities and ...=wbgetentities. Answers are
checked: an unexpected answer is a fault of the service, never "nothing found".
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from types import TracebackType
from typing import Self

from polyculture.link.api.answers import Entity, SearchHit, read_entities, read_hits
from polyculture.link.api.settings import ApiSettings
from polyculture.link.api.transport import ApiTransport

__all__ = ["IDS_A_CALL", "ApiClient", "ApiSettings", "Entity"]

IDS_A_CALL = 50  # the API's limit for users without bot rights
HITS_A_CALL = 50
MOST_HITS = 10_000  # of a search; the API returns no more
_NO_SUCH = "no-such-entity"
_PROPS = "info|labels|aliases|descriptions|claims|sitelinks"


class ApiClient:
    """Searches names and fetches entities. Thread-safe.

    Raises `WikidataError` where no contact is given, or the service cannot be reached or refuses, after retries.
    """

    def __init__(self, settings: ApiSettings) -> None:
        self.settings = settings
        self._transport = ApiTransport(settings)

    @property
    def requests(self) -> int:
        """The number of requests sent."""
        return self._transport.requests

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._transport.close()

    def stop(self) -> None:
        """Ends the waits of other threads: they raise `StoppedError`."""
        self._transport.stop()

    def search(self, language: str, term: str, start: int = 0) -> tuple[list[SearchHit], int | None]:
        """A page of the items that the service finds for a name, in its order, and where the next page starts, if any.

        The service also finds prefixes, after exact names.
        """
        params = {"action": "wbsearchentities", "search": term, "language": language, "uselang": language}
        page = {**params, "type": "item", "limit": str(HITS_A_CALL), "continue": str(start)}
        hits, following = self._transport.request(page, read_hits)
        more = hits and following is not None and start < following < MOST_HITS
        return hits, following if more else None

    def entities(self, qids: Iterable[str], languages: Iterable[str]) -> dict[str, Entity | None]:
        """The entities by requested QID, with the parts that linking needs; None for one that does not exist.

        A redirect gives its target, with `redirects` set. The service refuses more than `IDS_A_CALL` QIDs.
        """
        left, entities = list(dict.fromkeys(qids)), dict[str, Entity | None]()
        wanted = sorted(languages)
        params = {"action": "wbgetentities", "props": _PROPS, "languages": "|".join(wanted)}
        while left:
            asked = tuple(left)
            batch = {**params, "ids": "|".join(asked)}
            entities |= self._transport.request(batch, partial(read_entities, asked, wanted), (_NO_SUCH,))
            # One invalid id fails a whole batch: it counts as missing, and the others are requested again.
            left = [qid for qid in asked if qid not in entities]
        return entities
