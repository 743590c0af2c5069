"""The pages of answers from a SPARQL endpoint, kept on disk until the snapshot is whole: none is asked for twice."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from polyculture.cache.files import replacing
from polyculture.cache.identity import content_id
from polyculture.link.pull.client import Row, SparqlClient, TooLargeError, read_rows
from polyculture.link.pull.queries import Query

PAGE_DAYS = 7.0  # after which a page is asked for again
_DAY = 86_400.0
_PATIENCE = (30.0, 120.0)  # seconds of waiting before the smallest question is asked once more
_ROUND = 1_000  # endpoints that cut an answer in silence cut it at a round number of rows


class Pages:
    """Asks `client` page by page; `reused` pages of an earlier run were found in `folder`.

    A query that takes the endpoint too long is asked in smaller ones.
    """

    def __init__(
        self, client: SparqlClient, folder: Path, endpoint: str, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self._client, self._folder, self._endpoint, self._sleep = client, folder, endpoint, sleep
        self.asked = self.reused = 0

    def rows(self, query: Query) -> Iterator[Row]:
        """Yields all rows of a query, from this page on to the last. A row may come twice."""
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

    def _page(self, query: Query) -> Sequence[Row] | None:
        """One page; None where the endpoint has not the time for it, and there are smaller ones."""
        key = content_id(self._endpoint, query.text)
        page, refused = self._folder / f"{key}.json.gz", self._folder / f"{key}.refused"
        if _is_fresh(page):
            self.reused += 1
            return read_rows(gzip.decompress(page.read_bytes()))
        if _is_fresh(refused):
            return None
        body = self._ask(query)
        if body is None:
            _write(refused, b"")
            return None
        self.asked += 1
        _write(page, gzip.compress(body, 1))
        return read_rows(body)

    def _ask(self, query: Query) -> bytes | None:
        # A query that cannot be made smaller is no large one: the endpoint is likely to be overloaded for a while.
        for pause in (*_PATIENCE, None):
            try:
                return self._client.ask(query.text)
            except TooLargeError as fault:
                if query.smaller:
                    return None
                if pause is None:
                    raise self._client.too_large(f"Q{query.items[0]} and its {query.name}") from fault
                self._sleep(pause)
        raise AssertionError("not reached")


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def _is_fresh(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime < PAGE_DAYS * _DAY
    except FileNotFoundError:
        return False
