"""What looks like a name and means another thing: titles in another number, other words with an ending, compounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyculture.link.index.source import IndexSource
from tests.link_world import index_of, item, link_all

DISH, GARMENT = ("food", "dish"), ("clothing", "garment")
TITLE, SONG, ARTIST = ("book", "title"), ("music", "song"), ("music", "artist")
BOOK, PIECE, BAND = "Q7725634", "Q2188189", "Q2088357"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> IndexSource:
    """Works and a band whose names have a number, and common things with short names."""
    entities = [
        item("Q101", {"en": "The Lantern Keeper", "de": "Der stille Wächter", "tr": "Sessiz Gemi"}, P31=BOOK),
        item("Q102", {"en": "Cloud Letters", "es": "Cartas de nube"}, P31=BOOK),
        item("Q103", {"en": "Paper Harbour", "tr": "Mavi Köpek"}, P31=[PIECE, BOOK]),
        item("Q104", "The Velvet Herons", P31=BAND),
        item("Q110", {"de": "Dachs", "tr": "gül"}, P31="Q746549"),
        item("Q111", {"de": "Bratei", "tr": "kulübe"}, P31="Q746549"),
        item("Q112", {"de": "Reis", "tr": "kaz"}, P31="Q746549"),
        item("Q113", {"de": "Ton", "tr": "saat"}, P31="Q746549"),
        item("Q114", {"tr": "kakao tozu"}, P31="Q746549"),
        item("Q115", {"it": "Panne", "de": "Kohl"}, P31="Q746549"),
        item("Q116", {"it": "torta", "de": "Stoffhemd"}, {"it": ["Torte"]}, P31="Q746549"),
        item("Q117", {"it": "limone", "de": "Mohr"}, P31="Q746549"),
        item("Q118", {"it": "tagliatelle", "en": "pastis"}, P31="Q746549"),
        item("Q119", {"en": "bouillabaisse", "it": "ceviche", "ar": "شاي", "fa": "چای"}, P31="Q746549"),
        item("Q120", {"en": "clogs", "es": "zuecos", "ko": "나막신"}, P279="Q11460"),
    ]
    return index_of(tmp_path_factory.mktemp("other"), entities)


# What is asked, and the item that is linked; None where it must not be.
NUMBERS = [
    ("en", TITLE, "The Lantern Keepers", None),
    ("en", TITLE, "Lantern Keepers", None),
    ("en", TITLE, "Cloud Letter", None),
    ("en", TITLE, "the novel The Lantern Keepers", None),
    ("es", TITLE, "Carta de nube", None),
    ("de", TITLE, "Die stillen Wächterinnen", None),
    ("tr", TITLE, "Sessiz Gemiler", None),
    ("en", SONG, "Paper Harbours", None),
    ("en", ARTIST, "The Velvet Heron", None),
]
CASES = [
    ("en", TITLE, "Lantern Keeper", "Q101"),
    ("en", TITLE, "the novel Cloud Letters", "Q102"),
    ("de", TITLE, "im stillen Wächter", "Q101"),
    ("de", TITLE, "des stillen Wächters", "Q101"),
    ("tr", TITLE, "Sessiz Gemi'nin", "Q101"),
    ("tr", TITLE, "Sessiz Gemiyi", "Q101"),
    ("tr", TITLE, "Mavi Köpeğinde", "Q103"),
    ("en", SONG, "Paper Harbor", "Q103"),
    ("en", ARTIST, "the Velvet Herons", "Q104"),
]
OTHER_WORDS = [
    ("de", DISH, "Dachser", None),  # a surname: no plural in -er
    ("de", DISH, "Tonen", None),  # three letters are too few to take an ending off
    ("tr", DISH, "gulu", None),  # gülü has other vowels
    ("tr", DISH, "kazün", None),
    ("tr", DISH, "kazayı", None),  # two cases: kaz + a + yı
    ("it", DISH, "panni", None),  # cloths; panne is a plural in -e, whose singular is panna
    ("it", DISH, "torti", None),
    ("it", DISH, "limona", None),  # limone is no plural
    ("it", DISH, "tagliatelli", None),
    ("de", DISH, "Kohlen", None),  # of Kohle
    ("de", DISH, "Mohren", None),
    ("en", DISH, "pasties", None),  # of pasty: a plural is no slip
    ("ko", GARMENT, "나막신 도로", None),  # two particles make no word of their own
]
ENDINGS = [
    ("it", DISH, "limoni", "Q117"),
    ("it", DISH, "tagliatella", "Q118"),
    ("it", DISH, "torte", "Q116"),
    ("de", DISH, "Stoffhemden", "Q116"),
    ("de", DISH, "Brateier", "Q111"),
    ("de", DISH, "Brateiern", "Q111"),
    ("tr", DISH, "gülü", "Q110"),
    ("tr", DISH, "kulübelerden", "Q111"),
    ("tr", DISH, "kulübesinde", "Q111"),
    ("tr", DISH, "kulübelerini", "Q111"),
    ("tr", DISH, "kazın", "Q112"),
    ("tr", DISH, "kazla", "Q112"),
    ("tr", DISH, "kazda", "Q112"),
    ("tr", DISH, "saati", "Q113"),  # a loanword, whose endings are those of front vowels
    ("tr", DISH, "kakao tozundan", "Q114"),
    ("ko", GARMENT, "나막신으로도", "Q120"),
]
COMPOUNDS = [
    ("en", GARMENT, "box of clogs", None),
    ("es", GARMENT, "caja de zuecos", None),
    ("fa", DISH, "قوری چای", None),  # a teapot
    ("ar", DISH, "ملعقة شاي", None),  # a teaspoon
    ("ar", DISH, "إبريق شاي", None),
    ("fa", DISH, "یک قوری چای", "Q119"),
    ("ar", DISH, "ملعقة من الشاي", "Q119"),
    ("en", GARMENT, "a pair of clogs", "Q120"),
    ("es", GARMENT, "un par de zuecos", "Q120"),
]
ALL = [*NUMBERS, *CASES, *OTHER_WORDS, *ENDINGS, *COMPOUNDS]


@pytest.fixture(scope="module")
def linked(world: IndexSource) -> dict[tuple[str, tuple[str, str], str], str | None]:
    """All that is asked, with the item that is plainly linked."""
    rows = link_all(world, *((language, *kind, surface) for language, kind, surface, _ in ALL))["links"].to_pylist()
    return {
        (row["language"], (row["topic"], row["kind"]), row["surface"]): row["qid"]
        if row["status"] == "linked"
        else None
        for row in rows
    }


@pytest.mark.parametrize(
    "cases",
    [
        pytest.param(NUMBERS, id="a name of a work or a band has no other number"),
        pytest.param(CASES, id="but articles and cases"),
        pytest.param(OTHER_WORDS, id="another word is no form"),
        pytest.param(ENDINGS, id="endings agree with the word"),
        pytest.param(COMPOUNDS, id="a box of garments is a box, a teapot a pot"),
    ],
)
def test_names_that_look_alike(
    linked: dict[tuple[str, tuple[str, str], str], str | None],
    cases: list[tuple[str, tuple[str, str], str, str | None]],
) -> None:
    found = {(language, surface): linked[language, kind, surface] for language, kind, surface, _ in cases}
    assert found == {(language, surface): qid for language, _, surface, qid in cases}


@pytest.fixture(scope="module")
def albums(tmp_path_factory: pytest.TempPathFactory) -> IndexSource:
    """Albums of one name with their performers, one whose performer is unknown, and a band that made none of them."""
    entities = [
        item("Q130", "Harvest Moonlight", P31=PIECE, P175="Q140"),
        item("Q131", {"en": "Glass Rivers", "zh": "玻璃河"}, P31=PIECE),
        item("Q132", "Low Tide", P31=PIECE, P175="Q140"),
        item("Q133", "Low Tide", P31=PIECE, P175="Q141", sitelinks=9),
        item("Q140", "The Tin Orchard", P31=BAND),
        item("Q141", {"en": "Mirela Vantz", "zh": "米雷拉"}, P31="Q5", P106="Q639669"),
    ]
    return index_of(tmp_path_factory.mktemp("albums"), entities)


def test_a_creator_beside_a_title_must_be_its_own(albums: IndexSource) -> None:
    expected = {
        ("en", "Harvest Moonlight by The Tin Orchard"): ("Q130", "linked"),
        ("en", "Harvest Moonlight by Mirela Vantz"): (None, "no candidate"),
        ("en", "Mirela Vantz – Harvest Moonlight"): (None, "no candidate"),
        ("en", "Low Tide by The Tin Orchard"): ("Q132", "linked"),  # which the better known one is not
        ("en", "Glass Rivers by Mirela Vantz"): ("Q131", "ambiguous"),  # who made it is not known
        ("zh", "米雷拉的《玻璃河》"): ("Q131", "ambiguous"),
        ("zh", "歌曲《玻璃河》"): ("Q131", "linked"),
        ("en", "the song Glass Rivers"): ("Q131", "linked"),
    }
    rows = link_all(albums, *((language, *SONG, surface) for language, surface in expected))["links"].to_pylist()
    assert {(row["language"], row["surface"]): (row["qid"], row["status"]) for row in rows} == expected


def test_bare_names_of_persons_are_in_doubt(tmp_path: Path) -> None:
    """Rulers of whom no occupation is known, and single words that are no whole name."""
    entities = [
        item("Q150", "Ottokar IX", P31="Q5"),
        item("Q151", "Ludo X", P31="Q5", P106="Q639669"),
        item("Q152", "Benicia Altamar", {"en": ["Benicia", "Altamar", "Nix"]}, P31="Q5", P106="Q639669"),
        item("Q153", "Zephira", P31="Q5", P106="Q639669"),
        item("Q154", {"en": "Kazimir", "ja": "カジミール"}, P31="Q5"),
        item("Q155", "Kazimir", P31="Q12308941"),
        item("Q156", "Sum 31", P31=BAND),
    ]
    expected = {
        "Ottokar IX": "ambiguous",
        "Ludo X": "linked",  # a musician
        "Benicia": "ambiguous",
        "Nix": "ambiguous",
        "Altamar": "linked",  # a family name
        "Zephira": "linked",  # her whole name
        "Kazimir": "ambiguous",  # a given name, and the person's occupation is not known
        "Sum 31": "linked",  # no person
    }
    rows = link_all(index_of(tmp_path, entities), *(("en", *ARTIST, surface) for surface in expected))["links"]
    assert {row["surface"]: row["status"] for row in rows.to_pylist()} == expected
