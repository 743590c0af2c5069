"""A client of a SPARQL endpoint over Wikidata.

The rules of the Wikidata Query Service: https://www.mediawiki.org/wiki/Wikidata_Query_Service/User_Manual
(60 seconds of query time a minute; after HTTP 429 a pause of `Retry-After`, or a minute). The protocol:
https://www.w3.org/TR/sparql11-protocol/ and https://www.w3.org/TR/sparql11-results-json/.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import httpx
import msgspec
from msgspec import Struct, field

from polyculture.cache.errors import WikidataError
from polyculture.cache.http_answers import retry_after
from polyculture.link.etiquette import TRIES_UNREACHED, PoliteClient, ServiceSettings, TryAgainError
from polyculture.link.http import TooLargeError as LargerError

WIKIDATA_QUERY_SERVICE = "https://query.wikidata.org/sparql"
_UNSTATED_PAUSE = 60.0  # seconds after HTTP 429 without Retry-After
_TIMED_OUT = re.compile(rb"time[d]?[ -]?out", re.IGNORECASE)
_TIMED_OUT_CODES = (408, 413, 414, 504)  # the query, or its answer, is too long


class TooLargeError(Exception):
    """The endpoint cannot answer this query within its time limit."""


@dataclass(frozen=True, slots=True)
class SparqlSettings(ServiceSettings):
    """How to send queries."""

    endpoint: str = WIKIDATA_QUERY_SERVICE
    requests_per_minute: float = 60.0
    timeout: float = 90.0  # seconds without a byte; the Wikidata Query Service gives up after 60
    megabytes: float = 256.0  # of an answer, decompressed: a page has 20,000 rows


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


class SparqlClient(PoliteClient):
    """Sends queries to an endpoint.

    Raises `WikidataError` where it cannot be reached or refuses, after retries.
    """

    def __init__(self, settings: SparqlSettings) -> None:
        super().__init__("the SPARQL endpoint", settings, "application/sparql-results+json")

    def query(self, query: str) -> bytes:
        """The answer to a SELECT query, in SPARQL's JSON. Raises `TooLargeError` after the endpoint's time limit."""
        return self.ask(lambda: self._answer(query))

    def too_large(self, what: str) -> WikidataError:
        """The error for when even the smallest query takes too long."""
        remedy = "Use an endpoint with a longer limit (QLever), or a dump: polyculture wikidata build DUMP -o FILE"
        told = f"the SPARQL endpoint's time limit is too short for {what}"
        return WikidataError(told, where=self.settings.endpoint, remedy=remedy)

    def _answer(self, query: str) -> bytes:
        try:
            response = self.send("POST", data={"query": query})
        except TryAgainError as fault:
            if isinstance(fault.__cause__, httpx.ReadTimeout | LargerError):  # a smaller page has less to say
                raise TooLargeError from fault
            raise
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
        remedy = "Check that the address is that of a SPARQL endpoint over Wikidata, and the contact."
        raise self.error(f"refuses: {reason}", remedy)

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
