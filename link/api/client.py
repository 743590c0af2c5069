"""The Action API of Wikidata (or of another Wikibase): names are searched, entities fetched.

See https://www.wikidata.org/w/api.php?action=help&modules=wbsearchentities and ...=wbgetentities. What comes back is
checked: an answer to another question is a fault of the service, never "nothing found".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import TracebackType
from typing import Self

from polyculture.link.api.answers import Entity, Hit, read_entities, read_hits
from polyculture.link.api.settings import ApiSettings
from polyculture.link.api.transport import ApiTransport

__all__ = ["IDS_A_CALL", "LONGEST_NAME", "ApiClient", "ApiSettings", "Entity"]

IDS_A_CALL = 50  # what the API takes of a user who is not a bot
HITS_A_CALL = 50
MOST_PAGES = 200  # of hits; the API gives 10,000 at most
LONGEST_NAME = 250  # characters of a label that Wikidata takes
_NO_SUCH = "no-such-entity"
_PROPS = "info|labels|aliases|descriptions|claims|sitelinks"


class ApiClient:
    """Searches names and fetches entities, from several threads if need be.

    Raises `WikidataError` where no contact is given, or the service cannot be reached or refuses, after retries.
    """

    def __init__(self, settings: ApiSettings) -> None:
        self.settings = settings
        self._transport = ApiTransport(settings)

    @property
    def requests(self) -> int:
        """How many were sent."""
        return self._transport.requests

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._transport.close()

    def stop(self) -> None:
        """Makes an end of what other threads wait for: they raise `StoppedError`."""
        self._transport.stop()

    def search(self, language: str, term: str, enough: Callable[[Sequence[Hit]], bool]) -> list[str]:
        """The QIDs of the items that the service finds for a name, in its order.

        The service finds beginnings too, exact names first; it is asked for more until `enough` says so of the last
        page of hits.
        """
        found: list[str] = []
        params = {"action": "wbsearchentities", "search": term, "language": language, "uselang": language}
        start = 0
        for _ in range(MOST_PAGES):
            page = {**params, "type": "item", "limit": str(HITS_A_CALL), "continue": str(start)}
            hits, following = self._transport.ask(page, read_hits)
            found += [hit.qid for hit in hits]
            if not hits or following is None or following <= start or enough(hits):
                break
            start = following
        return list(dict.fromkeys(found))

    def entities(self, qids: Iterable[str], languages: Iterable[str]) -> dict[str, Entity | None]:
        """What linking needs of the entities, by the QID asked for; None for one that does not exist.

        A redirect gives its target, which says so in `redirects`. At most `IDS_A_CALL` at once: more are a mistake of
        the caller, which the service refuses.
        """
        left, found = list(dict.fromkeys(qids)), dict[str, Entity | None]()
        wanted = sorted(languages)
        params = {"action": "wbgetentities", "props": _PROPS, "languages": "|".join(wanted)}
        while left:
            asked = tuple(left)
            batch = {**params, "ids": "|".join(asked)}
            found |= self._transport.ask(batch, partial(read_entities, asked, wanted), (_NO_SUCH,))
            # One impossible id spoils a whole batch: it is found missing, and the others are asked for again.
            left = [qid for qid in asked if qid not in found]
        return found
