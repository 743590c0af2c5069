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
from typing import Any, TypeVar

import httpx
import orjson

from polyculture.cache.network.http_answers import TooLargeError, retry_after
from polyculture.link.entity_json import EntityRows
from polyculture.link.polite_client import TRIES_UNREACHED, PoliteClient, ServiceSettings, TryAgainError, refusal
from polyculture.link.qid import number

WIKIDATA = "https://www.wikidata.org/w/api.php"
REQUESTS_PER_MINUTE = 200.0  # Wikimedia's limit for a client that is not signed in
IDS_A_CALL = 50  # the API's limit for users without bot rights
HITS_A_CALL = 50
LAG_PAUSES = (5.0, 60.0)  # seconds, least and most, for a lagging service that sends no Retry-After
_NO_SUCH = "no-such-entity"
_PROPS = "info|labels|aliases|descriptions|claims|sitelinks"
# Codes of a service that is busy. What others mean nobody lists: they are tried a few times, and are a refusal then.
_BUSY_CODES = ("maxlag", "ratelimited", "readonly", "concurrency-limit")
_TOO_MANY = "toomany"  # ids in a request
_REMEDY = "Check the address of the service, the contact, and the languages of the catalogue."
_INVALID_ID = re.compile(r"\(Invalid id: ([^)]*)\)")
_OTHER_ENTITY = re.compile(r"[A-PR-Z][1-9][0-9]*(-[A-Z][1-9][0-9]*)?")  # a property, a lexeme, its form

ApiAnswer = Mapping[str, Any]
EntityJson = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ApiSettings(ServiceSettings):
    """How to ask the service."""

    endpoint: str = WIKIDATA
    requests_per_minute: float = REQUESTS_PER_MINUTE
    maxlag: int = 5  # seconds of replication lag above which the service may refuse a request


class ApiClient(PoliteClient):
    """Searches names and fetches entities.

    Raises `WikidataError` where no contact is given, or the service cannot be reached or refuses, after retries.
    """

    settings: ApiSettings

    def __init__(self, settings: ApiSettings) -> None:
        super().__init__("the Wikidata service", settings)
        self._at_once = IDS_A_CALL

    def search(self, language: str, term: str) -> list[str]:
        """The QIDs of the first items that the service finds for a name, in its order: exact names, then prefixes."""
        params = {"action": "wbsearchentities", "search": term, "language": language, "uselang": language}
        return self._request({**params, "type": "item", "limit": str(HITS_A_CALL)}, read_hits)

    def entities(self, qids: Iterable[str], languages: Iterable[str]) -> dict[str, EntityJson | None]:
        """The entities by requested QID, with the parts that linking needs; None for one that does not exist.

        A redirect gives its target, with `redirects` set. Of what the service leaves out of its answer more is asked.
        """
        left, entities = list(dict.fromkeys(qids)), dict[str, EntityJson | None]()
        wanted = sorted(languages)
        params = {"action": "wbgetentities", "props": _PROPS, "languages": "|".join(wanted)}
        while left:
            asked = tuple(left[: self._at_once])
            allowed = (_NO_SUCH, _TOO_MANY) if len(asked) > 1 else (_NO_SUCH,)
            found = self._request({**params, "ids": "|".join(asked)}, partial(read_entities, asked, wanted), allowed)
            if not found:  # more at once than this service allows, or than an answer may hold
                self._at_once = len(asked) // 2
            entities |= found
            left = [qid for qid in left if qid not in entities]
        return entities

    def _request(self, params: Mapping[str, str], read: Callable[[ApiAnswer], T], allowed: Sequence[str] = ()) -> T:
        """The answer as parsed by `read`, which raises for a malformed one. Errors with codes `allowed` are answers."""
        everywhere = {"format": "json", "maxlag": str(self.settings.maxlag)}
        return self.ask(lambda: self._answer({**params, **everywhere}, read, allowed))

    def _answer(self, params: Mapping[str, str], read: Callable[[ApiAnswer], T], allowed: Sequence[str]) -> T:
        try:
            response = self.send("GET", params=params)
        except TryAgainError as fault:
            if isinstance(fault.__cause__, TooLargeError) and _TOO_MANY in allowed:
                return read({"error": {"code": _TOO_MANY}})
            raise
        after, code = retry_after(response.headers) or 0.0, response.status_code
        if code in (httpx.codes.TOO_MANY_REQUESTS, httpx.codes.REQUEST_TIMEOUT) or code >= 500:
            raise TryAgainError(refusal(response), after)
        answer = _json_object(response)
        if answer is not None and "error" in answer:
            _check_error(answer["error"], after, allowed)
        elif response.is_error:
            raise self.error(f"refuses: {refusal(response)}", _REMEDY)
        if answer is None:
            raise TryAgainError("it does not send JSON", after, TRIES_UNREACHED)
        try:
            return read(answer)
        except (KeyError, TypeError, ValueError, AttributeError) as fault:
            reason = f"its answer does not fit the request: {fault}"
            raise TryAgainError(reason, after, TRIES_UNREACHED) from fault


def _check_error(error: Any, after: float, allowed: Sequence[str]) -> None:
    code, info = (str(error.get(key)) for key in ("code", "info")) if isinstance(error, dict) else ("", str(error))
    if code in allowed:
        return
    reason = f"{code}: {info}".strip(":. ")
    # A lagging service may answer with HTTP 200.
    if code == "maxlag":
        raise TryAgainError(reason, max(after, _lag(error)))
    if code in _BUSY_CODES or code.startswith("internal_api_error"):
        raise TryAgainError(reason, after)
    raise TryAgainError(reason, after, TRIES_UNREACHED, _REMEDY)


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
def read_hits(answer: ApiAnswer) -> list[str]:
    """The QIDs of the hits of `wbsearchentities`."""
    return [f"Q{number(hit['id'])}" for hit in answer["search"] if not _OTHER_ENTITY.fullmatch(hit["id"])]


def read_entities(asked: Sequence[str], languages: Iterable[str], answer: ApiAnswer) -> dict[str, EntityJson | None]:
    """The entities of `wbgetentities` by requested id; None for a missing one.

    It has those that the service sends, one at least. Where the service rejects the batch for one invalid id, only that
    id, as missing; where it rejects it for its size, nothing.
    """
    error = answer.get("error")
    if error and error["code"] == _TOO_MANY:
        return {}
    if error:
        return {_invalid_id(error, asked): None}
    given: dict[str, EntityJson] = {}
    for qid, entity in answer["entities"].items():
        given.setdefault(str((entity.get("redirects") or {}).get("from", qid)), entity)
        given[str(entity["id"]) if qid.startswith("-") else qid] = entity  # what is missing may have a key of its own
    wanted = list(languages)
    found = {qid: _item(given[qid], wanted) for qid in asked if qid in given}
    if not found:
        raise ValueError(f"without {asked[0]}")
    return found


def _invalid_id(error: Mapping[str, Any], asked: Sequence[str]) -> str:
    """The id that the service rejects: in the field `id`, or in the message."""
    said = _INVALID_ID.search(str(error.get("info", "")))
    named = [error.get("id"), said[1] if said else None, *(asked if len(asked) == 1 else ())]
    invalid = [qid for qid in named if qid in asked]
    if not invalid:
        raise ValueError(f"none of the requested ids is in {error}")
    return str(invalid[0])


def _item(entity: EntityJson, languages: Sequence[str]) -> EntityJson | None:
    """The item; None where `missing` is set: an empty string in the old format, true in the new one."""
    if "missing" in entity:
        return None
    EntityRows(languages).add(entity)  # raises for items that no snapshot can hold
    return entity
