"""A client of a SPARQL endpoint over Wikidata: which items name others, page by page.

The rules of the Wikidata Query Service: https://www.mediawiki.org/wiki/Wikidata_Query_Service/User_Manual
(60 seconds of query time a minute; after HTTP 429 a pause of `Retry-After`, or a minute). The protocol:
https://www.w3.org/TR/sparql11-protocol/ and https://www.w3.org/TR/sparql11-results-json/. A query that is too much for
the endpoint is split. The texts are those of `sparql/*.rq`, filled in with item numbers, properties and limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from string import Template
from typing import Literal, Self

import httpx
import msgspec
from msgspec import Struct

from polyculture.cache.identity import content_id
from polyculture.cache.network.http_answers import TooLargeError, retry_after
from polyculture.link.api.kept import Kept
from polyculture.link.entity import PROPERTIES
from polyculture.link.polite_client import TRIES_UNREACHED, PoliteClient, ServiceSettings, TryAgainError
from polyculture.link.qid import LARGEST

WIKIDATA_QUERY_SERVICE = "https://query.wikidata.org/sparql"
LIMIT = 20_000  # rows of a page
_LEAST = 100  # rows; smaller pages are not split
_AT_ONCE = 100  # items per query
_ROUND = 1_000  # endpoints that truncate an answer silently do so at a round number of rows
_PATIENCE = (30.0, 120.0)  # seconds to wait before the smallest query is sent again
_UNSTATED_PAUSE = 60.0  # seconds after HTTP 429 without Retry-After
_TIMED_OUT = re.compile(rb"(?<!set)time[d]?[ -]?out", re.IGNORECASE)  # not the script of a page of HTML
# The query, or its answer, is too long; 500: the endpoint fails at it, of memory for example, each in words of its own.
_TOO_MUCH = (408, 413, 414, 500, 504)
_ENTITY = re.compile(r"https?://www\.wikidata\.org/entity/Q([1-9][0-9]{0,8})")
_FOLDER = Path(__file__).with_name("sparql")

Name = Literal["below", "idle"]


@dataclass(frozen=True, slots=True)
class SparqlSettings(ServiceSettings):
    """How to send queries."""

    endpoint: str = WIKIDATA_QUERY_SERVICE
    requests_per_minute: float = 60.0
    timeout: float = 90.0  # seconds without a byte; the Wikidata Query Service gives up after 60
    megabytes: float = 256.0  # of an answer, decompressed: a page has 20,000 rows


@dataclass(frozen=True, slots=True)
class Query:
    """One page of a query. Raises `ValueError` for an invalid item number or property."""

    name: Name
    items: tuple[int, ...]
    code: str = "P31"  # the property of `below`
    limit: int = LIMIT
    offset: int = 0

    def __post_init__(self) -> None:
        wrong = [str(item) for item in self.items if not 1 <= item <= LARGEST]
        wrong += [] if self.code in PROPERTIES else [self.code]
        if wrong or not self.items or self.limit < 1 or self.offset < 0:
            raise ValueError(f"cannot query {wrong or self}")

    @property
    def text(self) -> str:
        """The text of the query."""
        return _template(self.name).substitute(
            items=" ".join(f"wd:Q{item}" for item in self.items),
            property=self.code,
            limit=self.limit,
            offset=self.offset,
        )

    @property
    def smaller(self) -> list[Self]:
        """Smaller queries that together give at least the same rows; an empty list where the query cannot be split."""
        if len(self.items) > 1:
            half = len(self.items) // 2
            return [replace(self, items=items, offset=0) for items in (self.items[:half], self.items[half:])]
        return [replace(self, limit=self.limit // 2)] if self.limit >= 2 * _LEAST else []


@cache
def _template(name: Name) -> Template:
    return Template((_FOLDER / f"{name}.rq").read_text(encoding="utf-8"))


class _Term(Struct, gc=False):
    value: str


class _Row(Struct, gc=False):
    above: _Term
    item: _Term


class _Bindings(Struct):
    bindings: list[_Row]


class _SparqlAnswer(Struct):
    results: _Bindings


class _TooMuchError(Exception):
    """The endpoint cannot answer this query; it may answer a smaller one."""


class SparqlClient(PoliteClient):
    """Sends queries to an endpoint, each once: what `kept` has is not asked again. `pages` counts those of this run.

    Raises `WikidataError` where it cannot be reached, refuses, or cannot answer the smallest query, after retries.
    """

    def __init__(self, settings: SparqlSettings, kept: Kept) -> None:
        super().__init__("the SPARQL endpoint", settings, "application/sparql-results+json")
        self._kept, self.pages = kept, 0

    def pairs(self, name: Name, items: Iterable[int], code: str = "P31") -> Iterator[tuple[int, int]]:
        """Yields (item of `items`, item that refers to it)."""
        ordered = sorted(items)
        for start in range(0, len(ordered), _AT_ONCE):
            query = Query(name, tuple(ordered[start : start + _AT_ONCE]), code)
            key = content_id(query.text)
            known = self._kept.pairs(key)
            if known is None:
                known = sorted(set(self.pairs_of(query)))
                self._kept.keep_pairs(key, known)
            yield from known

    def pairs_of(self, query: Query) -> Iterator[tuple[int, int]]:
        """Yields all pairs of a query, from this page to the last. A pair may come twice."""
        waiting = [query]
        while waiting:
            query = waiting.pop()
            page = self._page(query)
            if page is None:
                waiting += reversed(query.smaller)
                continue
            for row in page:
                above, item = _ENTITY.fullmatch(row.above.value), _ENTITY.fullmatch(row.item.value)
                if above and item:  # anything else is an unknown value
                    yield int(above[1]), int(item[1])
            if page and (len(page) >= query.limit or len(page) % _ROUND == 0):
                waiting.append(replace(query, offset=query.offset + len(page)))

    def _page(self, query: Query) -> Sequence[_Row] | None:
        """One page; None where it is too much for the endpoint and can be split."""
        # A query that cannot be split is small: the endpoint is probably overloaded for a while.
        for pause in (*_PATIENCE, None):
            try:
                page = self.ask(lambda: self._rows(query.text))
            except _TooMuchError as fault:
                if query.smaller:
                    return None
                if pause is None:
                    what = f"cannot answer even for Q{query.items[0]} alone: {fault}"
                    remedy = "Use another endpoint (QLever), or a dump: polyculture wikidata build DUMP -o FILE"
                    raise self.error(what, remedy) from fault
                self.settings.sleep(pause)
            else:
                self.pages += 1
                return page
        raise AssertionError("not reached")

    def _rows(self, query: str) -> Sequence[_Row]:
        try:
            response = self.send("POST", data={"query": query})
        except TryAgainError as fault:
            if isinstance(fault.__cause__, httpx.ReadTimeout | TooLargeError):  # a smaller page has less to say
                raise _TooMuchError(str(fault)) from fault
            raise
        self._check_status(response)
        body = response.content
        try:
            return msgspec.json.decode(body, type=_SparqlAnswer).results.bindings
        except ValueError as fault:
            what = "its answer is not SPARQL results in JSON"
            # Blazegraph truncates an answer when its time limit ends, QLever says so in another JSON object.
            cut = not isinstance(fault, msgspec.ValidationError) or _TIMED_OUT.search(body[-20_000:])
            if body.lstrip().startswith(b"{") and cut:
                raise _TooMuchError(f"{what}, or is cut") from fault
            raise TryAgainError(what, tries=TRIES_UNREACHED) from fault

    def _check_status(self, response: httpx.Response) -> None:
        code, after = response.status_code, retry_after(response.headers)
        reason = f"HTTP {code} {response.reason_phrase}"
        if response.is_success:
            return
        # QLever answers 429 to what takes too long.
        timed_out = code in (400, 429, 502, 503) and after is None and _TIMED_OUT.search(response.content)
        if code in _TOO_MUCH or timed_out:
            raise _TooMuchError(reason)
        if code == httpx.codes.TOO_MANY_REQUESTS:
            raise TryAgainError(reason, after or _UNSTATED_PAUSE)
        if code >= 500:
            raise TryAgainError(reason, after or 0.0)
        remedy = "Check that the address is that of a SPARQL endpoint over Wikidata, and the contact."
        raise self.error(f"refuses: {reason}", remedy)
