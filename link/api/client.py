"""A client of the Action API of Wikidata (or another Wikibase): searches names, fetches entities.

See https://www.wikidata.org/w/api.php?action=help&modules=wbsearchentities and ...=wbgetentities, and for `maxlag`
https://www.mediawiki.org/wiki/Manual:Maxlag_parameter. Answers are checked: an unexpected answer is a fault of the
service, never "nothing found".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import httpx
import orjson

from polyculture.cache.errors import WikidataError
from polyculture.cache.http_answers import retry_after
from polyculture.link.entity_json import Rows
from polyculture.link.etiquette import TRIES_UNREACHED, PoliteClient, ServiceSettings, TryAgainError, duration
from polyculture.link.qid import number

WIKIDATA = "https://www.wikidata.org/w/api.php"
REQUESTS_PER_MINUTE = 200.0  # Wikimedia's limit for a client that is not signed in
REQUESTS_PER_NAME = 2  # measured: 1.1, and 1.9 where the English name is searched, too
IDS_A_CALL = 50  # the API's limit for users without bot rights
HITS_A_CALL = 50
MOST_HITS = 10_000  # of a search; the API returns no more
LAG_PAUSES = (5.0, 60.0)  # seconds, least and most, for a lagging service that sends no Retry-After
_NO_SUCH = "no-such-entity"
_PROPS = "info|labels|aliases|descriptions|claims|sitelinks"
_LONGEST_REASON = 300  # characters of the service's message
_BUSY_CODES = ("maxlag", "ratelimited", "readonly", "concurrency-limit")
_INVALID_ID = re.compile(r"\(Invalid id: ([^)]*)\)")

ApiAnswer = Mapping[str, Any]
Entity = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ApiSettings(ServiceSettings):
    """How to ask the service."""

    endpoint: str = WIKIDATA
    requests_per_minute: float = REQUESTS_PER_MINUTE
    maxlag: int = 5  # seconds of replication lag above which the service may refuse a request

    @property
    def requests_line(self) -> str:
        """How many requests names take, and how long, in words."""
        names = 1000
        return (
            f"some {REQUESTS_PER_NAME} requests per distinct name, {self.requests_per_minute:g} a minute at most:"
            f" {names * REQUESTS_PER_NAME / self.requests_per_minute:.0f} minutes per {names:,} names,"
            " and nothing for names that the file was asked for"
        )

    def requests_for(self, names: int) -> str:
        """How many requests so many names take, and how long, in words."""
        requests, rate = names * REQUESTS_PER_NAME, self.requests_per_minute
        return f"{requests:,} requests, {duration(requests / rate)} at {rate:g} a minute"


class SearchHit(NamedTuple):
    """An item that a search found, and the matching name."""

    qid: str
    text: str


class ApiClient(PoliteClient):
    """Searches names and fetches entities.

    Raises `WikidataError` where no contact is given, or the service cannot be reached or refuses, after retries.
    """

    settings: ApiSettings

    def __init__(self, settings: ApiSettings) -> None:
        super().__init__("the Wikidata service", settings)

    def search(self, language: str, term: str, start: int = 0) -> tuple[list[SearchHit], int | None]:
        """A page of the items that the service finds for a name, in its order, and where the next page starts, if any.

        The service also finds prefixes, after exact names.
        """
        params = {"action": "wbsearchentities", "search": term, "language": language, "uselang": language}
        page = {**params, "type": "item", "limit": str(HITS_A_CALL), "continue": str(start)}
        hits, following = self._request(page, read_hits)
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
            entities |= self._request(batch, partial(read_entities, asked, wanted), _NO_SUCH)
            # One invalid id fails a whole batch: it counts as missing, and the others are requested again.
            left = [qid for qid in asked if qid not in entities]
        return entities

    def _request(self, params: Mapping[str, str], read: Callable[[ApiAnswer], T], allowed: str = "") -> T:
        """The answer as parsed by `read`, which raises for a malformed one. The error code `allowed` is an answer."""
        everywhere = {"format": "json", "maxlag": str(self.settings.maxlag)}
        return self.ask(lambda: self._answer({**params, **everywhere}, read, allowed))

    def _answer(self, params: Mapping[str, str], read: Callable[[ApiAnswer], T], allowed: str) -> T:
        response = self.send("GET", params=params)
        after, status = retry_after(response.headers) or 0.0, f"HTTP {response.status_code} {response.reason_phrase}"
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS or response.status_code >= 500:
            raise TryAgainError(_one_line(status), after)
        answer = _json_object(response)
        if answer is not None and "error" in answer:
            self._check_error(answer["error"], after, allowed)
        elif response.is_error:
            raise self._refusal(_one_line(status))
        if answer is None:
            raise TryAgainError("it does not send JSON", after, TRIES_UNREACHED)
        try:
            return read(answer)
        except (KeyError, TypeError, ValueError, AttributeError) as fault:
            raise TryAgainError("its answer does not fit the request", after, TRIES_UNREACHED) from fault

    def _check_error(self, error: Any, after: float, allowed: str) -> None:
        code, info = (str(error.get(key)) for key in ("code", "info")) if isinstance(error, dict) else ("", str(error))
        if allowed and code == allowed:
            return
        reason = _one_line(f"{code}: {info}".rstrip(". "))
        # A lagging service may answer with HTTP 200.
        if code == "maxlag":
            raise TryAgainError(reason, max(after, _lag(error)))
        if code in _BUSY_CODES or code.startswith("internal_api_error"):
            raise TryAgainError(reason, after)
        raise self._refusal(reason)

    def _refusal(self, reason: str) -> WikidataError:
        remedy = "Check the address of the service, the contact, and the languages of the catalogue."
        return self.error(f"refuses: {reason}", remedy)


def _one_line(text: str) -> str:
    """A service's message for a terminal: without control characters, truncated."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return plain if len(plain) <= _LONGEST_REASON else f"{plain[:_LONGEST_REASON]}..."


