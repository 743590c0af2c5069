"""A rate-limited client of a SPARQL endpoint over Wikidata: one request at a time, with a contact.

The rules of the Wikidata Query Service: https://www.mediawiki.org/wiki/Wikidata_Query_Service/User_Manual
(60 seconds of query time a minute; after HTTP 429 a pause of `Retry-After`, or a minute). The protocol:
https://www.w3.org/TR/sparql11-protocol/ and https://www.w3.org/TR/sparql11-results-json/.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import httpx
import msgspec
from msgspec import Struct, field
from tenacity import RetryCallState, Retrying, retry_if_exception_type

from polyculture.cache.errors import WikidataError
from polyculture.cache.http_answers import retry_after
from polyculture.link.etiquette import (
    LONGEST_PAUSE,
    TRIES_UNREACHED,
    RateLimiter,
    TryAgainError,
    fault_of,
    is_contact,
    reportable_pause,
    user_agent,
    wait,
)
from polyculture.link.http import BoundedHttp
from polyculture.link.http import TooLargeError as LargerError

WIKIDATA_QUERY_SERVICE = "https://query.wikidata.org/sparql"
_UNSTATED_PAUSE = 60.0  # seconds after HTTP 429 without Retry-After
_TIMED_OUT = re.compile(rb"time[d]?[ -]?out", re.IGNORECASE)
_TIMED_OUT_CODES = (408, 413, 414, 504)  # the query, or its answer, is too long


class TooLargeError(Exception):
    """The endpoint cannot answer this query within its time limit."""


@dataclass(frozen=True, slots=True)
class PullSettings:
    """How to send queries. `contact` (an e-mail address or a page) goes into the User-Agent and must be set."""

    contact: str
    endpoint: str = WIKIDATA_QUERY_SERVICE
    requests_per_minute: float = 60.0
    timeout: float = 90.0  # seconds without a byte; the Wikidata Query Service gives up after 60
    deadline: float = 600.0  # seconds for a whole answer
    megabytes: float = 256.0  # of an answer, decompressed: a page has 20,000 rows
    tell: Callable[[str], None] = lambda _line: None
    sleep: Callable[[float], object] = time.sleep  # for tests, as is `clock`
    clock: Callable[[], float] = time.monotonic

    def check(self) -> None:
        """Raises `WikidataError` where the contact or the endpoint's address is missing or invalid."""
        if not is_contact(self.contact):
            what = "a SPARQL endpoint requires a contact, and none is given"
            raise WikidataError(what, remedy="Give an e-mail address or a page: --contact you@example.org")
        if not re.fullmatch(r"https?://[^\s/]+\S*", self.endpoint):
            remedy = f"Give the whole address: --endpoint {WIKIDATA_QUERY_SERVICE}"
            raise WikidataError("is not the address of a SPARQL endpoint", where=self.endpoint, remedy=remedy)


class Term(Struct, gc=False):
    """A value in an answer: an IRI, or a literal with its language."""

    value: str
    type: str = "literal"
    language: str = field(default="", name="xml:lang")


Binding = Mapping[str, Term]


class _Bindings(Struct):
    bindings: list[dict[str, Term]]


class _SparqlAnswer(Struct):
    results: _Bindings


def read_rows(body: bytes) -> list[dict[str, Term]]:
    """The rows of an answer in SPARQL's JSON. Raises `ValueError` for anything else."""
    return msgspec.json.decode(body, type=_SparqlAnswer).results.bindings


class SparqlClient:
    """Sends queries to an endpoint; `requests` counts them.

    Raises `WikidataError` where it cannot be reached or refuses, after retries.
    """

    def __init__(self, settings: PullSettings) -> None:
        settings.check()
        self._settings = settings
        self._answered = False
        self._rate_limiter = RateLimiter(settings.requests_per_minute, sleep=settings.sleep, clock=settings.clock)
        self._http = BoundedHttp(
            {"User-Agent": user_agent(settings.contact), "Accept": "application/sparql-results+json"},
            connections=1,
            timeout=settings.timeout,
            deadline=settings.deadline,
            megabytes=settings.megabytes,
        )
        self._retrying = Retrying(
            retry=retry_if_exception_type(TryAgainError),
            stop=lambda state: state.attempt_number >= fault_of(state).tries or fault_of(state).after > LONGEST_PAUSE,
            wait=wait,
            sleep=self._rate_limiter.pause,
            before_sleep=self._report_pause,
            reraise=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    @property
    def requests(self) -> int:
        return self._rate_limiter.requests

    def query(self, query: str) -> bytes:
        """The answer to a SELECT query, in SPARQL's JSON. Raises `TooLargeError` after the endpoint's time limit."""
        try:
            answer: bytes = self._retrying(self._send, query)
            self._answered = True
        except TryAgainError as fault:
            remedy = "All answers so far are kept: run the same command again later to resume."
            if not self._answered:
                remedy = "It never answered: is the address right? Run the same command again later."
            raise self._error(f"the SPARQL endpoint does not answer: {fault}", remedy) from fault
        return answer

    def too_large(self, what: str) -> WikidataError:
        """The error for when even the smallest query takes too long."""
        remedy = "Use an endpoint with a longer limit (QLever), or a dump: polyculture wikidata build DUMP -o FILE"
        return self._error(f"the SPARQL endpoint's time limit is too short for {what}", remedy)

    def _send(self, query: str) -> bytes:
        self._rate_limiter.take_turn()
        try:
            response = self._http.request("POST", self._settings.endpoint, data={"query": query})
        except (httpx.ReadTimeout, LargerError) as fault:  # a smaller page has less to say
            raise TooLargeError from fault
        except httpx.ConnectError as fault:
            raise TryAgainError(str(fault) or "no connection", tries=TRIES_UNREACHED) from fault
        except httpx.InvalidURL as fault:
            raise self._refusal(str(fault)) from fault
        except httpx.RequestError as fault:
            raise TryAgainError(str(fault) or type(fault).__name__) from fault
        self._check_status(response)
        return self._checked(response.content)

    def _check_status(self, response: httpx.Response) -> None:
        if response.is_success:
            return
        reason, after = f"HTTP {response.status_code} {response.reason_phrase}", retry_after(response.headers) or 0.0
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS:
            raise TryAgainError(reason, after or _UNSTATED_PAUSE)
        if response.status_code in _TIMED_OUT_CODES or _TIMED_OUT.search(response.content):
            raise TooLargeError
        if response.status_code >= 500:
            raise TryAgainError(reason, after)
        raise self._refusal(reason)

    def _checked(self, body: bytes) -> bytes:
        try:
            read_rows(body)
        except ValueError as fault:
            # Blazegraph truncates an answer when its time limit ends.
            if body.lstrip().startswith(b"{") and _TIMED_OUT.search(body[-20_000:]):
                raise TooLargeError from fault
            what = "its answer is not SPARQL results in JSON"
            raise TryAgainError(what, tries=TRIES_UNREACHED) from fault
        return body

    def _refusal(self, reason: str) -> WikidataError:
        remedy = "Check that the address is that of a SPARQL endpoint over Wikidata, and the contact."
        return self._error(f"the SPARQL endpoint refuses: {reason}", remedy)

    def _error(self, what: str, remedy: str) -> WikidataError:
        return WikidataError(what, where=self._settings.endpoint, remedy=remedy)

    def _report_pause(self, state: RetryCallState) -> None:
        if pause := reportable_pause(state):
            self._settings.tell(f"The SPARQL endpoint is busy ({fault_of(state)}): waiting {pause:.0f} s")
