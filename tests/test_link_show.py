"""What the gazetteer is given, and what `wikidata show` tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from cache.errors import CatalogError, SnapshotError
from link.lexicon import lexicon
from link.show import describe
from tests.link_world import CATALOG, index_of, item

ITEMS = [
    item("Q10", {"en": "soup", "ja": "スープ"}, P279="Q746549"),
    item("Q11", {"en": "miso soup", "ja": "味噌汁", "de": "Misosuppe"}, {"ja": ["みそしる"]}, 5, P31="Q10", P495="Q17"),
    item("Q12", {"en": "gift", "ja": "ギフト"}, P31="Q746549"),
    item("Q13", {"en": "gift"}, sitelinks=5, P31="Q10"),
    item("Q14", {"en": "Ana"}, P31="Q5"),
    item("Q15", {"en": "curry soup"}, P31=["Q10", "Q16"]),
    item("Q16", {"en": "curry"}, P279="Q746549"),
]


def test_the_lexicon_holds_the_names_that_a_text_may_use(tmp_path: Path) -> None:
    snapshot = index_of(tmp_path, ITEMS).snapshot
    rows = {row["surface"]: (row["kind"], row["qid"]) for row in lexicon(snapshot, CATALOG, "food", "ja").to_pylist()}
    assert rows["味噌汁"] == rows["みそしる"] == rows["miso soup"] == ("dish", "Q11")
    assert rows["gift"] == ("dish", "Q12")  # the nearer one
    assert "Ana" not in rows
    assert "Misosuppe" not in rows
    german = {row["surface"] for row in lexicon(snapshot, CATALOG, "food", "de").to_pylist()}
    assert german == {"Misosuppe"}  # in a German text, gift is poison
    english = lexicon(snapshot, CATALOG, "food", "en")
    assert english.column_names == ["surface", "kind", "qid"]
    surfaces = [str(surface) for surface in english.column("surface").to_pylist()]
    assert surfaces == sorted(set(surfaces))
    with pytest.raises(CatalogError, match="Did you mean 'food'"):
        lexicon(snapshot, CATALOG, "foods", "en")


def test_an_item_is_described(tmp_path: Path) -> None:
    found = describe(index_of(tmp_path, ITEMS).snapshot, CATALOG, "q11")
    assert (found.qid, found.label) == ("Q11", "miso soup")
    assert ("ja", "味噌汁", "みそしる") in found.names
    assert found.claims == [("P31", "instance of", "Q10", "soup"), ("P495", "country of origin", "Q17", None)]
    assert found.countries == [("JP", "Q17", "P495")]
    assert ("food", "dish", 2, "miso soup (Q11) > soup (Q10) > dish (Q746549)") in found.ways
    assert [title for title, _, _ in found.tables()][1:] == [
        "Names",
        "Statements",
        "Countries",
        "Kinds that it reaches",
    ]
    assert all(len(row) == len(columns) for _, columns, rows in found.tables() for row in rows)


def test_every_shortest_way_is_told(tmp_path: Path) -> None:
    ways = describe(index_of(tmp_path, ITEMS).snapshot, CATALOG, "Q15").ways
    assert [way for topic, kind, _, way in ways if (topic, kind) == ("food", "dish")] == [
        "curry soup (Q15) > soup (Q10) > dish (Q746549)",
        "curry soup (Q15) > curry (Q16) > dish (Q746549)",
    ]


def test_a_root_reaches_itself(tmp_path: Path) -> None:
    ways = describe(index_of(tmp_path, ITEMS).snapshot, CATALOG, "Q40050").ways
    assert ("beverage", "drink", 0, "drink (Q40050)") in ways


@pytest.mark.parametrize(
    ("qid", "says"), [("Q99", "has no item Q99"), ("ramen", "'ramen' is not a QID"), ("Q0", "not a QID")]
)
def test_an_unknown_item_is_one_line(tmp_path: Path, qid: str, says: str) -> None:
    with pytest.raises(SnapshotError, match=says):
        describe(index_of(tmp_path, ITEMS).snapshot, CATALOG, qid)
