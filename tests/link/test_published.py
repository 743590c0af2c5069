"""A study's links over a snapshot: one surface with several items, and items that were merged since."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from polyculture.cache.identity import query_number
from polyculture.cache.store.schema import PUBLISHED_ITEMS
from polyculture.link.published import PublishedLinker, published_links
from polyculture.link.queries import QUERY_COLUMNS, numbered
from tests.link_world import CATALOG, index_of, item


def test_each_mention_has_the_item_that_the_study_gives_it(tmp_path: Path) -> None:
    """Soup is three items to the study, of which the first was merged into the second since."""
    given = ["Q555", "Q100", "Q7", None]
    asked = [query_number("en", "food", "dish", "soup", published=qid) for qid in given]
    rows = [{"query": query, "qid": qid, "label": None} for query, qid in zip(asked, given, strict=True)]
    lost = {"query": None, "qid": "Q8", "label": "no mention"}
    columns = pa.schema([PUBLISHED_ITEMS.schema.field(name) for name in lost])
    links = published_links(pa.Table.from_pylist([*rows, *rows, lost], columns))
    dish = {**item("Q100", "Soup", P31="Q746549", P495="Q17"), "redirects": {"from": "Q555", "to": "Q100"}}
    linker = PublishedLinker(CATALOG, index_of(tmp_path, [item("Q17", "Japan"), dish]), links)
    soup = dict(zip(QUERY_COLUMNS, ("en", "food", "dish", "soup", None, None), strict=True))
    found = linker.link(numbered(pa.Table.from_pylist([{"query": query, **soup} for query in asked])))
    told = {row["query"]: (row["status"], row["qid"]) for row in found["links"].to_pylist()}
    expected = [("linked", "Q100"), ("linked", "Q100"), ("linked", "Q7"), ("no candidate", None)]
    assert told == dict(zip(asked, expected, strict=True))
    assert [(row["qid"], row["country"]) for row in found["entity_countries"].to_pylist()] == [("Q100", "JP")]
    assert {row["qid"] for row in found["candidates"].to_pylist()} == {"Q100", "Q7"}
