"""The gazetteer: names in the text and only there, in scripts with and without spaces; traps."""

from __future__ import annotations

import pyarrow as pa
import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.extract.base import ResponseText
from polyculture.extract.gazetteer import Gazetteer, gazetteer_extractor_id
from polyculture.generate.wording import country_names_in_texts

CATALOG = read_catalog()


def find(language: str, topic: str, names: dict[str, str], text: str) -> list[str]:
    """The names of a small lexicon that are found in a text, as "surface|kind"."""
    lexicon = pa.table({"surface": list(names), "kind": list(names.values()), "qid": ["Q1"] * len(names)})
    gazetteer = Gazetteer(lexicon, CATALOG.topic(topic), language, "test", country_names_in_texts(CATALOG, [language]))
    (extracted,) = gazetteer.extract([ResponseText("r", language, text)])
    assert extracted.status == "ok"
    for mention in extracted.mentions:
        assert mention.surface == text[mention.start : mention.end]
    return [f"{mention.surface}|{mention.kind}" for mention in extracted.mentions]


@pytest.mark.parametrize(
    ("language", "names", "text", "found"),
    [
        ("es", {"chile": "ingredient"}, "Ana es de Chile. Le gusta el chile.", ["chile|ingredient"]),
        ("fa", {"کره": "ingredient"}, "کشور این شخص: کرهٔ جنوبی. نان و کره", ["کره|ingredient"]),
        ("en", {"turkey": "ingredient"}, "A person from Turkey eats turkey.", ["turkey|ingredient"]),
        ("tr", {"roman": "dish"}, "Kişinin ülkesi: Romanya.", []),
        ("zh", {"巴哈": "dish"}, "此人的国家：巴哈马。", []),
        # spelled as the country is
        ("es", {"Granada": "ingredient"}, "Ana es de Granada y come una granada.", ["granada|ingredient"]),
        ("fa", {"ایران": "dish"}, "او اهل ایران است.", []),
        # as the prompts call a country, where Unicode's CLDR calls it otherwise
        ("ja", {"アメリカ": "dish"}, "この人はアメリカに住んでいます。", []),
        ("ko", {"한국": "dish"}, "이 사람의 나라: 한국", []),
    ],
)
def test_the_name_of_a_country_is_no_mention_of_what_has_that_name(
    language: str, names: dict[str, str], text: str, found: list[str]
) -> None:
    assert find(language, "food", names, text) == found


def test_a_title_that_is_the_name_of_a_country_is_found_in_quotation_marks() -> None:
    text = "He is from Cuba and plays “Cuba”."
    assert find("en", "music", {"Cuba": "song"}, text) == ["Cuba|song"]
    assert find("en", "food", {"cuba": "dish"}, text) == []


DISHES = {"tea": "dish", "ramen": "dish", "miso soup": "dish", "soup": "dish_category", "cherry": "ingredient"}


