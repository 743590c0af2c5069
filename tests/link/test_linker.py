"""The algorithm: matching, survivors, ranking, and the evidence."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pydantic import ValidationError

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import CatalogError, SnapshotError
from polyculture.cache.store.linked import CANDIDATES, ENTITIES, ENTITY_COUNTRIES, LINKS
from polyculture.link import keys
from polyculture.link import queries as query_tables
from polyculture.link.dumps.build import build_index
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.keys import keys_of
from polyculture.link.linker import TABLES, Linker, lacking, linker_id
from polyculture.link.normalise import fold_of, normalise_array
from tests.link_names import INFLECTED, SPELLED
from tests.link_world import CATALOG, index_of, item, link_all, link_one, queries, write_dump

DISH, ARTIST, SONG = ("food", "dish"), ("music", "artist"), ("music", "song")
ASKED = ("es", "tr", "en")  # languages of the runs whose linker is identified


_tables: dict[tuple[str, ...], dict[str, pa.Table]] = {}


def tables(source: Snapshot, language: str, surface: str, kind: tuple[str, str]) -> dict[str, pa.Table]:
    """The tables of one query, linked once."""
    key = (str(source.path), source.identity, language, *kind, surface)
    if key not in _tables:
        _tables[key] = link_all(source, (language, *kind, surface))
    return _tables[key]


def row(source: Snapshot, language: str, surface: str, kind: tuple[str, str] = DISH) -> dict[str, Any]:
    (found,) = tables(source, language, surface, kind)["links"].to_pylist()
    return dict(found)


def reasons(source: Snapshot, language: str, surface: str, kind: tuple[str, str] = DISH) -> dict[str, str]:
    rows = tables(source, language, surface, kind)["candidates"].to_pylist()
    return {candidate["qid"]: candidate["reason"] for candidate in rows}


def test_each_kind_of_match(tmp_path: Path) -> None:
    labels = {"en": "ramen", "ja": "ラーメン", "ar": "رامن", "zh": "拉面", "zh-tw": "日式拉麵", "tr": "İskender"}
    source = index_of(tmp_path, [item("Q1", labels, {"en": ["ramen noodles"], "zh": ["日本拉面"]}, P31="Q746549")])
    cases = {
        ("en", "ramen"): ("exact", "ramen"),
        ("en", "ramen noodles"): ("exact", "ramen noodles"),
        ("en", "Ramen"): ("exact", "ramen"),
        ("en", "Ramen  NOODLES"): ("normalised", "ramen noodles"),
        ("en", "ramens"): ("key", "ramen"),
        ("ja", "ﾗｰﾒﾝ"): ("normalised", "ラーメン"),
        ("ja", "らーめん"): ("key", "ラーメン"),
        ("ja", "Ramen"): ("exact", "ramen"),
        ("ar", "رامِن"): ("normalised", "رامن"),
        ("zh-tw", "日式拉麵"): ("exact", "日式拉麵"),
        ("zh-tw", "拉麵"): ("normalised", "拉面"),
        ("zh", "日本拉麵"): ("normalised", "日本拉面"),
        ("tr", "İSKENDER"): ("exact", "İskender"),
    }
    links = link_all(source, *[(language, *DISH, surface) for language, surface in cases])["links"].to_pylist()
    assert len(links) == len(cases)
    for found in links:
        match, matched = cases[found["language"], found["surface"]]
        assert (found["qid"], found["status"], found["match"], found["matched"]) == ("Q1", "linked", match, matched)
        assert found["matched_by"] == "surface"
        assert found["only_english"] == ((found["language"], found["surface"]) == ("ja", "Ramen"))
    assert row(source, "en", "ramen noodless")["status"] == "no candidate"  # a slip is never linked


def test_the_dictionary_form_and_the_english_name_are_looked_up_too(tmp_path: Path) -> None:
    source = index_of(tmp_path, [item("Q1", {"en": "soup", "tr": "çorba"}, P31="Q746549")])
    by_name = link_one(source, "tr", *DISH, "çorbamızdan", "çorba", "soup")
    assert (by_name["qid"], by_name["matched_by"], by_name["match"]) == ("Q1", "name", "exact")
    by_english = link_one(source, "tr", *DISH, "aş", None, "Soup")
    assert (by_english["qid"], by_english["matched_by"], by_english["only_english"]) == ("Q1", "english", True)
    assert not by_name["only_english"]
    assert len({by_name["query"], by_english["query"], row(source, "tr", "aş")["query"]}) == 3


@pytest.mark.parametrize(
    ("query", "by_english"),
    [
        (("ja", *DISH, "汁", None, "soup"), True),
        (("ja", *DISH, "汁", "soup"), True),  # the English name in the column of the dictionary form
        (("ja", *DISH, "Soup"), True),
        (("ja", *DISH, "スープ", "soup", "soup"), False),
        (("ja", *DISH, "soup", "スープ"), False),
        (("en", *DISH, "soup"), False),
        (("en", *DISH, "broth", None, "soup"), False),  # English is its own language
    ],
)
def test_a_link_by_english_alone_is_known_whichever_column_holds_it(
    tmp_path: Path, query: tuple[str | None, ...], by_english: bool
) -> None:
    source = index_of(tmp_path, [item("Q1", {"en": "soup", "ja": "スープ"}, P31="Q746549")])
    found = link_one(source, *query)
    assert (found["qid"], found["only_english"]) == ("Q1", by_english)


def test_a_parenthesis_at_the_end_does_not_hide_a_name(tmp_path: Path) -> None:
    world = [
        item("Q1", {"en": "potato salad", "ja": "ポテトサラダ"}, P31="Q746549"),
        item("Q2", {"en": "Fish (dish)"}, P31="Q746549"),
        item("Q3", {"en": "Fish"}, P31="Q746549"),
    ]
    source = index_of(tmp_path, world)
    for query in (("en", *DISH, "potato salad (dish)"), ("ja", *DISH, "ポテトサラダ（料理）"),
                  ("de", *DISH, "Salat", None, "Potato Salad (German)")):  # fmt: skip
        found = link_one(source, *query)
        assert (found["qid"], found["status"], found["match"]) == ("Q1", "linked", "normalised")
    assert link_one(source, "en", *DISH, "Fish (dish)")["qid"] == "Q2"  # as it is written comes first
    assert link_one(source, "en", *DISH, "potato salad (dish)", forms="paper")["status"] == "no candidate"


def test_forms_that_end_alike_have_one_key() -> None:
    assert key("de", "Walnuss") == key("de", "Walnüsse")
    assert key("it", "pesca") == key("it", "pesche")
    assert key("it", "arancia") == key("it", "arance")


def test_a_wrong_english_name_is_the_last_to_count(tmp_path: Path) -> None:
    source = index_of(tmp_path, [item("Q1", {"de": "Brezel"}, P31="Q746549"), item("Q2", "bagel", P31="Q746549")])
    found = link_one(source, "de", *DISH, "Brezeln", None, "bagel")
    assert (found["qid"], found["match"], found["survivors"]) == ("Q1", "key", 2)


def test_an_english_name_that_the_own_words_contradict_is_ambiguous(tmp_path: Path) -> None:
    other = [item("Q2", {"de": "Gift"}), item("Q3", {"de": "Torte"}, P31="Q746549")]
    source = index_of(tmp_path, [item("Q1", "pie", P31="Q746549"), *other])
    for words, status in (("Gift", "ambiguous"), ("Gifte", "ambiguous"), ("Kuchen", "linked")):
        assert link_one(source, "de", *DISH, words, None, "pie")["status"] == status, words
    assert link_one(source, "de", *DISH, "Torte", None, "pie")["qid"] == "Q3"  # own words of the topic go first
    found = Linker(CATALOG, source).link(queries(("de", *DISH, "Gift", None, "pie")))["candidates"].to_pylist()
    assert {row["qid"]: row["reason"] for row in found} == {
        "Q1": "ambiguous: the mention's own words name something else",
        "Q2": "rejected: not in topic food",
    }
    song, band = item("Q4", "power plant", P31="Q2188189"), item("Q5", {"de": "Kraftwerk"}, P31="Q2088357")
    music = index_of(tmp_path, [song, band])
    found = link_one(music, "de", "music", "song", "Kraftwerks", None, "power plant")
    assert (found["status"], found["qid"]) == ("ambiguous", "Q4")


def test_an_english_name_of_another_item_than_own_words_is_recorded(tmp_path: Path) -> None:
    source = index_of(
        tmp_path,
        [
            item("Q1", {"en": "ice", "de": "Eis"}, P31="Q746549"),
            item("Q2", {"en": "ice cream", "de": "Speiseeis"}, sitelinks=5, P31="Q746549"),
            item("Q3", {"en": "Ice Cream"}, sitelinks=4, P31="Q746549"),
            item("Q4", "wagon", P31="Q5"),
        ],
    )
    cases: list[tuple[tuple[str, str | None, str | None], str | None]] = [
        (("Eis", None, "ice cream"), "Q2"),  # the first of those that the English name matches
        (("Eises", "Eis", "Ice creams"), "Q2"),
        (("Eis", None, "ice"), None),
        (("Eis", None, "wagon"), None),  # of no topic: nothing of food is contradicted
        (("Eis", None, "no such thing"), None),
        (("Eis", None, None), None),
        (("Gefrorenes", None, "ice cream"), None),  # own words lead nowhere
    ]
    for texts, other in cases:
        assert link_one(source, "de", *DISH, *texts)["english_qid"] == other, texts
    found = link_one(source, "de", *DISH, "Eis", None, "ice cream")
    assert (found["qid"], found["status"], found["matched_by"]) == ("Q1", "linked", "surface")
    assert link_one(source, "de", *DISH, "Eis", None, "ice cream", forms="paper")["english_qid"] is None


def test_an_english_name_decides_between_items_that_own_words_do_not_tell_apart(tmp_path: Path) -> None:
    twins = [
        item("Q1", {"en": "fritter", "de": "Krapfen"}, sitelinks=3, P31="Q746549"),
        item("Q2", {"en": "doughnut", "de": "Krapfen"}, {"en": ["Berliner"]}, sitelinks=2, P31="Q746549"),
        item("Q3", {"en": "Berliner", "de": "Krapfen"}, sitelinks=3, P31="Q746549"),
    ]
    source = index_of(tmp_path, [*twins, item("Q4", "wagon", P31="Q746549")])
    cases: list[tuple[str | None, tuple[str, str, str | None]]] = [
        ("fritter", ("linked", "Q1", None)),
        ("Doughnuts", ("linked", "Q2", None)),  # the last of them
        ("Berliner", ("ambiguous", "Q1", "Q3")),  # two of them
        ("wagon", ("ambiguous", "Q1", "Q4")),  # another item
        ("no such thing", ("ambiguous", "Q1", None)),
        (None, ("ambiguous", "Q1", None)),
    ]
    for english, expected in cases:
        found = link_one(source, "de", *DISH, "Krapfen", None, english)
        assert (found["status"], found["qid"], found["english_qid"]) == expected, english
        paper = link_one(source, "de", *DISH, "Krapfen", None, english, forms="paper")
        assert (paper["status"], paper["qid"]) == ("ambiguous", "Q1")
    rows = Linker(CATALOG, source).link(queries(("de", *DISH, "Krapfen", None, "doughnut")))["candidates"].to_pylist()
    assert [(row["qid"], row["rank"], row["reason"]) for row in rows] == [
        ("Q2", 1, "linked: the only one of several alike that the English name matches, too"),
        ("Q1", 2, "lost to Q2: only that one has the English name, too"),
        ("Q3", 3, "lost to Q2: only that one has the English name, too"),
    ]
    assert [row["matched_by"] for row in rows] == ["surface"] * 3


def test_as_the_paper_links_nothing_but_names_as_they_stand_match(tmp_path: Path) -> None:
    source = index_of(tmp_path, [item("Q1", {"en": "pad thai", "de": "Pad Thai"}, P31="Q746549")])
    texts = [("Pad Thai", None, None), ("Pad-Thai", None, None), ("Thai noodles", "pad thai", None)]
    found = [
        link_one(source, "en", *DISH, *text, forms="paper")["status"] for text in [*texts, ("ผัดไทย", None, "pad thai")]
    ]
    assert found == ["linked", "no candidate", "no candidate", "no candidate"]


def test_capital_letters_are_those_of_the_language_of_the_name(tmp_path: Path) -> None:
    dishes = [item("Q1", {"tr": "ızgara kıyma"}, P31="Q746549"), item("Q2", {"tr": "İskender"}, P31="Q746549")]
    source = index_of(tmp_path, [*dishes, item("Q3", "chili", P31="Q746549")])
    for language, surface in [("tr", "IZGARA KIYMA"), ("tr", "İSKENDER"), ("tr", "CHILI"), ("en", "CHILI")]:
        found = link_one(source, language, *DISH, surface, forms="paper")
        assert (found["status"], found["match"]) == ("linked", "exact"), surface


def test_a_name_that_an_item_outside_the_topic_bears_more_surely_is_ambiguous(tmp_path: Path) -> None:
    entities = [item("Q10", "island", {"en": ["Ada"]}, P31="Q746549"), item("Q11", {"tr": "ada"})]
    entities += [item("Q12", "Rum", P31="Q746549"), item("Q13", "Rum")]
    entities += [item("Q14", "noodle", P31="Q746549"), item("Q15", "noodles", P31="Q5")]
    source = index_of(tmp_path, entities)
    assert (row(source, "tr", "Ada")["qid"], row(source, "tr", "Ada")["status"]) == ("Q10", "ambiguous")
    assert row(source, "tr", "Rum")["status"] == "linked"  # both are English: the topic decides
    assert (row(source, "en", "noodles")["qid"], row(source, "en", "noodles")["status"]) == ("Q14", "ambiguous")
    assert reasons(source, "en", "noodles") == {
        "Q14": "ambiguous: an item outside the topic bears the name more surely",
        "Q15": "rejected: not in topic food",
    }


def test_disambiguation_pages_do_not_compete(tmp_path: Path) -> None:
    pages = [item("Q10", "dumpling soup", P31="Q746549"), item("Q11", "dumpling soup", P31="Q4167410")]
    found = row(index_of(tmp_path, pages), "en", "dumpling soup")
    assert (found["qid"], found["candidates"], found["survivors"]) == ("Q10", 1, 1)


@pytest.mark.parametrize("rows", [SPELLED, INFLECTED], ids=["spelled", "inflected"])
def test_the_key_joins_what_names_and_mentions_differ_in(rows: dict[str, list[tuple[str, str]]]) -> None:
    for language, pairs in rows.items():
        for name, mention in pairs:
            own, other = key(language, name), key(language, mention)
            assert own == other, (language, name, mention)


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [("en", "vitamin A", "vitamina"), ("en", "the An-doughnut", "doughnut"), ("ko", "진", "진로"),
     ("de", "Fisch", "Fischer"), ("de", "Eisen", "Eis"), ("tr", "çikolata", "çik"), ("tr", "limonata", "limon"),
     ("tr", "VIII. Edward", "VII. Edward"), ("it", "Pio II", "Pio III"), ("hi", "पानी", "पान"),
     ("th", "ไข่ข้าว", "ไข่ขาว"), ("en", "Guns", "Guinness"), ("it", "pesce", "pesche"),
     ("it", "pasto", "pasta"), ("it", "caramello", "caramelle"), ("de", "Leder", "Led"), ("de", "Becher", "Bech"),
     ("vi", "đậu", "dâu"), ("vi", "họ", "hồ"), ("vi", "phở", "pho"), ("tr", "suşi", "susam"), ("tr", "mantı", "maya"),
     ("tr", "salam", "salata"),
     ("ja", "セレナーデ", "セレナ"), ("ar", "قيمة", "لقيمات"), ("th", "ไข้", "ไข่")],
)  # fmt: skip
def test_the_key_keeps_other_words_apart(language: str, one: str, other: str) -> None:
    assert key(language, one) != key(language, other)


def key(language: str, name: str) -> str:
    fold = fold_of(language)
    (found,) = keys_of(normalise_array(pa.array([name]), fold), language).to_pylist()
    return str(found)


def test_the_statuses_and_their_evidence(tmp_path: Path) -> None:
    source = index_of(
        tmp_path,
        [
            item("Q10", "soup", P279="Q746549"),
            item("Q11", "miso soup", P31="Q10"),
            item("Q12", "Twins", P31="Q746549"),
            item("Q13", "Twins", P31="Q746549"),
            item("Q14", "Water", P31="Q2188189"),
        ],
    )
    linked, twins = row(source, "en", "miso soup"), row(source, "en", "Twins")
    assert (linked["status"], linked["root"]) == ("linked", "Q746549")
    assert linked["path"] == ["Q10", "Q746549"]
    assert (linked["candidates"], linked["survivors"]) == (1, 1)
    assert (twins["status"], twins["qid"], twins["candidates"], twins["survivors"]) == ("ambiguous", "Q12", 2, 2)
    off_topic, unknown = row(source, "en", "Water"), row(source, "en", "qwxyz")
    assert (off_topic["status"], off_topic["qid"], off_topic["candidates"]) == ("no path", None, 1)
    assert (unknown["status"], unknown["qid"], unknown["candidates"]) == ("no candidate", None, 0)
    assert off_topic["match"] is None
    assert off_topic["path"] is None
    assert off_topic["matched_by"] is None


def test_a_name_of_a_class_and_of_one_below_it_means_the_general_one(tmp_path: Path) -> None:
    entities = [
        item("Q10", "curry", P279="Q746549"),
        item("Q11", "curry", P279="Q10"),
        item("Q12", "twin", P279="Q746549"),
        item("Q13", "twin", P279="Q12"),
        item("Q14", "twin", P31="Q15"),
        item("Q15", "sauce dish", P279="Q746549"),
    ]
    source = index_of(tmp_path, entities)
    assert (row(source, "en", "curry")["qid"], row(source, "en", "curry")["status"]) == ("Q10", "linked")
    lost = reasons(source, "en", "curry")["Q11"]
    assert lost == "lost to Q10: a kind of it, and the name alone means the general one"
    assert row(source, "en", "twin")["status"] == "ambiguous"


def test_the_order_of_rank_and_the_reasons(tmp_path: Path) -> None:
    source = index_of(
        tmp_path,
        [
            item("Q10", "pie", P279="Q746549"),
            item("Q11", "tart", {"en": ["bake"]}, 99, P31="Q746549"),
            item("Q12", "bake", sitelinks=30, P31="Q10"),
            item("Q13", "bake", sitelinks=3, P31="Q746549"),
            item("Q14", "bake", sitelinks=9, P31="Q746549"),
            item("Q15", "bake", sitelinks=8, P31="Q746549"),
            item("Q16", "'bake'", sitelinks=200, P31="Q746549"),
            item("Q17", "bake", P31="Q5"),
            item("Q18", "crust", P279="Q10"),
            item("Q19", "bake", sitelinks=50, P31="Q18"),
        ],
    )
    assert row(source, "en", "bake")["qid"] == "Q14"
    assert row(source, "en", "bake")["status"] == "ambiguous"
    assert reasons(source, "en", "bake") == {
        "Q14": "ambiguous: the first of several that nothing clearly separates",
        "Q15": "too close to Q14 to tell",
        "Q13": "lost to Q14: less prominent, 3 sitelinks against 9",
        "Q12": "too close to Q14 to tell",
        "Q19": "lost to Q14: farther from the topic, 3 steps against 1",
        "Q11": "lost to Q14: exact match of the surface with an alias in en, "
        "against exact match of the surface with a label",
        "Q16": "lost to Q14: normalised match of the surface with a label in en, "
        "against exact match of the surface with a label",
        "Q17": "rejected: not in topic food",
    }
    table = link_all(source, ("en", *DISH, "bake"))["candidates"].to_pylist()
    assert [candidate["rank"] for candidate in table] == [1, 2, 3, 4, 5, 6, 7, None]
    assert reasons(source, "en", "tart") == {"Q11": "linked: the only one of this name in the topic"}


@pytest.mark.parametrize(
    ("best", "second", "status"),
    [
        (0, 0, "ambiguous"),
        (1, 0, "linked"),
        (2, 1, "ambiguous"),
        (3, 1, "linked"),
        (40, 20, "ambiguous"),
        (41, 20, "linked"),
    ],
)
def test_prominence_decides_where_it_is_clear(tmp_path: Path, best: int, second: int, status: str) -> None:
    twins = [item("Q1", "flip", sitelinks=second, P31="Q746549"), item("Q2", "flip", sitelinks=best, P31="Q746549")]
    found = row(index_of(tmp_path, twins), "en", "flip")
    assert found["status"] == status
    assert found["qid"] == ("Q2" if best > second else "Q1")


@pytest.mark.parametrize(("own", "other"), [(41, None), (None, 0), (None, None)])
def test_unknown_sitelinks_decide_nothing(tmp_path: Path, own: int | None, other: int | None) -> None:
    """An item of which nobody knows how many wikis have a page on it may be the best known of all."""
    twins = [item("Q1", "flip", sitelinks=other, P31="Q746549"), item("Q2", "flip", sitelinks=own, P31="Q746549")]
    alone = [item("Q3", "flop", sitelinks=own, P31="Q746549")]
    source = index_of(tmp_path, [*twins, *alone])
    assert row(source, "en", "flip")["status"] == "ambiguous"
    assert (row(source, "en", "flop")["status"], row(source, "en", "flop")["qid"]) == ("linked", "Q3")
    for name in ("entities", "candidates"):
        assert tables(source, "en", "flop", DISH)[name]["sitelinks"].to_pylist() == [own]


def test_kinds_take_instances_or_classes_as_their_file_says(tmp_path: Path) -> None:
    source = index_of(
        tmp_path,
        [
            item("Q20", "woman", P279="Q5"),
            item("Q21", "Ana", P31="Q5"),
            item("Q22", "boat", P279="Q42889"),
            item("Q23", "Titanic", P31="Q22"),
        ],
    )
    statuses = {
        (kind, surface): row(source, "en", surface, kind)["status"]
        for kind in (ARTIST, ("transportation", "vehicle"))
        for surface in ("woman", "Ana", "boat", "Titanic")
    }
    assert [key for key, status in statuses.items() if status == "linked"] == [
        (ARTIST, "Ana"),
        (("transportation", "vehicle"), "boat"),
    ]


def test_twins_of_kinds_that_share_a_root_are_ambiguous(tmp_path: Path) -> None:
    """A dish and an ingredient are both food: an extractor that errs in the kind would decide which item is counted."""
    twins = [
        item("Q1", "dulce", sitelinks=30, P31="Q746549"),
        item("Q2", "dulce", sitelinks=50, P31="Q25403900"),
        item("Q3", "brodo", sitelinks=30, P31="Q746549"),
        item("Q4", "brodo", sitelinks=3, P31="Q25403900"),
        item("Q25403900", "food ingredient"),
    ]
    source = index_of(tmp_path, twins)
    assert [(row(source, "en", "dulce", ("food", kind))["status"]) for kind in ("dish", "ingredient")] == [
        "ambiguous"
    ] * 2
    assert reasons(source, "en", "dulce")["Q2"] == "too close to Q1 to tell"
    assert (row(source, "en", "brodo")["qid"], row(source, "en", "brodo")["status"]) == ("Q3", "linked")


def test_a_name_of_another_kind_of_the_topic_is_found_after_those_of_its_own(tmp_path: Path) -> None:
    source = index_of(
        tmp_path,
        [
            item("Q1", "Queen", P31="Q2088357"),
            item("Q2", "Queen", sitelinks=90, P31="Q2188189"),
            item("Q3", "Solo", P31="Q2188189"),
        ],
    )
    queen, solo = row(source, "en", "Queen", ARTIST), row(source, "en", "Solo", ARTIST)
    assert (queen["qid"], queen["status"], queen["reached_kind"]) == ("Q1", "linked", "artist")
    assert (solo["qid"], solo["status"], solo["reached_kind"]) == ("Q3", "linked", "song")
    assert reasons(source, "en", "Queen", ARTIST)["Q2"] == "lost to Q1: song where artist is meant"


def test_a_form_of_a_word_of_its_own_kind_gives_way_to_the_name_as_it_is_written(tmp_path: Path) -> None:
    source = index_of(tmp_path, [item("Q1", "noodle", P31="Q2188189"), item("Q2", "noodles", P31="Q2088357")])
    found = row(source, "en", "noodles", SONG)
    assert (found["qid"], found["match"], found["reached_kind"]) == ("Q2", "exact", "artist")
    assert "key match" in reasons(source, "en", "noodles", SONG)["Q1"]


def test_a_rival_behind_an_obscure_one_still_makes_a_link_ambiguous(tmp_path: Path) -> None:
    entities = [
        item("Q20", "soup", P279="Q746549"),
        item("Q1", "trip", sitelinks=10, P31="Q746549"),
        item("Q2", "trip", sitelinks=2, P31="Q746549"),
        item("Q3", "trip", sitelinks=200, P31="Q20"),
    ]
    source = index_of(tmp_path, entities)
    assert (row(source, "en", "trip")["qid"], row(source, "en", "trip")["status"]) == ("Q1", "ambiguous")


def test_persons_with_other_occupations_than_their_kind_requires_are_excluded(tmp_path: Path) -> None:
    source = index_of(
        tmp_path,
        [
            item("Q639669", "musician"),
            item("Q20", "violinist", P279="Q639669"),
            item("Q21", "footballer"),
            item("Q30", "Ana", P31="Q5", P106=["Q20", "Q21"]),
            item("Q31", "Ana", P31="Q5", P106="Q21", sitelinks=99),
            item("Q32", "Bea", P31="Q5"),
        ],
    )
    ana = row(source, "en", "Ana", ARTIST)
    assert (ana["qid"], ana["status"], ana["survivors"]) == ("Q30", "linked", 1)
    assert row(source, "en", "Bea", ARTIST)["qid"] == "Q32"


def test_countries_in_their_order(tmp_path: Path) -> None:
    entities = [
        item("Q50", "Ana", P31="Q5", P27=["Q38", "Q17"], P495="Q30"),
        item("Q51", "Duo", P31="Q2088357", P495="Q884"),
        item("Q60", "one", P31="Q2188189", P495="Q183", P175="Q50", P17="Q145"),
        item("Q61", "two", P31="Q2188189", P175="Q50", P17="Q145"),
        item("Q62", "three", P31="Q2188189", P175="Q51"),
        item("Q63", "four", P31="Q2188189", P17="Q145"),
        item("Q64", "five", P31="Q2188189"),
        item("Q65", "six", P31="Q7725634", P50="Q50"),
        item("Q66", "seven", P31="Q2188189", P495=["Q18097", "Q22", "Q999"]),
    ]
    rows = [("en", *SONG, name) for name in ("one", "two", "three", "four", "five", "seven")]
    found = link_all(index_of(tmp_path, entities), *rows, ("en", *ARTIST, "Ana"), ("en", "book", "title", "six"))
    countries = [
        (r["qid"], r["country"], r["country_qid"], r["property"]) for r in found["entity_countries"].to_pylist()
    ]
    assert countries == [
        ("Q50", "US", "Q30", "P495"),
        ("Q60", "DE", "Q183", "P495"),
        ("Q61", "IT", "Q38", "P175/P27"),
        ("Q61", "JP", "Q17", "P175/P27"),
        ("Q62", "KR", "Q884", "P175/P495"),
        ("Q63", "GB", "Q145", "P17"),
        ("Q65", "IT", "Q38", "P50/P27"),
        ("Q65", "JP", "Q17", "P50/P27"),
        ("Q66", "GB", "Q22", "P495"),
        ("Q66", "KR", "Q18097", "P495"),
    ]


def test_entities_are_those_that_are_linked(tmp_path: Path) -> None:
    dish = {**item("Q1", {"ja": "丼", "de": "Donburi"}, sitelinks=4, P31="Q746549"), "lastrevid": 77}
    dish["descriptions"] = {"en": {"language": "en", "value": "rice bowl"}}
    found = link_all(
        index_of(tmp_path, [dish, item("Q2", "bowl", P31="Q5")]), ("ja", *DISH, "丼"), ("en", *DISH, "bowl")
    )
    (entity,) = found["entities"].to_pylist()
    assert entity == {
        "qid": "Q1",
        "label": "Donburi",
        "labels": [("de", "Donburi"), ("ja", "丼")],
        "description": "rice bowl",
        "sitelinks": 4,
        "revision": 77,
    }


def test_tables_have_the_columns_of_the_schema_even_with_nothing_to_link(tmp_path: Path) -> None:
    source = index_of(tmp_path, [])
    for rows in ((), [("en", *DISH, "x"), ("en", "food", "place", "Paris")]):
        found = (
            link_all(source, *rows) if rows else Linker(CATALOG, source).link(queries(("en", *DISH, "x")).slice(0, 0))
        )
        assert set(found) == set(TABLES)
        assert all(
            found[table.name].schema.equals(table.schema) for table in (LINKS, CANDIDATES, ENTITIES, ENTITY_COUNTRIES)
        )
        assert found["links"].num_rows == (1 if rows else 0)


def test_shuffled_input_gives_equal_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entities = [
        item(f"Q{n}", f"name {n % 40}", sitelinks=n % 3, P31="Q746549" if n % 4 else "Q5") for n in range(100, 300)
    ]
    rows = [(language, *kind, f"name {n}") for n in range(45) for language in ("en", "de") for kind in (DISH, ARTIST)]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    source = index_of(tmp_path / "a", entities)
    first = link_all(source, *rows)
    chance = random.Random(3)
    again = link_all(
        index_of(tmp_path / "b", chance.sample(entities, len(entities))), *chance.sample(rows, len(rows)), *rows[:10]
    )
    assert all(first[name].equals(again[name]) for name in TABLES)
    assert first["links"].num_rows == len(rows)
    monkeypatch.setattr(query_tables, "TOGETHER", 7)
    in_parts = link_all(source, *rows)
    assert all(first[name].equals(in_parts[name]) for name in TABLES)


def test_names_in_a_language_that_is_nobodys_own_are_compared(tmp_path: Path) -> None:
    source = index_of(
        tmp_path, [item("Q1", {"mul": "taco"}, P31="Q746549"), item("Q2", {"de-at": "Kren"}, P31="Q746549")]
    )
    found = link_all(source, ("ja", *DISH, "taco"), ("tr", *DISH, "táco"), ("de", *DISH, "Krén"))["links"].to_pylist()
    assert {row["surface"]: (row["qid"], row["match"]) for row in found} == {
        "taco": ("Q1", "exact"),
        "táco": ("Q1", "key"),
        "Krén": ("Q2", "key"),
    }


def test_changed_rules_make_the_keys_of_their_language_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [{"es": "pilav"}, {"es": "köfteqq"}, {"en": "taco"}]
    source = index_of(tmp_path, [item(f"Q{n}", labels, P31="Q746549") for n, labels in enumerate(names, 1)])
    asked = [("es", *DISH, "pilavqq"), ("es", *DISH, "köfte"), ("en", *DISH, "tacos")]
    before = linker_id(source, CATALOG, ASKED, ["food"])
    assert [link_one(source, *query)["qid"] for query in asked] == [None, None, "Q3"]
    assert not [*lacking(source, CATALOG, ["es", "en"], ["food"])]

    rules = keys.key_rules
    monkeypatch.setattr(keys, "key_rules", lambda name: [*([["qq$", ""]] if name == "es" else []), *rules(name)])
    keys.key_version.cache_clear()
    assert [link_one(source, *query)["qid"] for query in asked] == ["Q1", "Q2", "Q3"]
    assert linker_id(source, CATALOG, ASKED, ["food"]) != before
    (told,) = lacking(source, CATALOG, ["es", "en"], ["food"])
    assert told.startswith("Spanish")
    keys.key_version.cache_clear()


def test_a_pack_brings_the_rules_of_its_language(tmp_path: Path) -> None:
    names = [{"tr": "pilav"}, {"tr": "köfteqq"}, {"en": "taco"}]
    source = index_of(tmp_path, [item(f"Q{n}", labels, P31="Q746549") for n, labels in enumerate(names, 1)])
    own = CATALOG.language("tr").model_copy(update={"key": (("(...)qq$", r"\1"),)})
    pack = CATALOG.model_copy(update={"languages": {**CATALOG.languages, "tr": own}})
    for surface, qid, without in [
        ("pilavqq", "Q1", None),
        ("köfte", "Q2", None),
        ("pilavı", None, "Q1"),
        ("Taco", "Q3", "Q3"),
    ]:
        asked = pa.table({"language": ["tr"], "topic": [DISH[0]], "kind": [DISH[1]], "surface": [surface]})
        for catalog, expected in ((pack, qid), (CATALOG, without)):
            assert Linker(catalog, source).link(asked)["links"]["qid"].to_pylist() == [expected], (surface, expected)
    assert linker_id(source, pack, ASKED, ["food"]) != linker_id(source, CATALOG, ASKED, ["food"])
    with pytest.raises(ValidationError, match=r"key: 'a\(' is no rule: .*missing \)"):
        type(own)(**{**own.model_dump(), "key": (("a(", ""),)})


def test_a_language_without_names_in_the_snapshot_is_reported_or_refused(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "d.json", [item("Q1", {"en": "ramen", "ja": "ラーメン"}, P31="Q746549")])
    english = build_index(dump, tmp_path / "en.duckdb", ["en", "mul"]).snapshot
    told = list(lacking(english, CATALOG, ["th", "en", "ja"], ["food"]))
    assert [line.partition(":")[0] for line in told] == ["Japanese, Thai"], "one line, also of forty languages"
    assert row(english, "th", "Ramen")["match"] == "exact"
    japanese = build_index(dump, tmp_path / "ja.duckdb", ["ja"]).snapshot
    with pytest.raises(SnapshotError, match=r"no names in any language that Thai falls back on.*wikidata build"):
        row(japanese, "th", "ราเม็ง")
    with pytest.raises(CatalogError, match="unknown language"):
        row(english, "xx", "ramen")


def test_the_linker_id_changes_with_all_that_decides(tmp_path: Path) -> None:
    source = index_of(tmp_path, [])
    base = linker_id(source, CATALOG, ASKED, ["food"])
    assert base == linker_id(source, CATALOG, [*ASKED, *ASKED], ["food", "food"])
    assert base != linker_id(source, CATALOG, ["es", "ja"], ["food"])
    without_thai = {code: one for code, one in CATALOG.languages.items() if code != "th"}
    assert base == linker_id(source, CATALOG.model_copy(update={"languages": without_thai}), ASKED, ["food"])
    food = CATALOG.topics["food"]
    dish = food.kinds["dish"].model_copy(update={"stops": ("Q1",)})
    other = CATALOG.model_copy(
        update={"topics": {"food": food.model_copy(update={"kinds": {**food.kinds, "dish": dish}})}}
    )
    described = food.kinds["dish"].model_copy(update={"description": "another wording"})
    same = CATALOG.model_copy(
        update={"topics": {"food": food.model_copy(update={"kinds": {**food.kinds, "dish": described}})}}
    )
    assert isinstance(other, Catalog)
    assert linker_id(source, other, ASKED, ["food"]) != base
    assert linker_id(source, same, ASKED, ["food"]) == base
    assert linker_id(source, CATALOG, ASKED, ["food", "music"]) != base
    assert linker_id(source, CATALOG, ASKED, ["food"], "paper") != base
    (tmp_path / "b").mkdir()
    assert linker_id(index_of(tmp_path / "b", [item("Q1", "x")]), CATALOG, ASKED, ["food"]) != base