def _lag(error: Mapping[str, Any]) -> float:
    least, most = LAG_PAUSES
    lag = error.get("lag")
    return min(max(least, float(lag)), most) if isinstance(lag, int | float) else least


def _json_object(response: httpx.Response) -> ApiAnswer | None:
    """The answer, or None where it is not a JSON object."""
    try:
        answer = orjson.loads(response.content)  # strict: a broken label would be kept for good
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


# The readers of answers raise `KeyError`, `TypeError`, `ValueError` or `AttributeError` for one that does not fit the
# request.
def read_hits(answer: ApiAnswer) -> tuple[list[SearchHit], int | None]:
    """The hits of one page of `wbsearchentities`, and the offset of the next page, if any."""
    hits = [
        SearchHit(f"Q{number(hit['id'])}", str((hit.get("match") or {}).get("text", ""))) for hit in answer["search"]
    ]
    following = answer.get("search-continue")
    return hits, None if following is None else int(following)


def read_entities(asked: Sequence[str], languages: Iterable[str], answer: ApiAnswer) -> dict[str, Entity | None]:
    """The entities of `wbgetentities` by requested id; None for a missing one.

    Where the service rejects the batch for one invalid id, only that id, as missing.
    """
    if "error" in answer:
        return {_invalid_id(answer["error"], asked): None}
    given: dict[str, Entity] = {}
    for qid, entity in answer["entities"].items():
        given.setdefault(str((entity.get("redirects") or {}).get("from", qid)), entity)
        given[qid] = entity
    wanted = list(languages)
    return {qid: _item(given[qid], wanted) for qid in asked}


def _invalid_id(error: Mapping[str, Any], asked: Sequence[str]) -> str:
    """The id that the service rejects: in the field `id`, or in the message."""
    said = _INVALID_ID.search(str(error.get("info", "")))
    named = [error.get("id"), said[1] if said else None, *(asked if len(asked) == 1 else ())]
    invalid = [qid for qid in named if qid in asked]
    if not invalid:
        raise ValueError(f"none of the requested ids is in {error}")
    return str(invalid[0])


def _item(entity: Entity, languages: Sequence[str]) -> Entity | None:
    """The item; None where `missing` is set: an empty string in the old format, true in the new one."""
    if "missing" in entity:
        return None
    Rows(languages).add(entity)  # raises for items that no snapshot can hold
    return entity
