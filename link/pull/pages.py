"""SPARQL queries, and their results page by page: a query that exceeds the endpoint's time limit is split.

The texts are those of `sparql/*.rq`, filled in with validated item numbers, properties and limits.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from string import Template
from typing import Literal, Self

from polyculture.cache.identity import content_id
from polyculture.link.api.kept import Kept
from polyculture.link.entity import PROPERTIES
from polyculture.link.pull.client import Binding, SparqlClient, TooLargeError, read_rows
from polyculture.link.qid import LARGEST

LIMIT = 20_000  # rows of a page
_LEAST = 100  # rows; smaller pages are not split
_PATIENCE = (30.0, 120.0)  # seconds to wait before the smallest query is sent again
_ROUND = 1_000  # endpoints that truncate an answer silently do so at a round number of rows
_ENTITY = re.compile(r"https?://www\.wikidata\.org/entity/Q([1-9][0-9]{0,8})")
_FOLDER = Path(__file__).with_name("sparql")

Name = Literal["below", "idle"]


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

    def after(self, rows: int) -> Self:
        """The page after this one, which had `rows` rows."""
        return replace(self, offset=self.offset + rows)

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


class QueryPages:
    """Asks an endpoint, each query once: what `kept` has is not asked again. `asked` counts the pages of this run."""

    def __init__(self, client: SparqlClient, kept: Kept, sleep: Callable[[float], object] = time.sleep) -> None:
        self._client, self._kept, self._sleep = client, kept, sleep
        self.asked = 0

    def pairs(self, query: Query) -> Sequence[tuple[int, int]]:
        """The pairs (item of the query, item that refers to it)."""
        key = content_id(query.text)
        known = self._kept.pairs(key)
        if known is None:
            known = sorted(set(self._pairs(query)))
            self._kept.keep_pairs(key, known)
        return known

    def _pairs(self, query: Query) -> Iterator[tuple[int, int]]:
        for row in self.rows(query):
            above, item = (_ENTITY.fullmatch(row[name].value) for name in ("above", "item"))
            if above and item:  # anything else is an unknown value
                yield int(above[1]), int(item[1])

    def rows(self, query: Query) -> Iterator[Binding]:
        """Yields all rows of a query, from this page to the last. A row may come twice."""
        waiting = [query]
        while waiting:
            query = waiting.pop()
            page = self._page(query)
            if page is None:
                waiting += reversed(query.smaller)
                continue
            yield from page
            if page and (len(page) >= query.limit or len(page) % _ROUND == 0):
                waiting.append(query.after(len(page)))

    def _page(self, query: Query) -> Sequence[Binding] | None:
        """One page; None where it exceeds the time limit and can be split."""
        # A query that cannot be split is small: the endpoint is probably overloaded for a while.
        for pause in (*_PATIENCE, None):
            try:
                page = read_rows(self._client.query(query.text))
            except TooLargeError as fault:
                if query.smaller:
                    return None
                if pause is None:
                    raise self._client.too_large(f"Q{query.items[0]} and its {query.name}") from fault
                self._sleep(pause)
            else:
                self.asked += 1
                return page
        raise AssertionError("not reached")
