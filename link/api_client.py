"""The Action API of Wikidata (or of another Wikibase), asked as politely as Wikimedia wants.

One connection, so many requests a minute and no more, a User-Agent with a contact, `maxlag`, and `Retry-After`
honoured. See https://www.mediawiki.org/wiki/API:Etiquette, https://www.wikidata.org/w/api.php?action=help and
https://foundation.wikimedia.org/wiki/Policy:User-Agent_policy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType
from typing import Any, Self

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_exponential_jitter

from cache.errors import WikidataError

WIKIDATA = "https://www.wikidata.org/w/api.php"
IDS_A_CALL = 50  # what the API takes of a user who is not a bot
HITS_A_CALL = 50
LONGEST_NAME = 250  # characters of a label that Wikidata takes
_TRIES = 8  # of a service that is busy
_TRIES_UNREACHED = 3  # of a service that is not there, or is something else
_BUSY_CODES = ("maxlag", "ratelimited", "readonly")

Entity = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """How the service is asked. `contact` (an e-mail address or a page) goes into the User-Agent and must be set."""

    contact: str
    endpoint: str = WIKIDATA
    requests_per_minute: float = 200.0
    maxlag: int = 5  # seconds of replication lag at which the service may send us away
    timeout: float = 30.0
    sleep: Callable[[float], None] = time.sleep

    def check(self) -> None:
        """Raises `WikidataError` where there is no contact."""
        if not self.contact.strip():
            what = "the live Wikidata service asks for a contact, and none is set"
            remedy = 'Write contact = "you@example.org" under [link] in the experiment file.'
            raise WikidataError(what, remedy=remedy)


class _TryAgainError(Exception):
    """The service cannot answer now."""

    def __init__(self, reason: str, after: float = 0.0, tries: int = _TRIES) -> None:
        super().__init__(reason)
        self.after, self.tries = after, tries


class ApiClient:
    """Searches names and fetches entities; `requests` counts what was sent.

    Raises `WikidataError` where no contact is given, or the service cannot be reached or refuses, after retries.
    """

    def __init__(self, settings: ApiSettings) -> None:
        settings.check()
        self.settings, self.requests = settings, 0
        self._next = 0.0  # when the next request may be sent
        self._http = httpx.Client(
            headers={"User-Agent": _user_agent(settings.contact)},
            limits=httpx.Limits(max_connections=1),
            timeout=settings.timeout,
            follow_redirects=True,
        )
        self._retrying = Retrying(
            retry=retry_if_exception_type(_TryAgainError), stop=_stop, wait=_wait, sleep=settings.sleep, reraise=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def search(self, language: str, term: str, enough: Callable[[Sequence[Entity]], bool]) -> list[str]:
        """The QIDs of the items that the service finds for a name, in its order.

        The service finds beginnings too, exact names first; it is asked for more until `enough` says so of the last
        page of hits.
        """
        found: list[str] = []
        params = {"action": "wbsearchentities", "search": term, "language": language, "uselang": language}
        following: int | None = 0
        while following is not None:
            page = self._call({**params, "type": "item", "limit": str(HITS_A_CALL), "continue": str(following)})
            hits = page.get("search", [])
            found += [hit["id"] for hit in hits]
            following = None if not hits or enough(hits) else page.get("search-continue")
        return list(dict.fromkeys(found))

    def entities(self, qids: Iterable[str], languages: Iterable[str]) -> dict[str, Entity | None]:
        """The entities by the QID asked for; None for one that does not exist. A redirect gives its target.

        At most `IDS_A_CALL` at once: more are a mistake of the caller, which the service refuses.
        """
        left, found = list(dict.fromkeys(qids)), dict[str, Entity | None]()
        params = {
            "action": "wbgetentities",
            "props": "info|labels|aliases|descriptions|claims|sitelinks",
            "languages": "|".join(sorted(languages)),
        }
        while left:
            answer = self._call({**params, "ids": "|".join(left)}, allowed=("no-such-entity",))
            if "error" in answer:
                # One impossible id spoils the whole batch.
                found[answer["error"].get("id", left[0])] = None
                left = [qid for qid in left if qid not in found]
                continue
            given = {_asked_for(qid, entity): entity for qid, entity in answer["entities"].items()}
            found.update({qid: _present(given.get(qid)) for qid in left})
            left = []
        return found

    def _call(self, params: dict[str, str], allowed: Sequence[str] = ()) -> Entity:
        everywhere = {"format": "json", "maxlag": str(self.settings.maxlag)}
        try:
            return self._retrying(self._ask, {**params, **everywhere}, allowed)
        except _TryAgainError as fault:
            remedy = "What was answered is kept: run the same command again later, and it goes on from there."
            raise WikidataError(
                f"the Wikidata service does not answer: {fault}", where=self._url, remedy=remedy
            ) from fault

    def _ask(self, params: dict[str, str], allowed: Sequence[str]) -> Entity:
        self._take_turn()
        try:
            response = self._http.get(self._url, params=params)
        except httpx.TransportError as fault:
            raise _TryAgainError(str(fault) or type(fault).__name__, tries=_TRIES_UNREACHED) from fault
        after = _seconds(response.headers.get("Retry-After"))
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS or response.status_code >= 500:
            raise _TryAgainError(f"HTTP {response.status_code} {response.reason_phrase}", after)
        if response.is_error:
            raise self._refusal(f"HTTP {response.status_code} {response.reason_phrase}")
        try:
            answer: Entity = response.json()
        except ValueError as fault:
            raise _TryAgainError("it sends something that is not JSON", after, _TRIES_UNREACHED) from fault
        error = answer.get("error")
        if error and error["code"] not in allowed:
            self._fail(error, after)
        return answer

    def _fail(self, error: Entity, after: float) -> None:
        code, info = error["code"], error.get("info", "")
        # A lagging service has been seen to say so under HTTP 200.
        if code in _BUSY_CODES or code.startswith("internal_api_error"):
            raise _TryAgainError(f"{code}: {info}", max(after, float(error.get("lag", 0.0))))
        raise self._refusal(f"{code}: {info}")

    def _refusal(self, reason: str) -> WikidataError:
        remedy = "Check the address of the service and the languages of the catalogue."
        return WikidataError(f"the Wikidata service refuses: {reason}", where=self._url, remedy=remedy)

    def _take_turn(self) -> None:
        now = time.monotonic()
        if now < self._next:
            self.settings.sleep(self._next - now)
        self._next = max(self._next, now) + 60.0 / self.settings.requests_per_minute
        self.requests += 1

    @property
    def _url(self) -> str:
        return self.settings.endpoint


def _asked_for(qid: str, entity: Entity) -> str:
    return str(entity.get("redirects", {}).get("from", qid))


def _present(entity: Entity | None) -> Entity | None:
    """`missing` is an empty string in the answer's old format, true in the new one."""
    return None if entity is None or "missing" in entity else entity


def _user_agent(contact: str) -> str:
    try:
        ours = version("polyculture")
    except PackageNotFoundError:
        ours = "0"
    return f"Polyculture/{ours} ({contact.strip()}) httpx/{httpx.__version__}"


def _seconds(header: str | None) -> float:
    """`Retry-After` in seconds; its other form, a date, is rare here and counts as not said."""
    return float(header) if header is not None and header.strip().isdecimal() else 0.0


_BACKOFF = wait_exponential_jitter(initial=1.0, max=60.0)


def _wait(state: RetryCallState) -> float:
    return max(_fault(state).after, _BACKOFF(state))


def _stop(state: RetryCallState) -> bool:
    return state.attempt_number >= _fault(state).tries


def _fault(state: RetryCallState) -> _TryAgainError:
    fault = state.outcome.exception() if state.outcome else None
    return fault if isinstance(fault, _TryAgainError) else _TryAgainError("")
