"""A study's links over a snapshot: items that were merged since, and numbers that no item can have."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from polyculture.cache.schema import PUBLISHED_ITEMS
from polyculture.link.published import PublishedLinker, published_links
from polyculture.link.queries import numbered
from tests.link_world import CATALOG, index_of, item, queries


def link_published(folder: Path, *qids: str) -> dict[str, pa.Table]:
    """The tables of links of a dish that a study linked to these items, in a world where Q555 became Q100."""
    dish = {**item("Q100", "Soup", P31="Q746549", P495="Q17"), "redirects": {"from": "Q555", "to": "Q100"}}
    place = {"language": "en", "topic": "food", "kind": "dish", "surface": "soup", "label": None}
    rows = [{**place, "item": number, "qid": qid, "hallucinated": False} for number, qid in enumerate(qids)]
    columns = [PUBLISHED_ITEMS.schema.field(name) for name in rows[0]]
    links = published_links(pa.Table.from_pylist(rows, pa.schema(columns)))
    linker = PublishedLinker(CATALOG, index_of(folder, [item("Q17", "Japan"), dish]), links)
    return linker.link(numbered(queries(("en", "food", "dish", "soup"))))


def test_an_item_that_was_merged_is_the_other_with_its_country_and_mentions(tmp_path: Path) -> None:
    found = link_published(tmp_path, "Q555", "Q100", "Q7", "Q7", "Q7")
    assert [row["qid"] for row in found["candidates"].to_pylist()] == ["Q7", "Q100"]
    found = link_published(tmp_path, "Q555", "Q555", "Q100", "Q7", "Q7")
    (link,), (country,) = found["links"].to_pylist(), found["entity_countries"].to_pylist()
    assert (link["qid"], link["candidates"], country["qid"], country["country"]) == ("Q100", 2, "Q100", "JP")


def test_a_number_that_no_item_can_have_is_no_link(tmp_path: Path) -> None:
    (link,) = link_published(tmp_path, "Q4294967296", "Q9999999999")["links"].to_pylist()
    assert (link["status"], link["qid"]) == ("no candidate", None)
    (link,) = link_published(tmp_path, "Q4294967295")["links"].to_pylist()
    assert (link["status"], link["qid"]) == ("linked", "Q4294967295")
