"""The algorithm: matching, survivors, ranking, and the evidence."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import CatalogError, SnapshotError
from polyculture.cache.schema import CANDIDATES, ENTITIES, ENTITY_COUNTRIES, LINKS
from polyculture.link.calibration import AMBIGUOUS, ANY, bases, basis_of
from polyculture.link.dumps.build import build_index
from polyculture.link.index.snapshot import open_snapshot
from polyculture.link.index.source import IndexSource
from polyculture.link.linker import TABLES, Linker, languages_without_names
from polyculture.link.name_forms import loose_names_version
from polyculture.link.rules import LinkRules, linker_id
from tests.link_world import CATALOG, index_of, item, link_all, link_one, queries, write_dump

DISH, ARTIST, SONG = ("food", "dish"), ("music", "artist"), ("music", "song")


def row(source: IndexSource, language: str, surface: str, kind: tuple[str, str] = DISH) -> dict[str, Any]:
    return link_one(source, language, *kind, surface)


def reasons(source: IndexSource, language: str, surface: str, kind: tuple[str, str] = DISH) -> dict[str, str]:
    table = link_all(source, (language, *kind, surface))["candidates"]
    return {candidate["qid"]: candidate["reason"] for candidate in table.to_pylist()}


def test_each_kind_of_match(tmp_path: Path) -> None:
    labels = {"en": "ramen", "ja": "ラーメン", "ar": "رامن", "zh": "拉面", "zh-tw": "日式拉麵", "tr": "İskender"}
    source = index_of(tmp_path, [item("Q1", labels, {"en": ["ramen noodles"], "zh": ["日本拉面"]}, P31="Q746549")])
    cases = {
        ("en", "ramen"): ("label", "ramen"),
        ("en", "ramen noodles"): ("alias", "ramen noodles"),
        ("en", "Ramen"): ("normalised", "ramen"),
        ("en", "Ramen  NOODLES"): ("normalised", "ramen noodles"),
        ("ja", "ラーメン"): ("label", "ラーメン"),
        ("ja", "ﾗｰﾒﾝ"): ("normalised", "ラーメン"),
        ("ja", "Ramen"): ("english", "ramen"),
        ("ar", "رامِن"): ("normalised", "رامن"),
        ("zh-tw", "日式拉麵"): ("label", "日式拉麵"),
        ("zh-tw", "拉面"): ("label", "拉面"),
        ("zh-tw", "拉麵"): ("normalised", "拉面"),
        ("zh", "日本拉麵"): ("normalised", "日本拉面"),
        ("tr", "İSKENDER"): ("normalised", "İskender"),
        ("en", "ramen noodless"): ("fuzzy", "ramen noodles"),
    }
    for (language, surface), (match, matched) in cases.items():
        found = row(source, language, surface)
        assert (found["qid"], found["status"], found["match"], found["matched"]) == ("Q1", "linked", match, matched)
        assert (found["score"] == 100.0) == (match != "fuzzy")


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
    assert off_topic["score"] is None
    assert linked["confidence"] > 0.99 > twins["confidence"] > 0.3
    assert unknown["confidence"] is None


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


def test_a_confidence_goes_by_the_match_the_doubt_and_who_else_bears_the_name(tmp_path: Path) -> None:
    entities = [
        item("Q10", "soup", P279="Q746549"),
        item("Q11", "soup", P279="Q10"),
        item("Q12", "twins", P31="Q746549"),
        item("Q13", "twins", P31="Q746549"),
        item("Q14", "ramen", P31="Q746549"),
        item("Q15", "udon", P31="Q746549"),
        item("Q16", "udon", P31="Q5"),
        item("Q17", "noodle", P31="Q746549"),
        item("Q18", "noodles", P31="Q5"),
    ]
    source = index_of(tmp_path, entities)
    expected = {
        "ramen": ("label", "alone"),
        "Ramen": ("normalised", "alone"),
        "udon": ("label", "shared"),
        "soup": (ANY, "rivals"),
        "Soup": (ANY, "rivals"),
        "twins": (AMBIGUOUS, "rivals"),
        "noodles": (AMBIGUOUS, "shared"),
        "Udon": (ANY, "shared"),
    }
    for surface, kind in expected.items():
        found = row(source, "en", surface)
        assert (found["status"] == "ambiguous") == (kind[0] == AMBIGUOUS)
        assert basis_of(found) == bases()[kind]
        assert found["confidence"] == bases()[kind].confidence


def test_a_form_that_is_another_things_name_is_less_sure(tmp_path: Path) -> None:
    entities = [item("Q10", "dumpling", P31="Q746549"), item("Q11", "noodle", P31="Q746549"), item("Q12", "noodles")]
    source = index_of(tmp_path, entities)
    alone, shared = row(source, "en", "dumplings"), row(source, "en", "noodles")
    assert (alone["qid"], alone["match"], shared["qid"], shared["match"]) == ("Q10", "inflected", "Q11", "inflected")
    assert (shared["candidates"], shared["survivors"]) == (2, 1)
    assert alone["confidence"] > 0.9 > shared["confidence"] > 0.3
    assert (alone["status"], shared["status"]) == ("linked", "ambiguous")


def test_an_english_name_that_is_another_things_in_the_mentions_own_language_is_in_doubt(tmp_path: Path) -> None:
    entities = [item("Q10", "island", {"en": ["Ada"]}, P31="Q746549"), item("Q11", {"tr": "ada"})]
    entities += [item("Q12", "Rum", P31="Q746549"), item("Q13", "Rum")]
    source = index_of(tmp_path, entities)
    assert (row(source, "tr", "Ada")["qid"], row(source, "tr", "Ada")["status"]) == ("Q10", "ambiguous")
    assert row(source, "tr", "Rum")["status"] == "linked"  # both are English: the topic decides
    reasons = link_all(source, ("tr", *DISH, "Ada"))["candidates"].column("reason").to_pylist()
    assert reasons[0] == "in doubt: an English alias, and another has the name outside the topic"


def test_a_dish_of_something_is_not_that_thing(tmp_path: Path) -> None:
    source = index_of(tmp_path, [item("Q10", {"ja": "豆腐", "en": "tofu"}, P31="Q746549")])
    assert {row(source, *ask)["status"] for ask in (("ja", "豆腐料理"), ("en", "tofu dishes"))} == {"no candidate"}


@pytest.mark.parametrize(
    ("language", "name", "surface"),
    [
        ("en", "Pope Pius XII", "Pope Pius XIII"),
        ("de", "Friedrich Wilhelm I.", "Friedrich Wilhelm V."),
        ("tr", "VI. Mehmed Vahdettin", "VII. Mehmed Vahdettin"),
        ("zh", "法国波旁王朝国王路易十四世", "法国波旁王朝国王路易十五世"),
    ],
)
def test_numbers_must_agree_in_a_fuzzy_match(tmp_path: Path, language: str, name: str, surface: str) -> None:
    source = index_of(tmp_path, [item("Q1", {language: name}, P31="Q746549")])
    assert row(source, language, surface)["status"] == "no candidate"
    assert row(source, language, name.replace("i", "ii", 1).replace("法国", "法國的"))["match"] == "fuzzy"


TYPOS = [
    ("en", "harissa", "harisa"),
    ("en", "kushari", "koushari"),
    ("en", "ghormeh sabzi", "ghromeh sabzi"),
    ("en", "sholezard", "sholeh zard"),
    ("en", "halva", "halvah"),
    ("es", "reggaeton", "reggeton"),
    ("en", "hamburger", "hambuger"),
    ("ja", "サルモレッホ", "サルモレホ"),
    ("th", "ผัดไทย", "ผัดไท"),
]


def test_typos_are_matched_fuzzily(tmp_path: Path) -> None:
    found = in_one_world(tmp_path, TYPOS)
    assert {surface: (row["qid"], row["match"]) for surface, row in found.items()} == {
        typo: (f"Q{number}", "fuzzy") for number, (*_, typo) in enumerate(TYPOS, 1)
    }


def in_one_world(folder: Path, rows: Sequence[tuple[str, str, str]]) -> dict[str, dict[str, Any]]:
    """The link of each mention where there is a dish for each (language, name, mention)."""
    dishes = [item(f"Q{number}", {language: name}, P31="Q746549") for number, (language, name, _) in enumerate(rows, 1)]
    asked = [(language, *DISH, mention) for language, _, mention in rows]
    return {link["surface"]: link for link in link_all(index_of(folder, dishes), *asked)["links"].to_pylist()}


NO_TYPOS = [
    ("en", "tortell", "tortelli"),
    ("en", "pastry", "pasty"),
    ("en", "chocolate", "chocolatier"),
    ("en", "chana masala", "chaat masala"),
    ("en", "bay class minesweeper", "auk class minesweeper"),
    ("en", "spanish biographical dictionary", "polish biographical dictionary"),
    ("en", "small encyclopedic dictionary of wines", "encyclopedic dictionary of wines"),
    ("tr", "k vitamini", "e vitamini"),
    ("en", "E 341i", "E 341ii"),
    ("it", "tortelloni", "tortellini"),
    ("en", "water", "waiter"),
    ("it", "ditali", "d'Italia"),
    ("zh", "意大利面条", "意大利宽面条"),
    ("ko", "오징어채볶음", "오징어볶음"),
    ("ja", "ソーセージ", "ソーセージ鍋"),
]


def test_another_name_with_a_similar_spelling_is_no_typo(tmp_path: Path) -> None:
    found = in_one_world(tmp_path, NO_TYPOS)
    assert {surface: row["status"] for surface, row in found.items()} == {row[2]: "no candidate" for row in NO_TYPOS}


def test_a_form_that_is_as_much_something_else_outside_the_topic_is_in_doubt(tmp_path: Path) -> None:
    band = item("Q1", {"en": "The Band", "es": "Banda"}, P31="Q746549")
    source = index_of(tmp_path, [band, item("Q2", {"en": "band"}, P31="Q5"), item("Q3", {"en": "taco"}, P31="Q746549")])
    found = row(source, "en", "bands")
    assert (found["qid"], found["status"], found["candidates"], found["survivors"]) == ("Q1", "ambiguous", 2, 1)
    assert (row(source, "en", "tacos")["status"], row(source, "es", "bandas")["status"]) == ("linked", "linked")
    assert reasons(source, "en", "bands")["Q2"] == "lost: no way from it to the classes of food"


def test_a_particle_agrees_with_its_word(tmp_path: Path) -> None:
    source = index_of(tmp_path, [item("Q1", {"ko": "진"}, P31="Q746549"), item("Q2", {"ko": "물"}, P31="Q746549")])
    found = {surface: row(source, "ko", surface)["qid"] for surface in ("진을", "물로", "진로", "진를", "진가", "진도")}
    assert found == {"진을": "Q1", "물로": "Q2", "진로": None, "진를": None, "진가": None, "진도": None}


def test_a_part_of_a_word_is_no_article(tmp_path: Path) -> None:
    source = index_of(tmp_path, [item("Q1", "An-doughnut", P31="Q746549"), item("Q2", "The Curry", P31="Q746549")])
    assert (row(source, "en", "doughnut")["qid"], row(source, "en", "curry")["qid"]) == (None, "Q2")


def test_what_is_loosened_several_times_is_another_word(tmp_path: Path) -> None:
    bolero = item("Q1", {"en": "Hamada", "de": "Boléro"}, {"en": ["Boléro", "Turk"]}, P31="Q746549")
    source = index_of(tmp_path, [bolero, item("Q2", "Epistle", {"en": ["Romans"]}, P31="Q7725634")])
    for language, surface in [("es", "boleros"), ("tr", "türküler"), ("en", "boleros")]:
        assert row(source, language, surface)["status"] == "no candidate", surface
    assert row(source, "de", "Boleros")["match"] == "inflected"  # a label, in its own language
    assert link_one(source, "de", "book", "title", "Roman")["status"] == "no candidate"


def test_disambiguation_pages_neither_compete_nor_hide_fuzzy_matches(tmp_path: Path) -> None:
    names = {"Q10": "dumpling soup", "Q11": "dumpling soup", "Q12": "dumplling soup", "Q13": "dumplinng soup"}
    meant = {"Q10": "Q746549", "Q11": "Q4167410", "Q12": "Q4167410", "Q13": "Q2188189"}
    source = index_of(tmp_path, [item(qid, name, P31=meant[qid]) for qid, name in names.items()])
    alone, typo, song = (row(source, "en", names[qid]) for qid in ("Q10", "Q12", "Q13"))
    assert (alone["qid"], alone["candidates"], alone["survivors"]) == ("Q10", 1, 1)
    assert (typo["qid"], typo["match"]) == ("Q10", "fuzzy")
    assert song["status"] == "no path"


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
        "Q14": "first of several that nothing clearly separates",
        "Q15": "too close to Q14 to tell",
        "Q13": "lost to Q14: less prominent, 3 sitelinks against 9",
        "Q12": "too close to Q14 to tell",
        "Q19": "lost to Q14: farther from the topic, 3 steps against 1",
        "Q11": "lost to Q14: an alias against a label",
        "Q16": "lost to Q14: a name after normalisation against a label",
        "Q17": "lost: no way from it to the classes of food",
    }
    table = link_all(source, ("en", *DISH, "bake"))["candidates"].to_pylist()
    assert [candidate["rank"] for candidate in table] == [1, 2, 3, 4, 5, 6, 7, None]
    assert reasons(source, "en", "tart") == {"Q11": "won: the only one of this name that reaches the topic"}


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


def test_one_letter_makes_another_person_and_a_last_word_of_one_letter_stays_a_word(tmp_path: Path) -> None:
    entities = [
        item("Q20", "Philip Gardnerly", P31="Q5"),
        item("Q21", "vitamin A", P31="Q746549"),
        item("Q22", "vitamin E", P31="Q746549"),
        item("Q23", "wine press", P31="Q746549"),
    ]
    source = index_of(tmp_path, entities)
    assert row(source, "en", "Phillip Gardnerly", ARTIST)["match"] == "fuzzy"
    for other in ("Philip Garnerly", "Philid Gardnerly"):
        assert row(source, "en", other, ARTIST)["status"] == "no candidate"
    for word in ("vitamina", "vitamine", "vitamines"):
        assert row(source, "en", word)["status"] == "no candidate"
    assert row(source, "en", "Vitamin-A")["qid"] == "Q21"
    assert row(source, "en", "winepress")["qid"] == "Q23"


def test_fuzzy_only_within_the_kind_and_only_where_nothing_matches(tmp_path: Path) -> None:
    source = index_of(
        tmp_path,
        [
            item("Q30", "bouillabaisse", P31="Q746549"),
            item("Q31", "bouillabaise", P31="Q5"),
            item("Q32", "Bouillabaisses", P31="Q2188189"),
        ],
    )
    typo = row(source, "en", "bouillabeisse")
    assert (typo["qid"], typo["match"], typo["matched"]) == ("Q30", "fuzzy", "bouillabaisse")
    assert 90 <= typo["score"] < 100
    assert row(source, "en", "bouillabaise")["status"] == "no path"  # it is the name of something else
    assert row(source, "en", "pouillabaisse")["status"] == "no candidate"  # another first letter
    assert row(source, "en", "bouillabaisse soup")["status"] == "no candidate"  # the head is soup
    never = link_one(source, "en", *DISH, "bouillabeisse", rules=LinkRules(fuzzy_threshold=None))
    assert never["status"] == "no candidate"


def test_short_names_are_never_matched_fuzzily(tmp_path: Path) -> None:
    source = index_of(tmp_path, [item("Q1", {"en": "taco", "zh": "宫保鸡丁"}, P31="Q746549")])
    for language, surface in (("en", "taca"), ("zh", "宫爆鸡丁")):
        assert row(source, language, surface)["status"] == "no candidate"


SPELLED = {
    "en": "crème brûlée",
    "de": "Kässpätzle",
    "ja": "コンピュータ寿司",
    "ko": "김치찌개",
    "hi": "क़ीमा",
    "tr": "künefe",
    "zh": "宫保鸡丁",
}
SPELLINGS = [
    ("en", "Creme Brulee"),
    ("en", "crème-brulée!"),
    ("de", "Kasspatzle"),
    ("ja", "こんぴゅーた寿司"),
    ("ko", "김치 찌개"),
    ("hi", "कीमा"),
    ("tr", "kunefe"),
    ("zh", "宫保 鸡丁"),
]
# What a mention may carry, by language: the name in Wikidata, and a mention that must find it.
FORMS = [
    ("en", "taco", "the tacos"),
    ("en", "curry", "curries"),
    ("en", "loaf", "loaves"),
    ("de", "Brezel", "Brezeln"),
    ("de", "Stolz und Vorurteil", "Stolz & Vorurteil"),
    ("de", "Apfelstrudel", "den Apfelstrudeln"),
    ("de", "Bratwurst", "Bratwürste"),
    ("de", "Rote Grütze", "roter Grütze"),
    ("es", "taco al pastor", "los tacos al pastor"),
    ("es", "enchilada verde", "enchiladas verdes"),
    ("it", "cannolo", "i cannoli"),
    ("it", "arancino", "arancini"),
    ("it", "lasagna", "lasagne"),
    ("tr", "İskender kebap", "İskender kebabı"),
    ("tr", "baklava", "baklavayı"),
    ("tr", "mercimek çorbası", "mercimek çorbasını"),
    ("tr", "börek", "börekler"),
    ("hi", "समोसा", "समोसे"),
    ("hi", "समोसा", "समोसों"),
    ("hi", "साड़ी", "साड़ियाँ"),
    ("hi", "बाइबिल", "बाइबिल का"),
    ("ar", "كشري", "الكشري"),
    ("ar", "شاي أخضر", "الشاي الأخضر"),
    ("ar", "سمبوسة", "والسمبوسات"),
    ("fa", "کباب", "کباب‌های"),
    ("fa", "قورمه سبزی", "قورمه سبزی‌ها"),
    ("ko", "김치찌개", "김치찌개를"),
    ("ko", "비빔밥", "비빔밥이라는"),
    ("ja", "茶漬け", "お茶漬け"),
    ("ja", "茶", "お茶"),
    ("ja", "バーベキュー", "バーベキュ"),
    ("zh-tw", "牛肉麵", "牛肉麵類"),
]


def test_other_spellings(tmp_path: Path) -> None:
    source = index_of(tmp_path, [item("Q1", SPELLED, P31="Q746549")])
    for language, surface in SPELLINGS:
        found = row(source, language, surface)
        assert (found["qid"], found["match"], found["matched"]) == ("Q1", "variant", SPELLED[language])


def test_other_forms_of_the_words(tmp_path: Path) -> None:
    entities = [item(f"Q{10 + n}", {language: name}, P31="Q746549") for n, (language, name, _) in enumerate(FORMS)]
    table = link_all(index_of(tmp_path, entities), *((language, *DISH, mention) for language, _, mention in FORMS))
    found = {
        (link["language"], link["surface"]): (link["match"], link["matched"]) for link in table["links"].to_pylist()
    }
    spelled = {"الكشري", "الشاي الأخضر", "バーベキュ"}
    assert found == {
        (language, mention): ("variant" if mention in spelled else "inflected", name)
        for language, name, mention in FORMS
    }


def test_names_without_an_article_outrank_others_independently_of_other_queries(
    tmp_path: Path,
) -> None:
    works = [item("Q901", "tragedy", P279="Q7725634"), item("Q1", "Hamlet", P31="Q901")]
    source = index_of(tmp_path, [*works, item("Q2", "The Hamlet", P31="Q7725634")])
    title, nothing = ("book", "title"), ("en", "book", "title", "xyzzy plugh")
    for asked in [("en", *title, "Hamlet's"), ("de", *title, "Hamlets"), ("es", *title, "el Hamlet")]:
        for others in [], [nothing]:
            found = link_all(source, asked, *others)["links"].to_pylist()
            (link,) = [link for link in found if link["surface"] == asked[-1]]
            score = 95.0 if asked[0] == "en" else 94.0  # English after another language
            assert (link["qid"], link["score"], link["survivors"]) == ("Q1", score, 2), asked


def test_inflected_forms_match_only_within_the_topic_and_without_an_exact_match(tmp_path: Path) -> None:
    source = index_of(
        tmp_path,
        [item("Q1", "taco", P31="Q746549"), item("Q2", "tacos", P31="Q2188189"), item("Q3", "bar", P31="Q2188189")],
    )
    assert row(source, "en", "tacos")["qid"] == "Q1"
    assert row(source, "en", "tacos", SONG)["match"] == "label"
    assert row(source, "en", "bars")["status"] == "no candidate"


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
        ("Q66", "KP", "Q18097", "P495"),
        ("Q66", "KR", "Q18097", "P495"),
        ("Q66", None, "Q999", "P495"),
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


def test_shuffled_input_gives_equal_tables(tmp_path: Path) -> None:
    entities = [
        item(f"Q{n}", f"name {n % 40}", sitelinks=n % 3, P31="Q746549" if n % 4 else "Q5") for n in range(100, 300)
    ]
    rows = [(language, *kind, f"name {n}") for n in range(45) for language in ("en", "de") for kind in (DISH, ARTIST)]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = link_all(index_of(tmp_path / "a", entities), *rows)
    chance = random.Random(3)
    again = link_all(
        index_of(tmp_path / "b", chance.sample(entities, len(entities))), *chance.sample(rows, len(rows)), *rows[:10]
    )
    assert all(first[name].equals(again[name]) for name in TABLES)
    assert first["links"].num_rows == len(rows)


def test_a_snapshot_without_loose_names_gives_equal_tables(tmp_path: Path) -> None:
    labels = {"en": "dumpling soup", "de": "Knödelsuppe"}
    source = index_of(tmp_path, [item("Q1", labels, P31="Q746549"), item("Q2", {"en": "The Dumplings"}, P31="Q215380")])
    rows = [
        (language, *kind, surface)
        for language in ("en", "de")
        for kind in (DISH, ARTIST)
        for surface in ("dumpling soups", "Dumpling Soup", "knodelsuppe", "dumplingsoup", "dumpling suop", "lost")
    ]
    assert source.loose_names == loose_names_version()
    fast = link_all(source, *rows)
    file = source.snapshot.path
    with duckdb.connect(str(file)) as connection:
        connection.execute("DROP TABLE loose_names; DELETE FROM meta WHERE key = 'loose_names'")
    earlier = IndexSource(open_snapshot(file))
    assert earlier.loose_names is None
    slow = link_all(earlier, *rows)
    assert all(fast[name].equals(slow[name]) for name in TABLES)
    assert linker_id(source, CATALOG, ["food"]) == linker_id(earlier, CATALOG, ["food"])
    assert {"inflected", "variant", "fuzzy"} < set(fast["links"].column("match").to_pylist())


def test_loose_names_of_other_rules_are_not_read(tmp_path: Path) -> None:
    source = index_of(tmp_path, [item("Q1", {"en": "dumpling soup"}, P31="Q746549")])
    file = source.snapshot.path
    with duckdb.connect(str(file)) as connection:
        connection.execute("DELETE FROM loose_names; UPDATE meta SET value = '\"other\"' WHERE key = 'loose_names'")
    assert row(IndexSource(open_snapshot(file)), "en", "dumplingsoup")["qid"] == "Q1"


def test_a_language_without_names_in_the_snapshot_is_reported_or_refused(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "d.json", [item("Q1", {"en": "ramen", "ja": "ラーメン"}, P31="Q746549")])
    english = IndexSource(build_index(dump, tmp_path / "en.duckdb", ["en", "mul"]).snapshot)
    assert languages_without_names(english, CATALOG, ["th", "en", "ja"]) == ["ja", "th"]
    assert row(english, "th", "Ramen")["match"] == "english"
    japanese = IndexSource(build_index(dump, tmp_path / "ja.duckdb", ["ja"]).snapshot)
    with pytest.raises(SnapshotError, match=r"no names in any language that Thai falls back on.*wikidata build"):
        row(japanese, "th", "ราเม็ง")
    with pytest.raises(CatalogError, match="unknown language"):
        row(english, "xx", "ramen")


def test_the_linker_id_changes_with_all_that_decides(tmp_path: Path) -> None:
    source = index_of(tmp_path, [])
    base = linker_id(source, CATALOG, ["food"])
    assert base == linker_id(source, CATALOG, ["food", "food"])
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
    assert linker_id(source, other, ["food"]) != base
    assert linker_id(source, same, ["food"]) == base
    assert linker_id(source, CATALOG, ["food", "music"]) != base
    assert linker_id(source, CATALOG, ["food"], LinkRules(clear_lead=3.0)) != base
    (tmp_path / "b").mkdir()
    assert linker_id(index_of(tmp_path / "b", [item("Q1", "x")]), CATALOG, ["food"]) != base
