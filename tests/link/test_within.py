"""Names within a mention, and the other forms that running text has: turned names, capitals, brackets, bare names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from polyculture.link.forms import FORMS
from polyculture.link.index.source import IndexSource
from polyculture.link.linker import Linker
from polyculture.link.normalise import normalise
from polyculture.link.rules import LinkRules
from polyculture.link.within import SORTS, carriers, sorts_of
from tests.link_world import CATALOG, Entity, index_of, item, link_all, link_one, queries

DISH, DRINK, GARMENT = ("food", "dish"), ("beverage", "drink"), ("clothing", "garment")
TITLE, AUTHOR, SONG = ("book", "title"), ("book", "author"), ("music", "song")
ARTIST, GENRE, VEHICLE = ("music", "artist"), ("music", "genre"), ("transportation", "vehicle")
DISHES = {
    "en": "fish and chips", "de": "Weißwurst", "es": "gallo pinto", "it": "ribollita", "tr": "mantı", "ko": "냉면",
    "ar": "كشري", "fa": "قورمه سبزی", "hi": "समोसा", "th": "ต้มยำ", "ja": "お好み焼き", "zh": "热干面",
}  # fmt: skip
BANDS = {
    "en": "Nightwish", "de": "Nightwish", "es": "Nightwish", "it": "Nightwish", "tr": "Nightwish", "ko": "나이트위시",
    "ar": "نايتويش", "fa": "نایت‌ویش", "hi": "नाइटविश", "th": "ไนต์วิช", "ja": "ナイトウィッシュ", "zh": "夜愿",
}  # fmt: skip
GENRES = {
    "en": "reggae", "de": "Reggae", "es": "reggae", "it": "reggae", "tr": "reggae", "ko": "레게", "ar": "ريغي",
    "fa": "رگی", "hi": "रेगे", "th": "เร็กเก", "ja": "レゲエ", "zh": "雷鬼",
}  # fmt: skip
DREAM = {"en": "Dream of the Red Chamber", "zh": "红楼梦", "es": "Sueño en el pabellón rojo"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> IndexSource:
    """A dish with a name in each language, a soup, drinks, a shirt, books with their authors, a genre."""
    entities = [
        item("Q10", "soup", P279="Q746549", P31="Q746549"),
        item("Q11", DISHES, P31="Q10"),
        item("Q12", {"en": "mate", "es": "mate", "tr": "çay", "ko": "아메리카노"}, P31="Q40050"),
        item("Q13", {"en": "shirt", "de": "Hemd"}, P279="Q11460"),
        item("Q14", DREAM, P31="Q7725634", P50="Q20"),
        item("Q15", {"en": "1984", "ko": "1984"}, P31="Q7725634", P50="Q21"),
        item("Q24", {"en": "Animal Farm"}, P31="Q7725634"),
        item("Q25", {"en": "Soulmates"}, P31="Q7725634"),
        item("Q26", {"en": "Jacobus de Voragine"}, {"en": ["James", "Voragine"]}, P31="Q5", P106="Q36180"),
        item("Q27", {"ko": "자전거"}, P31="Q746549"),
        item("Q20", {"en": "Cao Xueqin", "zh": "曹雪芹", "es": "Cao Xueqin"}, P31="Q5", P106="Q36180"),
        item("Q21", {"en": "George Orwell", "ko": "조지 오웰"}, {"en": ["Orwell"]}, P31="Q5", P106="Q36180"),
        item("Q22", {"en": "soup", "th": "ซุป"}, P31="Q19361238"),
        item("Q23", {"en": "tea"}, P31="Q40050"),
        item("Q30", BANDS, P31="Q2088357"),
        item("Q31", GENRES, P31="Q188451"),
        item("Q32", {"en": "tram", "de": "Straßenbahn", "fa": "تراموا", "zh": "有轨电车"}, P279="Q42889"),
        item("Q33", {"en": "Halo"}, P31="Q2188189"),
        item("Q34", "Madonna", P31="Q5", P106="Q177220"),
    ]  # fmt: skip
    return index_of(tmp_path_factory.mktemp("within"), entities)


def found(
    source: IndexSource, language: str, kind: tuple[str, str], surface: str
) -> tuple[str | None, str, str | None]:
    row = link_one(source, language, *kind, surface)
    return row["qid"], row["status"], row["match"]


WITHIN = [
    ("en", DISH, "a plate of fish and chips", "Q11"),
    ("en", DISH, "some freshly fried Fish and Chips", "Q11"),
    ("de", DISH, "zwei frische Weißwürste", "Q11"),
    ("es", DISH, "un plato de gallo pinto caliente", "Q11"),
    ("es", DRINK, "un mate bien cebado", "Q12"),
    ("it", DISH, "una ciotola di ribollita fumante", "Q11"),
    ("tr", DISH, "bir tabak sıcak mantı", "Q11"),
    ("tr", DRINK, "bir bardak demli çay", "Q12"),
    ("ko", DRINK, "아이스 아메리카노", "Q12"),
    ("ko", DISH, "시원한 냉면 한 그릇", "Q11"),
    ("ar", DISH, "طبق من الكشري الساخن", "Q11"),
    ("fa", DISH, "یک بشقاب قورمه سبزی داغ", "Q11"),
    ("hi", DISH, "गरमागरम समोसा", "Q11"),
    ("hi", DISH, "एक प्लेट समोसे", "Q11"),
    ("th", DISH, "ต้มยำร้อนๆ", "Q11"),
    ("ja", DISH, "焼きたてのお好み焼き", "Q11"),
    ("zh", DISH, "一碗热干面", "Q11"),
    ("zh-tw", DISH, "一碗熱乾麵", "Q11"),
    ("en", GARMENT, "a white cotton shirt", "Q13"),
    ("zh", TITLE, "曹雪芹的《红楼梦》", "Q14"),
    ("zh", TITLE, "长篇小说《红楼梦》", "Q14"),
    ("es", TITLE, "la novela «Sueño en el pabellón rojo»", "Q14"),
    ("en", TITLE, "Cao Xueqin's Dream of the Red Chamber", "Q14"),
    ("en", TITLE, "Dream of the Red Chamber by Cao Xueqin", "Q14"),
    ("en", TITLE, "Orwell's 1984", "Q15"),
    ("ko", TITLE, "조지 오웰의 1984", "Q15"),
]


def test_a_name_among_known_words_is_linked(world: IndexSource) -> None:
    found = all_found(world, [(language, kind, surface) for language, kind, surface, _ in WITHIN])
    assert found == {surface: (qid, "linked", "within") for *_, surface, qid in WITHIN}


def all_found(
    source: IndexSource, queries: list[tuple[str, tuple[str, str], str]]
) -> dict[str, tuple[str | None, str, str | None]]:
    """What each surface is linked to, all in one run."""
    rows = link_all(source, *[(language, *kind, surface) for language, kind, surface in queries])["links"].to_pylist()
    return {row["surface"]: (row["qid"], row["status"], row["match"]) for row in rows}


# By language: a band, something else of the same name, and a genre, each with the noun that says so.
NOUNS = {
    "en": ("the band Nightwish", "the song Nightwish", "reggae music"),
    "de": ("die Band Nightwish", "das Lied Nightwish", "Reggae Musik"),
    "es": ("el grupo Nightwish", "la canción Nightwish", "la música reggae"),
    "it": ("il gruppo Nightwish", "l'album Nightwish", "la musica reggae"),
    "tr": ("Nightwish grubu", "Nightwish şarkısı", "reggae müziği"),
    "ko": ("밴드 나이트위시", "노래 나이트위시", "레게 음악"),
    "ar": ("فرقة نايتويش", "أغنية نايتويش", "موسيقى ريغي"),
    "fa": ("گروه نایت‌ویش", "ترانه نایت‌ویش", "موسیقی رگی"),
    "hi": ("नाइटविश बैंड", "गीत नाइटविश", "रेगे संगीत"),
    "th": ("วงไนต์วิช", "อัลบั้มไนต์วิช", "ดนตรีเร็กเก"),
    "ja": ("バンドのナイトウィッシュ", "楽曲ナイトウィッシュ", "レゲエ音楽"),
    "zh": ("夜愿乐队", "歌曲夜愿", "雷鬼音乐"),
    "zh-tw": ("夜願樂團", "歌曲夜願", "雷鬼音樂"),
}


def test_the_noun_beside_a_name_says_what_it_is(world: IndexSource) -> None:
    assert NOUNS.keys() == CATALOG.languages.keys()
    found = all_found(
        world,
        [
            (code, kind, one)
            for code, all_ in NOUNS.items()
            for kind, one in zip((ARTIST, SONG, GENRE), all_, strict=True)
        ],
    )
    for band, other, genre in NOUNS.values():
        assert found[band] == ("Q30", "linked", "within")
        assert found[other][1] != "linked"
        assert found[genre] == ("Q31", "linked", "within")
    persons = ["the band Madonna", "the group Madonna", "Madonna (band)"]
    assert {qid for qid, *_ in all_found(world, [("en", ARTIST, one) for one in persons]).values()} == {None}


KNOWN_RESTS = [
    ("ja", DISH, "お好み焼き三つ", "Q11"),
    ("ja", DISH, "お好み焼き二人前", "Q11"),
    ("ko", DISH, "냉면 두 사발", "Q11"),
    ("ko", DISH, "냉면 2인분", "Q11"),
    ("th", DISH, "ต้มยำสองหม้อ", "Q11"),
    ("th", DISH, "ต้มยำ5ถ้วย", "Q11"),
    ("zh", VEHICLE, "十列有轨电车", "Q32"),
    ("en", VEHICLE, "in a tram", "Q32"),
    ("de", VEHICLE, "mit der Straßenbahn", "Q32"),
    ("fa", VEHICLE, "با تراموا", "Q32"),
    ("en", SONG, "the hit song Halo", "Q33"),
    ("en", DISH, "fish and chips (British dish)", "Q11"),
    ("ja", DISH, "お好み焼き(広島風の料理)", "Q11"),
    ("zh", TITLE, "《红楼梦》(小说)", "Q14"),
    ("en", ARTIST, "Nightwish (band)", "Q30"),
    ("en", TITLE, "Dream of the Red Chamber (Cao Xueqin)", "Q14"),
    ("es", TITLE, "Sueño en el pabellón rojo, de Cao Xueqin", "Q14"),
    ("en", TITLE, "Cao Xueqin: Dream of the Red Chamber", "Q14"),
]


def test_numbers_prepositions_brackets_and_commas_are_known(world: IndexSource) -> None:
    found = all_found(world, [(language, kind, surface) for language, kind, surface, _ in KNOWN_RESTS])
    assert found == {surface: (qid, "linked", "within") for *_, surface, qid in KNOWN_RESTS}


def test_a_creator_whom_nobody_knows_leaves_a_doubt(world: IndexSource) -> None:
    expected = {
        "Animal Farm by Somebody Unknown": ("Q24", "ambiguous", "within"),
        "Somebody Unknown: Animal Farm": ("Q24", "ambiguous", "within"),
        "Dream of the Red Chamber by Somebody Unknown": (None, "no candidate", None),
        "Dream of the Red Chamber (George Orwell)": (None, "no candidate", None),
        "Animal Farm (George Orwell)": ("Q24", "ambiguous", "within"),
        "Animal Farm behind Somebody Unknown": (None, "no candidate", None),
    }
    assert all_found(world, [("en", TITLE, surface) for surface in expected]) == expected


@pytest.mark.parametrize("surface", ["Orwell's Animal Farm", "Animal Farm by George Orwell"])
def test_a_creator_that_wikidata_does_not_confirm_is_in_doubt(world: IndexSource, surface: str) -> None:
    assert found(world, "en", TITLE, surface) == ("Q24", "ambiguous", "within")


def test_the_rest_may_be_a_class_of_the_item(world: IndexSource) -> None:
    assert found(world, "en", DISH, "fish and chips soup") == ("Q11", "linked", "within")  # the world's soup
    assert found(world, "en", DISH, "soup fish and chips") == ("Q11", "linked", "within")


@pytest.mark.parametrize(
    ("language", "kind", "surface"),
    [
        ("en", DISH, "cardboard fish and chips"),  # what cardboard says is not known
    ],
)
def test_a_name_among_unknown_words_is_in_doubt(
    world: IndexSource, language: str, kind: tuple[str, str], surface: str
) -> None:
    assert found(world, language, kind, surface) == ("Q11", "ambiguous", "within")
    reasons = [row["reason"] for row in link_all(world, (language, *kind, surface))["candidates"].to_pylist()]
    assert reasons == [
        "in doubt: the longest name within the mention, whose rest says something else, or names a creator whom the "
        "snapshot does not confirm"
    ]


NO_NAMES = [
    ("en", DISH, "fish and chips shop owner"),  # the head is another thing
    ("zh", DISH, "塑料热干面"),  # no spaces: where a name ends is not known
    ("en", DRINK, "white tea"),  # a colour makes another drink
    ("en", AUTHOR, "the famous George Orwell"),  # never persons
    ("en", DISH, "a plate of"),
    ("en", DISH, "plate"),
]


def test_what_is_no_name_with_words_around_it_stays_without_a_link(world: IndexSource) -> None:
    assert set(all_found(world, NO_NAMES).values()) == {(None, "no candidate", None)}


def test_the_longest_name_counts_and_twins_are_ambiguous(tmp_path: Path) -> None:
    chips = item("Q1", "chips", P31="Q746549")
    whole = item("Q2", "fish and chips", P31="Q746549")
    twins = [item(qid, "kota", P31="Q746549") for qid in ("Q3", "Q4")]
    source = index_of(tmp_path, [chips, whole, *twins])
    assert found(source, "en", DISH, "a bowl of fish and chips") == ("Q2", "linked", "within")
    assert found(source, "en", DISH, "a bowl of chips") == ("Q1", "linked", "within")
    assert found(source, "en", DISH, "a bowl of kota") == ("Q3", "ambiguous", "within")


DOUBTS = [
    ("en", TITLE, "Orwell's Animal Farm", ("Q24", "ambiguous", "within")),  # nobody says who made it
    ("en", TITLE, "1984 by Cao Xueqin", (None, "no candidate", None)),  # somebody else made it
    ("en", TITLE, "Soulmate", (None, "no candidate", None)),  # a title has no singular
    ("en", TITLE, "the famous novel Soulmate", (None, "no candidate", None)),
    ("en", TITLE, "the famous novel Soulmates", ("Q25", "linked", "within")),
    ("en", AUTHOR, "James", ("Q26", "ambiguous", "alias")),
    ("en", AUTHOR, "Voragine", ("Q26", "linked", "alias")),
    ("ko", DISH, "자전거 도로", (None, "no candidate", None)),  # a road
    ("ko", DISH, "자전거도", ("Q27", "linked", "inflected")),
]


def test_what_may_be_another_is_no_link(world: IndexSource) -> None:
    found = all_found(world, [(language, kind, surface) for language, kind, surface, _ in DOUBTS])
    assert found == {surface: expected for *_, surface, expected in DOUBTS}


def test_a_link_within_does_not_depend_on_the_other_queries(world: IndexSource) -> None:
    asked = [("en", *TITLE, "Orwell's 1984"), ("en", *DISH, "a plate of fish and chips"), ("de", *TITLE, "1984")]
    together = link_all(world, *asked, ("en", *AUTHOR, "George Orwell"))["links"].to_pylist()
    for one in asked:
        (alone,) = link_all(world, one)["links"].to_pylist()
        assert alone in together


def test_each_form_can_be_left_out(tmp_path: Path) -> None:
    dishes = [item("Q1", {"en": "jambalaya", "es": "Jalapeño"}, P31="Q746549"), item("Q2", "taco", P31="Q746549")]
    dishes += [item("Q3", {"ar": "كبسة"}, P31="Q746549"), item("Q4", "The Reuben", P31="Q746549")]
    source = index_of(tmp_path, dishes)
    asked = {
        "normalised": ("ar", *DISH, "كبسه"),
        "spelling": ("es", *DISH, "jalapeno"),
        "inflection": ("en", *DISH, "tacos"),
        "within": ("en", *DISH, "a bowl of jambalaya"),
        "fuzzy": ("en", *DISH, "jambalayya"),
    }
    assert set(asked) == set(FORMS)

    def linked(rules: LinkRules) -> set[str]:
        links = Linker(CATALOG, source, rules).link(queries(*asked.values()))["links"].to_pylist()
        surfaces = {row["surface"] for row in links if row["qid"]}
        return {form for form, ask in asked.items() if ask[-1] in surfaces}

    assert linked(LinkRules()) == set(FORMS)
    assert linked(LinkRules(forms=())) == set()
    for form in FORMS:
        # What is equal after normalisation is so as another spelling, too.
        equal = {"normalised"} if form == "spelling" else set()
        assert linked(LinkRules(forms=(form,))) == {form} | equal
    turned = queries(("en", *DISH, "Reuben"))  # a name is turned, not the mention
    for forms, status in ((("inflection",), "linked"), (("spelling",), "no candidate")):
        assert Linker(CATALOG, source, LinkRules(forms=forms)).link(turned)["links"]["status"].to_pylist() == [status]


TURNED = [
    ("ja", "鶏の唐揚げ", "鶏唐揚げ"),
    ("ja", "豚角煮", "豚の角煮"),
    ("de", "Enteneier", "Entenei"),
    ("de", "Mohnöle", "Mohnöl"),
    ("es", "Rábanos blancos", "rábano blanco"),
    ("it", "Semi di girasole", "seme di girasole"),
    ("ko", "1984", "1984의"),
    ("tr", "Kapadokya", "Kapadokya'daki"),
    ("tr", "Gatsby", "Gatsby'nin"),
    ("th", "น้ำแร่แดง", "นํ้าแร่แดง"),
]


def test_names_are_turned_too(tmp_path: Path) -> None:
    source = index_of(tmp_path, named(TURNED))
    found = all_found(source, [(language, DISH, surface) for language, _, surface in TURNED])
    assert {surface: row[:2] for surface, row in found.items()} == {
        surface: (f"Q{number}", "linked") for number, (*_, surface) in enumerate(TURNED, 1)
    }


def named(rows: Sequence[tuple[str, str, str]]) -> list[Entity]:
    """A dish for each (language, name, ...)."""
    return [item(f"Q{number}", {language: name}, P31="Q746549") for number, (language, name, _) in enumerate(rows, 1)]


OTHER_WORDS = [
    ("es", "panela", "Panella"),
    ("es", "turrón", "Turon"),
    ("es", "morrón", "Morón"),
    ("it", "olio di cotone", "Olio di Crotone"),
    ("th", "ไข่ขาว", "ไข่ข้าว"),
]


def test_another_word_is_no_slip(tmp_path: Path) -> None:
    found = all_found(index_of(tmp_path, named(OTHER_WORDS)), [(row[0], DISH, row[2]) for row in OTHER_WORDS])
    assert {surface: row[0] for surface, row in found.items()} == {surface: None for *_, surface in OTHER_WORDS}


def test_capitals_alone_decide_nothing(tmp_path: Path) -> None:
    source = index_of(
        tmp_path,
        [
            item("Q1", "bake", P31="Q746549"),
            item("Q2", "Bake", P31="Q746549"),
            item("Q3", "flip", sitelinks=1, P31="Q746549"),
            item("Q4", "Flip", sitelinks=30, P31="Q746549"),
            item("Q5", "fool", P31="Q746549"),
            item("Q6", "something", {"en": ["Fool"]}, P31="Q746549"),
        ],
    )
    assert found(source, "en", DISH, "bake") == ("Q1", "ambiguous", "label")
    assert found(source, "en", DISH, "Bake") == ("Q2", "ambiguous", "label")
    assert found(source, "en", DISH, "flip") == ("Q4", "linked", "normalised")  # prominence decides
    assert found(source, "en", DISH, "fool") == ("Q5", "linked", "label")  # not capitals alone: a label, an alias


def test_one_or_two_letters_have_no_english_name(tmp_path: Path) -> None:
    source = index_of(tmp_path, [item("Q1", {"en": "M"}, {"en": ["ms", "abc"]}, P31="Q746549")])
    assert [found(source, "ja", DISH, surface)[0] for surface in ("M", "ms", "abc")] == [None, None, "Q1"]
    assert found(source, "en", DISH, "M")[0] == "Q1"


def test_persons_have_cases_and_no_plural(tmp_path: Path) -> None:
    wood = item(
        "Q1", {"en": "James Wood", "de": "James Wood", "ko": "제임스 우드", "tr": "James Wood"}, P31="Q5", P106="Q36180"
    )
    source = index_of(tmp_path, [wood])
    assert found(source, "en", AUTHOR, "James Woods")[0] is None
    assert found(source, "en", AUTHOR, "James Wood's") == ("Q1", "linked", "inflected")
    assert found(source, "ko", AUTHOR, "제임스 우드의") == ("Q1", "linked", "inflected")
    assert found(source, "tr", AUTHOR, "James Wood'un") == ("Q1", "linked", "inflected")
    assert found(source, "tr", AUTHOR, "James Woodlar")[0] is None


def test_a_bare_given_name_is_ambiguous_unless_it_is_the_whole_name(tmp_path: Path) -> None:
    def person(qid: str, label: str, sitelinks: int, *aliases: str) -> dict[str, Any]:
        return item(qid, label, {"en": list(aliases)}, sitelinks, P31="Q5", P106="Q36180")

    source = index_of(
        tmp_path,
        [
            person("Q1", "Heinrich III., Holy Roman Emperor", 90, "Heinrich III."),
            person("Q2", "Heinrich III of Nassau", 2, "Heinrich III."),
            person("Q3", "Wolfgang Amadeus Mozart", 90, "Mozart", "Wolfgang"),
            person("Q4", "Leopold Mozart", 9, "Mozart"),
            person("Q5", "Wolfgang Hildesheimer", 9, "Wolfgang"),
            person("Q6", "Giovanni Boccaccio", 90, "Giovanni"),
            person("Q7", "Colette", 9),
        ],
    )
    assert found(source, "en", AUTHOR, "Heinrich III.")[:2] == ("Q1", "ambiguous")
    assert found(source, "en", AUTHOR, "Wolfgang")[:2] == ("Q3", "ambiguous")
    assert found(source, "en", AUTHOR, "Mozart")[:2] == ("Q3", "linked")  # a family name: prominence decides
    assert found(source, "en", AUTHOR, "Giovanni")[:2] == ("Q6", "ambiguous")  # the topic leaves one, but many have it
    assert found(source, "en", AUTHOR, "Colette")[:2] == ("Q7", "linked")  # her whole name


def test_the_carrier_words_are_whole() -> None:
    """Every language of the catalogue has both sides of each sort, in one normal form each, and each topic one sort."""
    for language in CATALOG.languages.values():
        own = carriers().get(language.code) or carriers()[language.label_languages[0].partition("-")[0]]
        assert own["head"] in ("first", "last")
        for sort in SORTS:
            for side in ("before", "after"):
                words = own[sort][side]
                assert all(normalise(words, "plain")), (language.code, sort)
                assert len(set(words)) == len(words), (language.code, sort, side)
    assert {sort for topic in CATALOG.topics for sort in sorts_of(topic)} == set(SORTS)


# What is asked, and whether the item of the name with a word in brackets is plainly linked.
BRACKETED = [
    ("ar", DISH, "فول", "ambiguous"),  # beans
    ("ar", DISH, "طبق فول", "ambiguous"),
    ("en", DISH, "lorrow", "ambiguous"),
    ("en", DISH, "lorrow (Sweet)", "linked"),
    ("en", DISH, "bellisk", "linked"),  # its class is dumpling
    ("es", TITLE, "La marea larga", "linked"),
    ("es", SONG, "Noche de cobre", "linked"),
    ("ja", TITLE, "銅の月", "linked"),
]


def test_a_word_in_brackets_sets_a_name_apart_unless_it_is_the_kind_asked_for(tmp_path: Path) -> None:
    entities = [
        item("Q60", "dumpling", P279="Q746549"),
        item("Q61", {"en": "ful", "ar": "فول (حلوى)"}, P31="Q746549"),
        item("Q62", "lorrow (sweet)", P31="Q746549"),
        item("Q63", "bellisk (dumpling)", P31="Q60"),
        item("Q64", {"es": "La marea larga (novela)", "ja": "銅の月 (小説)"}, P31="Q7725634"),
        item("Q65", {"es": "Noche de cobre (álbum de Vela)"}, P31="Q2188189"),
    ]
    asked = [(language, *kind, surface) for language, kind, surface, _ in BRACKETED]
    links = link_all(index_of(tmp_path, entities), *asked)["links"].to_pylist()
    found = {(row["language"], row["surface"]): row["status"] for row in links}
    assert found == {(language, surface): status for language, _, surface, status in BRACKETED}