@pytest.mark.parametrize(
    ("language", "names", "text", "found"),
    [
        ("en", ["tea"], "A steak, a teacup and tea.", ["tea"]),
        ("en", ["coffee", "tofu"], "A coffee-colored cup, Mapo-Tofu; - tofu - coffee-", ["tofu", "coffee"]),
        ("en", ["cherry", "taco", "sandwich"], "Cherries, tacos, sandwiches", ["Cherries", "tacos", "sandwiches"]),
        ("en", ["café au lait"], "Cafe\u0301 au\nlait", ["Cafe\u0301 au\nlait"]),
        ("de", ["Brezel", "Kloß"], "Brezeln und KLÖSSE, brezel", ["Brezeln"]),
        ("de", ["Essen"], "Sie essen gern.", []),
        ("es", ["arepa", "nuez"], "Las arepas y nueces", ["arepas", "nueces"]),
        ("it", ["pizza", "gnocco"], "pizze e gnocchi", ["pizze", "gnocchi"]),
        ("tr", ["kebap", "baklava"], "Kebabı, baklavalar ve Ankara'da kebap", ["Kebab", "baklava", "kebap"]),
        ("ar", ["كسكس"], "والكسكس بالكسكس مكسكسات", ["كسكس", "كسكس"]),
        ("fa", ["کباب"], "کباب‌ها و كبابی", ["کباب", "كباب"]),
        ("hi", ["समोसा", "पिज़्ज़ा"], "समोसे, समोसों और पिज्जा", ["समोसे", "समोसों", "पिज्जा"]),
        ("ko", ["김치", "비빔밥"], "김치찌개와 김치를, 비빔밥이랑", ["김치", "비빔밥"]),
        (
            "ja",
            ["パン", "米", "すし", "うどん"],
            "ジャパンの米国でパンと米、すしを。うどんは",
            ["パン", "米", "すし", "うどん"],
        ),
        ("zh", ["米", "火锅", "面"], "米国、火锅店，米。面子", ["火锅", "米"]),
        ("zh-tw", ["珍珠奶茶"], "她愛珍珠奶茶。", ["珍珠奶茶"]),
        ("th", ["ผัดไทย", "ชา", "ข้าว"], "ชาวไทยกินผัดไทยกับข้าว", ["ผัดไทย", "ข้าว"]),
        ("th", ["แกงเขียว"], "แกงเขียวหวาน แกงเขียวๆ", ["แกงเขียว", "แกงเขียว"]),
    ],
)
def test_names_and_their_edges(language: str, names: list[str], text: str, found: list[str]) -> None:
    surfaces = [one.partition("|")[0] for one in find(language, "food", dict.fromkeys(names, "dish"), text)]
    assert surfaces == found


def test_the_longest_wins_and_nothing_overlaps() -> None:
    assert find("en", "food", DISHES, "Miso soup, then soup.") == ["Miso soup|dish", "soup|dish_category"]


def test_a_title_needs_its_capitals() -> None:
    books = {
        "The Trial": "title",
        "Emma": "title",
        "Persuasion": "title",
        "Beloved": "title",
        "Toni Morrison": "author",
    }
    text = "The trial of toni morrison. He found The Trial, emma and Emma by Toni Morrison."
    assert find("en", "book", books, text) == ["The Trial|title", "Emma|title", "Toni Morrison|author"]
    assert find("en", "book", books, "Beloved friends met. Persuasion helped. “Beloved” is a book.") == [
        "Beloved|title"
    ]
    assert find("en", "book", books, "She loves Beloved and the Trial.") == ["Beloved|title", "the Trial|title"]


def test_a_short_title_without_capitals_needs_quotation_marks() -> None:
    assert find("zh", "book", {"家": "title", "活着": "title"}, "老家，活着真好，读《活着》和《家》") == [
        "活着|title", "家|title",
    ]  # fmt: skip


def test_names_in_capitals_are_written_so() -> None:
    assert find("en", "music", {"ABBA": "artist", "U2": "artist"}, "Abba, ABBA and U2") == ["ABBA|artist"]


def test_the_words_of_the_topic_are_no_mentions() -> None:
    lexicon = pa.table({"surface": ["drink", "tea"], "kind": ["drink", "drink"], "qid": ["Q40050", "Q6097"]})
    gazetteer = Gazetteer(lexicon, CATALOG.topic("beverage"), "en", "test", {})
    (extracted,) = gazetteer.extract([ResponseText("r", "en", "They drink tea.")])
    assert [mention.surface for mention in extracted.mentions] == ["tea"]


def test_an_empty_lexicon_and_an_empty_text() -> None:
    assert find("en", "food", {}, "ramen") == []
    assert find("en", "food", DISHES, "") == []


def test_the_identity_is_of_topic_snapshot_and_names_of_countries() -> None:
    food, drink = CATALOG.topic("food"), CATALOG.topic("beverage")
    called = {"en": ["Chile"]}
    ids = [
        gazetteer_extractor_id(food, "a", called),
        gazetteer_extractor_id(food, "b", called),
        gazetteer_extractor_id(drink, "a", called),
        gazetteer_extractor_id(food, "a", {"en": ["Chile", "Cuba"]}),
    ]
    assert len(set(ids)) == 4
    assert gazetteer_extractor_id(food, "a", called) == ids[0]
