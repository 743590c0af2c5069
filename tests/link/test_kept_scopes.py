"""What a snapshot keeps of the topics' scopes changes no link: with it nothing is searched, without it all is."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from polyculture.link.index.snapshot import Snapshot, open_snapshot
from polyculture.link.linker import TABLES, Linker
from polyculture.link.ontology import scope_of
from tests.link_world import CATALOG, index_of, item, link_all, queries

FOOD = CATALOG.topic("food")
WORLD = [
    item("Q100", "soup", P279="Q746549"),
    item("Q101", "fish soup", {"en": ["bouillabaisse"]}, P279="Q100"),
    item("Q102", "tom yum", P31="Q101"),
    item("Q103", "list of soups", P31="Q13406463"),
    item("Q104", "Adele", P31="Q5", P106="Q177220"),
    item("Q105", "Adele", P31="Q5", P106="Q82594"),  # a computer scientist
    item("Q106", "Abba", P31="Q215380"),
    item("Q177220", "singer", P279="Q639669"),
    item("Q639669", "musician"),
    item("Q215380", "musical group", P279="Q2088357"),
    item("Q13406463", "Wikimedia list article"),
]
SURFACES = (
    "soup",
    "soups",
    "tom yum",
    "bouillabaisses",
    "list of soups",
    "Adele",
    "Abba",
    "lost",
)
ROWS = [("en", *kind, text) for kind in (("food", "dish"), ("music", "artist"), ("book", "title")) for text in SURFACES]


@pytest.fixture
def source(tmp_path: Path) -> Snapshot:
    return index_of(tmp_path, WORLD)


def changed(source: Snapshot, sql: str) -> Snapshot:
    with duckdb.connect(str(source.path)) as connection:
        connection.execute(sql)
    return open_snapshot(source.path)


def test_a_snapshot_that_keeps_nothing_gives_equal_tables(source: Snapshot) -> None:
    assert len(source.scopes) > 10
    kept = link_all(source, *ROWS)
    emptied = changed(source, "DELETE FROM members; UPDATE meta SET value = '{}' WHERE key = 'scopes'")
    assert not emptied.scopes
    searched = link_all(emptied, *ROWS)
    assert all(kept[name].equals(searched[name]) for name in TABLES)
    assert {"Q100", "Q101", "Q102", "Q104", "Q106"} <= set(kept["links"].column("qid").to_pylist())


def test_what_is_kept_is_read(source: Snapshot) -> None:
    """Else the test above compares the same with the same."""
    emptied = changed(source, "DELETE FROM members")
    assert link_all(emptied, ("en", "food", "dish", "soups"))["links"].column("status").to_pylist() == ["no path"]


def test_scopes_of_other_rules_are_searched(source: Snapshot) -> None:
    """With topics of one's own, be it one of several."""
    nearer = FOOD.model_copy(update={"max_distance": 1})
    assert all(scope_of(nearer, kind).rules not in source.scopes for kind in nearer.kinds.values() if kind.roots)
    catalog = CATALOG.model_copy(update={"topics": {**CATALOG.topics, "food": nearer}})
    kept = Linker(catalog, source).link(queries(*ROWS))
    none = changed(source, "DELETE FROM members; UPDATE meta SET value = '{}' WHERE key = 'scopes'")
    searched = Linker(catalog, none).link(queries(*ROWS))
    assert all(kept[name].equals(searched[name]) for name in TABLES)
    assert "Q100" in kept["links"].column("qid").to_pylist()
    assert "Q102" not in kept["links"].column("qid").to_pylist()
