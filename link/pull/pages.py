"""Pages of query results from a SPARQL endpoint, kept on disk until the snapshot is complete."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from polyculture.cache.files import replacing
from polyculture.cache.identity import content_id
from polyculture.link.pull.client import Binding, SparqlClient, TooLargeError, read_rows
from polyculture.link.pull.queries import Query

PAGES = "*.json.gz"
PAGE_DAYS = 7.0  # days; older pages are requested again
_DAY = 86_400.0
_PATIENCE = (30.0, 120.0)  # seconds to wait before the smallest query is sent again
_ROUND = 1_000  # endpoints that truncate an answer silently do so at a round number of rows


class QueryPages:
    """Requests query results page by page; `reused` counts the pages of earlier runs found in `folder`.

    A query that exceeds the endpoint's time limit is split into smaller ones.
    """

    def __init__(
        self, client: SparqlClient, folder: Path, endpoint: str, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self._client, self._folder, self._endpoint, self._sleep = client, folder, endpoint, sleep
        self.asked = self.reused = 0

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
        key = content_id(self._endpoint, query.text)
        page, refused = self._folder / f"{key}.json.gz", self._folder / f"{key}.refused"
        if _is_fresh(page):
            self.reused += 1
            return read_rows(gzip.decompress(page.read_bytes()))
        if _is_fresh(refused):
            return None
        body = self._request(query)
        if body is None:
            _write(refused, b"")
            return None
        self.asked += 1
        _write(page, gzip.compress(body, 1))
        return read_rows(body)

    def _request(self, query: Query) -> bytes | None:
        # A query that cannot be split is small: the endpoint is probably overloaded for a while.
        for pause in (*_PATIENCE, None):
            try:
                return self._client.query(query.text)
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
