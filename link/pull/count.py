"""Counts what a pull would fetch, before it does: the classes and members of some topics, at the endpoint now.

The pages that a count asks for stay on disk, and the pull that follows does not ask for them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from math import ceil
from pathlib import Path

import msgspec

from polyculture.cache.catalog import Catalog
from polyculture.cache.files import replacing
from polyculture.link.index.under_way import answers_beside, answers_folder
from polyculture.link.pull.client import PullSettings, SparqlClient
from polyculture.link.pull.members import country_items, find_members, scopes_of
from polyculture.link.pull.pages import PAGES, QueryPages
from polyculture.link.pull.pull import ITEMS_A_QUERY

_FILE = "counted.json"


class PullCount(msgspec.Struct, frozen=True):
    """How many items some topics need, and on which day (UTC); those who made the works come on top."""

    topics: tuple[str, ...]
    items: int
    queries: int  # that have been asked for it
    day: str

    @property
    def left(self) -> int:
        """The queries that the pull still takes, without those for who made the works."""
        return ceil(self.items / ITEMS_A_QUERY)


def count_pull(catalog: Catalog, topics: Sequence[str], out: Path, settings: PullSettings) -> PullCount:
    """Counts the items that a pull of these topics into `out` would fetch. Raises as `pull_index`."""
    chosen = tuple(dict.fromkeys(topics))
    scopes = scopes_of(catalog, chosen)
    with answers_beside(out, PAGES) as folder, SparqlClient(settings) as client:
        pages = QueryPages(client, folder, settings.endpoint, settings.sleep)
        members = find_members(pages, scopes, settings.tell)
        items = len(members.classes | members.instances | country_items(catalog))
        day = f"{datetime.now(UTC):%Y-%m-%d}"
        count = PullCount(chosen, items, pages.asked + pages.reused, day)
        with replacing(folder / _FILE) as temporary:
            temporary.write_bytes(msgspec.json.encode(count))
    return count


def counted_before(topics: Sequence[str], out: Path) -> PullCount | None:
    """What `count_pull` found for the same topics and snapshot; None where nothing was counted."""
    try:
        count = msgspec.json.decode((answers_folder(out) / _FILE).read_bytes(), type=PullCount)
    except (OSError, msgspec.DecodeError):
        return None
    return count if set(count.topics) == set(topics) else None
