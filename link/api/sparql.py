"""A client of a SPARQL endpoint over Wikidata: which items refer to others, and which bear a name.

The rules of the Wikidata Query Service: https://www.mediawiki.org/wiki/Wikidata_Query_Service/User_Manual
(60 seconds of query time a minute; after HTTP 429 a pause of `Retry-After`, or a minute: a client that does not wait is
banned for a day). The protocol: https://www.w3.org/TR/sparql11-protocol/ and
https://www.w3.org/TR/sparql11-results-json/. A query that is too much for the endpoint is split. The texts are those of
`sparql/*.rq`, filled in with items or names, properties and limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from string import Template
from typing import Literal, Self, TypeAlias

import httpx
import msgspec
from msgspec import Struct, field

from polyculture.cache.identity import content_id
from polyculture.cache.network.http_answers import TooLargeError, retry_after
from polyculture.link.api.kept import Bearer, KeptAnswers
from polyculture.link.api.names import NameInLanguage, is_tag
from polyculture.link.entity import PROPERTIES
from polyculture.link.polite_client import TRIES_UNREACHED, PoliteClient, ServiceSettings, TryAgainError, refusal
from polyculture.link.qid import LARGEST

WIKIDATA_QUERY_SERVICE = "https://query.wikidata.org/sparql"
QUERIES_PER_MINUTE = 60.0
LIMIT = 20_000  # rows of a page
_LEAST = 100  # rows; smaller pages are not split
_AT_ONCE = 100  # items per query
_NAMES_AT_ONCE = 64_000  # bytes of names in a query: some 200 mentions in all their spellings and languages
_ROUND = 1_000  # endpoints that truncate an answer silently do so at a round number of rows
_PATIENCE = (30.0, 120.0)  # seconds to wait before the smallest query is sent again
_UNSTATED_PAUSE = 60.0  # seconds after HTTP 429 without Retry-After
_TIMED_OUT = re.compile(rb"(?<!set)time[d]?[ -]?out", re.IGNORECASE)  # not the script of a page of HTML
# The query, or its answer, is too long; 500: the endpoint fails at it, of memory for example, each in words of its own.
_TOO_MUCH = (408, 413, 414, 500, 504)
_ENTITY = re.compile(r"https?://www\.wikidata\.org/entity/Q([1-9][0-9]{0,8})")
_FOLDER = Path(__file__).with_name("sparql")

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"})

QueryName = Literal["below", "idle", "names"]
# Of `names`: the variables of what stands above an item that bears a name, by property.
ABOVE = {"instance_of": "P31", "subclass_of": "P279", "part_of": "P361", "occupation": "P106"}


@dataclass(frozen=True, slots=True)
class SparqlSettings(ServiceSettings):
    """How to send queries."""

    endpoint: str = WIKIDATA_QUERY_SERVICE
    requests_per_minute: float = QUERIES_PER_MINUTE
    timeout: float = 90.0  # seconds without a byte; the Wikidata Query Service gives up after 60
    megabytes: float = 256.0  # of an answer, decompressed: a page has 20,000 rows


@dataclass(frozen=True, slots=True)
class Query:
    """One page of a query about `values`: items or names, as `items_of` and `names_of` write them."""

    name: QueryName
    values: tuple[str, ...]
    code: str = "P31"  # the property of `below`
    limit: int = LIMIT
    offset: int = 0

    def __post_init__(self) -> None:
        if self.code not in PROPERTIES or not self.values or self.limit < 1 or self.offset < 0:
            raise ValueError(f"cannot query {self}")

    @property
    def text(self) -> str:
        """The text of the query."""
        return _template(self.name).substitute(
            values=" ".join(self.values), property=self.code, limit=self.limit, offset=self.offset
        )

    @property
    def smaller(self) -> list[Self]:
        """Smaller queries that together give at least the same rows; an empty list where the query cannot be split."""
        if len(self.values) > 1:
            half = len(self.values) // 2
            return [replace(self, values=values, offset=0) for values in (self.values[:half], self.values[half:])]
        return [replace(self, limit=self.limit // 2)] if self.limit >= 2 * _LEAST else []

    def cuts(self, page: Sequence[object]) -> bool:
        """May there be rows after this page?"""
        return bool(page) and (len(page) >= self.limit or len(page) % _ROUND == 0)

    @property
    def names(self) -> frozenset[str]:
        """The names that are asked for, in lower case: some endpoints change the case of a language."""
        return frozenset(value.lower() for value in self.values) if self.name == "names" else frozenset()


def items_of(items: Iterable[int]) -> tuple[str, ...]:
    """Item numbers as a query names them. Raises `ValueError` for an invalid one."""
    found = tuple(items)
    if wrong := [item for item in found if not 1 <= item <= LARGEST]:
        raise ValueError(f"cannot query {wrong}")
    return tuple(f"wd:Q{item}" for item in found)


def name_of(term: NameInLanguage) -> str:
    """A name in a language as a query has it. Raises `ValueError` for an invalid language."""
    language, text = term
    if not is_tag(language):
        raise ValueError(f"cannot query in {language!r}")
    return _literal(language, text)


def _literal(language: str, text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"@{language}'


@cache
def _template(name: QueryName) -> Template:
    return Template((_FOLDER / f"{name}.rq").read_text(encoding="utf-8"))


class _RdfTerm(Struct, gc=False):
    value: str
    language: str = field(default="", name="xml:lang")


_QueryRow: TypeAlias = Mapping[str, _RdfTerm]


class _Bindings(Struct):
    bindings: list[dict[str, _RdfTerm]]


class _SparqlAnswer(Struct):
    results: _Bindings


class _TooMuchError(Exception):
    """The endpoint cannot answer this query; it may answer a smaller one."""


class SparqlClient(PoliteClient):
    """Sends queries to an endpoint, each once: what `kept` has is not asked again. `pages` counts those of this run.

    Raises `WikidataError` where it cannot be reached, refuses, or cannot answer the smallest query, after retries.
    """

    def __init__(self, settings: SparqlSettings, kept: KeptAnswers) -> None:
        super().__init__("the SPARQL endpoint", settings, "application/sparql-results+json")
        self._kept, self.pages = kept, 0

    def pairs(self, name: QueryName, items: Iterable[int], code: str = "P31") -> Iterator[tuple[int, int]]:
        """Yields (item of `items`, item that refers to it)."""
        ordered = items_of(sorted(items))
        for start in range(0, len(ordered), _AT_ONCE):
            query = Query(name, ordered[start : start + _AT_ONCE], code)
            key = content_id(query.text)
            known = self._kept.pairs(key)
            if known is None:
                known = sorted(set(self.pairs_of(query)))
                self._kept.keep_pairs(key, known)
            yield from known

    def pairs_of(self, query: Query) -> Iterator[tuple[int, int]]:
        """Yields all pairs of a query, from this page to the last. A pair may come twice."""
        for page in self._pages(query):
            for row in page:
                above, item = _item(row["above"]), _item(row["item"])
                if above and item:
                    yield above, item

    def find_bearers(self, terms: Iterable[NameInLanguage]) -> Iterator[int]:
        """Asks which items bear the names, and keeps each answer; yields how many names it was about.

        An answer that is cut does not say which names it lacks: its names are asked again in two halves.
        """
        for batch in _batches(terms):
            waiting = [batch]
            while waiting:
                names = waiting.pop()
                rows = self._bearers(Query("names", tuple(map(name_of, names))))
                if rows is None:
                    half = len(names) // 2
                    waiting += [names[half:], names[:half]]
                    continue
                self._kept.keep_names(names, rows)
                yield len(names)

    def _bearers(self, query: Query) -> list[Bearer] | None:
        """What the endpoint answers to a query of names; None where that is too much for one answer."""
        if len(query.values) == 1:
            rows = [row for page in self._pages(query) for row in page]
        else:
            page = self._page(query)
            if page is None or query.cuts(page):
                return None
            rows = list(page)
        return [bearer for row in rows for bearer in _read_bearers(row)]

    def _pages(self, query: Query) -> Iterator[Sequence[_QueryRow]]:
        """Yields the pages of a query, from this one to the last. A row may come twice."""
        waiting = [query]
        while waiting:
            query = waiting.pop()
            page = self._page(query)
            if page is None:
                waiting += reversed(query.smaller)
                continue
            yield page
            if query.cuts(page):
                waiting.append(replace(query, offset=query.offset + len(page)))

    def _page(self, query: Query) -> Sequence[_QueryRow] | None:
        """One page; None where it is too much for the endpoint and can be split."""
        # A query that cannot be split is small: the endpoint is probably overloaded for a while.
        for pause in (*_PATIENCE, None):
            try:
                page = self.ask(lambda: self._rows(query))
            except _TooMuchError as fault:
                if query.smaller:
                    return None
                if pause is None:
                    what = f"cannot answer even for {query.values[0].removeprefix('wd:')} alone: {fault}"
                    remedy = "Use another endpoint (QLever), or a dump: polyculture wikidata build DUMP -o FILE"
                    raise self.error(what, remedy) from fault
                self.settings.sleep(pause)
            else:
                self.pages += 1
                return page
        raise AssertionError("not reached")

    def _rows(self, query: Query) -> Sequence[_QueryRow]:
        try:
            response = self.send("POST", data={"query": query.text})
        except TryAgainError as fault:
            if isinstance(fault.__cause__, httpx.ReadTimeout | TooLargeError):  # a smaller page has less to say
                raise _TooMuchError(str(fault)) from fault
            raise
        self._check_status(response)
        body = response.content
        try:
            rows = msgspec.json.decode(body, type=_SparqlAnswer).results.bindings
            _check_fit(query, rows)
            return rows
        except ValueError as fault:
            what = "its answer is not SPARQL results in JSON"
            # Blazegraph truncates an answer when its time limit ends, QLever says so in another JSON object.
            cut = not isinstance(fault, msgspec.ValidationError) or _TIMED_OUT.search(body[-20_000:])
            if body.lstrip().startswith(b"{") and cut:
                raise _TooMuchError(f"{what}, or is cut") from fault
            raise TryAgainError(what, tries=TRIES_UNREACHED) from fault

    def _check_status(self, response: httpx.Response) -> None:
        code, after = response.status_code, retry_after(response.headers)
        if response.is_success:
            return
        # QLever answers 429 to what takes too long.
        timed_out = code in (400, 429, 502, 503) and after is None and _TIMED_OUT.search(response.content)
        if code in _TOO_MUCH or timed_out:
            raise _TooMuchError(f"HTTP {code} {response.reason_phrase}")
        reason = refusal(response)
        if code == httpx.codes.TOO_MANY_REQUESTS:
            raise TryAgainError(reason, after or _UNSTATED_PAUSE)
        if code >= 500:
            raise TryAgainError(reason, after or 0.0)
        remedy = (
            "If it is a ban, wait until it ends and give the same command again: what was fetched is kept. Else check "
            "that the address is that of a SPARQL endpoint over Wikidata, and the contact."
        )
        raise self.error(f"refuses: {reason}", remedy)


def queries_of(terms: Iterable[NameInLanguage]) -> int:
    """How many queries ask for these names, where the endpoint answers each as a whole."""
    return sum(1 for _ in _batches(terms))


def _batches(terms: Iterable[NameInLanguage]) -> Iterator[list[NameInLanguage]]:
    """The names in parts that fit into a query."""
    batch, size = list[NameInLanguage](), 0
    for term in terms:
        cost = len(name_of(term).encode()) + 1
        if batch and size + cost > _NAMES_AT_ONCE:
            yield batch
            batch, size = [], 0
        batch.append(term)
        size += cost
    if batch:
        yield batch


def _check_fit(query: Query, rows: Iterable[_QueryRow]) -> None:
    """Raises `msgspec.ValidationError` for rows that do not answer the query."""
    needed, names = ({"name", "item"} if query.name == "names" else {"above", "item"}), query.names
    for row in rows:
        if not needed <= row.keys():
            raise msgspec.ValidationError(f"a row without {', '.join(sorted(needed - row.keys()))}")
        if names and _literal(row["name"].language, row["name"].value).lower() not in names:
            raise msgspec.ValidationError("a name that was not asked for")


def _read_bearers(row: _QueryRow) -> Iterator[Bearer]:
    """What a row says of an item that bears a name: what stands above it, or that nothing does."""
    item, term = _item(row["item"]), (row["name"].language.lower(), row["name"].value)
    above = {code: _item(row[variable]) for variable, code in ABOVE.items() if variable in row}
    known = {code: target for code, target in above.items() if target}
    if item is not None:
        yield from (Bearer(term, item, code, target) for code, target in known.items())
        if not known:
            yield Bearer(term, item, None, None)


def _item(value: _RdfTerm) -> int | None:
    """The item's number; None for anything else, such as an unknown value."""
    found = _ENTITY.fullmatch(value.value)
    return int(found[1]) if found else None
