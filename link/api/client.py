"""A client of the Action API of Wikidata (or another Wikibase): searches names, fetches entities.

See https://www.wikidata.org/w/api.php?action=help&modules=wbsearchentities and ...=wbgetentities, and for `maxlag`
https://www.mediawiki.org/wiki/Manual:Maxlag_parameter. Answers are checked: an unexpected answer is a fault of the
service, never "nothing found".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

import httpx
import orjson

from polyculture.cache.errors import WikidataError
from polyculture.cache.http_answers import retry_after
from polyculture.link.api.answers import ApiAnswer, Entity, SearchHit, read_entities, read_hits
from polyculture.link.api.settings import ApiSettings
from polyculture.link.etiquette import TRIES_UNREACHED, PoliteClient, TryAgainError

__all__ = ["IDS_A_CALL", "ApiClient", "ApiSettings", "Entity"]

IDS_A_CALL = 50  # the API's limit for users without bot rights
HITS_A_CALL = 50
MOST_HITS = 10_000  # of a search; the API returns no more
LAG_PAUSES = (5.0, 60.0)  # seconds, least and most, for a lagging service that sends no Retry-After
_NO_SUCH = "no-such-entity"
_PROPS = "info|labels|aliases|descriptions|claims|sitelinks"
_LONGEST_REASON = 300  # characters of the service's message
_BUSY_CODES = ("maxlag", "ratelimited", "readonly", "concurrency-limit")
_SIGN_IN_CODES = ("mwoauth-", "assert")

T = TypeVar("T")


class ApiClient(PoliteClient):
    """Searches names and fetches entities.

    Raises `WikidataError` where no contact is given, or the service cannot be reached or refuses, after retries.
    """

    settings: ApiSettings

    def __init__(self, settings: ApiSettings) -> None:
        super().__init__("the Wikidata service", settings)
        self._reported: set[str] = set()

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
        signed_in = {"assert": "user"} if self.settings.token_env else {}
        return self.ask(lambda: self._answer({**params, **everywhere, **signed_in}, read, allowed))

    def _answer(self, params: Mapping[str, str], read: Callable[[ApiAnswer], T], allowed: str) -> T:
        token = self.settings.token()  # read for each request, never stored
        response = self.send("GET", params=params, headers={"Authorization": f"Bearer {token}"} if token else {})
        after, status = retry_after(response.headers) or 0.0, f"HTTP {response.status_code} {response.reason_phrase}"
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS or response.status_code >= 500:
            raise TryAgainError(self._one_line(status), after)
        answer = _json_object(response)
        if answer is not None and "error" in answer:
            self._check_error(answer["error"], after, allowed)
        elif response.is_error:
            raise self._refusal(self._one_line(status))
        if answer is None:
            raise TryAgainError("it does not send JSON", after, TRIES_UNREACHED)
        self._report_warnings(answer)
        try:
            return read(answer)
        except (KeyError, TypeError, ValueError, AttributeError) as fault:
            raise TryAgainError("its answer does not fit the request", after, TRIES_UNREACHED) from fault

    def _check_error(self, error: Any, after: float, allowed: str) -> None:
        code, info = (str(error.get(key)) for key in ("code", "info")) if isinstance(error, dict) else ("", str(error))
        if allowed and code == allowed:
            return
        reason = self._one_line(f"{code}: {info}".rstrip(". "))
        # A lagging service may answer with HTTP 200.
        if code == "maxlag":
            raise TryAgainError(reason, max(after, _lag(error)))
        if code in _BUSY_CODES or code.startswith("internal_api_error"):
            raise TryAgainError(reason, after)
        raise self._refusal(reason, signing_in=code.startswith(_SIGN_IN_CODES))

    def _refusal(self, reason: str, signing_in: bool = False) -> WikidataError:
        remedy = "Check the address of the service, the contact, and the languages of the catalogue."
        if signing_in and self.settings.token_env:
            remedy = f"Check the token in the environment variable {self.settings.token_env}."
        return self.error(f"refuses: {reason}", remedy)

    def _one_line(self, text: str) -> str:
        """A service's message for a terminal: without control characters, truncated, without our token."""
        if token := self.settings.token():
            text = text.replace(token, "...")
        plain = "".join(letter if letter.isprintable() else " " for letter in text)
        return plain if len(plain) <= _LONGEST_REASON else f"{plain[:_LONGEST_REASON]}..."

    def _report_warnings(self, answer: ApiAnswer) -> None:
        for warning in _warnings(answer):
            if warning not in self._reported:
                self._reported.add(warning)
                self.settings.tell(self._one_line(f"The Wikidata service warns: {warning}"))


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


def _warnings(answer: ApiAnswer) -> list[str]:
    """The service's warnings as `module: text`; their form differs between modules."""
    warnings = answer.get("warnings")
    if not isinstance(warnings, dict):
        return []
    return [f"{module}: {_text(warning)}" for module, warning in warnings.items()]


def _text(warning: Any) -> str:
    texts = [warning]
    if isinstance(warning, dict):
        messages = warning.get("messages")
        texts = [message.get("html") for message in messages if isinstance(message, dict)] if messages else [warning]
        texts = [text.get("*", text) if isinstance(text, dict) else text for text in texts]
    return "; ".join(str(text) for text in texts)
