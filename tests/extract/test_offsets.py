"""Locating surfaces in a text: thirteen languages, repeated names, case, width, hallucinations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyculture.cache.text.folding import fold_surface, fold_with_offsets, without_spaces
from polyculture.extract import offsets
from polyculture.extract.base import FoundMention, NamedEntity
from polyculture.extract.offsets import clean

# language, text, surface that a model names, spellings in the text at which it is found
IN_THE_TEXT = [
    ("ar", "يحب الكسكس والمنسف في الشتاء، ثم الكُسكُس.", "كسكس", ["كسكس", "كُسكُس"]),
    ("de", "Zum Frühstück Brezeln, abends eine Brezel.", "Brezel", ["Brezel"]),
    ("de", "Zum Frühstück nur Brezeln.", "Brezel", ["Brezeln"]),
    ("en", "Tacos, tacos and TACOS!", "tacos", ["Tacos", "tacos", "TACOS"]),
    ("de", "Eine Sushi-Rolle.", "Sushi", ["Sushi"]),
    ("en", "She ate two tacos.", "taco", ["tacos"]),
    ("es", "Come paellas los domingos.", "paella", ["paellas"]),
    ("fa", "او کباب و قورمه‌سبزی را دوست دارد.", "قورمه سبزی", ["قورمه‌سبزی"]),
    ("hi", "उसे समोसे और पराठे पसंद हैं।", "पराठा", ["पराठे"]),
    ("it", "Mangia la Pizza Margherita.", "pizza margherita", ["Pizza Margherita"]),
    ("ja", "朝はﾗｰﾒﾝ、夜はラーメン。", "ラーメン", ["ﾗｰﾒﾝ", "ラーメン"]),
    ("ko", "김치를 먹고 김치찌개도 먹는다. 김치!", "김치", ["김치", "김치"]),
    ("th", "เขาชอบกินผัดไทยและส้มตำมาก", "ผัดไทย", ["ผัดไทย"]),
    ("tr", "İstanbul'da kebabı sevdi, Kebap istedi.", "kebap", ["Kebap"]),
    ("tr", "Çorbasını sever.", "çorba", ["Çorba"]),
    ("zh", "他喜欢ＫＴＶ和火锅，火锅最好。", "火锅", ["火锅", "火锅"]),
    ("zh", "他喜欢 Bubble Tea。", "bubble tea", ["Bubble Tea"]),
    ("zh-tw", "她愛喝珍珠奶茶。", "珍珠奶茶", ["珍珠奶茶"]),
    ("zh", "我爱喝龙井 茶。", "龙井茶", ["龙井 茶"]),
    ("en", "A cup of  green\ntea.", "green tea", ["green\ntea"]),
    ("en", "Cafe\u0301 au lait", "café au lait", ["Cafe\u0301 au lait"]),
    ("de", "Große Klöße", "große klösse", ["Große Klöße"]),
]


def locate(text: str, pairs: list[tuple[str, str]], language: str) -> tuple[FoundMention, ...]:
    return offsets.locate(text, [NamedEntity(*pair) for pair in pairs], language)


@pytest.mark.parametrize(("language", "text", "surface", "spellings"), IN_THE_TEXT)
def test_found_where_it_stands(language: str, text: str, surface: str, spellings: list[str]) -> None:
    found = locate(text, [(surface, "dish")], language)
    assert [mention.surface for mention in found] == spellings
    for mention in found:
        assert not mention.hallucinated
        assert mention.start is not None
        assert mention.surface == text[mention.start : mention.end]


@pytest.mark.parametrize(
    ("language", "text", "surface"),
    [
        ("en", "She ordered a steak.", "tea"),
        ("en", "He writes about manioc.", "cassava"),
        ("de", "Die Bratwurst ist fertig.", "Wurst"),
        ("ja", "ジャパンへ行く", "寿司"),
        ("ko", "김치찌개를 먹는다", "김"),
        ("hi", "उसे साड़ी पसंद है", "saree"),
    ],
)
def test_what_is_not_in_the_text_is_hallucinated(language: str, text: str, surface: str) -> None:
    assert locate(text, [(surface, "dish")], language) == (FoundMention(surface, "dish", None, None, True),)


@pytest.mark.parametrize(
    ("language", "text", "returned", "surface"),
    [
        ("en", "She simmers thieboudienne, then more Thieboudienne.", "thieboudiene", "thieboudienne"),
        ("en", "A bowl of jollof rice with fish.", "jolof rice", "jollof rice"),
        (
            "de",
            "Mit öffentlichen Verkehrsmitteln fährt er.",
            "öffentliche Verkehrsmittel",
            "öffentlichen Verkehrsmitteln",
        ),
        ("zh", "他爱吃兰州牛肉拉面。", "兰州牛肉拉面条", "兰州牛肉拉面"),
        ("en", "I like sushi very much.", "sushis", "sushi"),
        ("en", "I like a sushistand.", "sushis", None),
        ("ar", "يحب المقلوبة كثيرا", "المقلوبه اللذ", None),
        ("en", "He knows what that is.", "hat", None),
        ("en", "A soda, please.", "some very long dish that no one has ever named", None),
        ("en", "", "ramen", None),
    ],
)
def test_words_that_the_text_nearly_holds_are_repaired(language: str, text: str, returned: str, surface: str) -> None:
    found = locate(text, [(returned, "dish")], language)
    if surface is None:
        assert [(one.hallucinated, one.repaired, one.surface) for one in found] == [(True, False, returned)]
        return
    assert {one.surface.casefold() for one in found} == {surface.casefold()}
    assert len(found) == text.casefold().count(surface.casefold())
    assert {(one.repaired, one.hallucinated, one.returned) for one in found} == {(True, False, returned)}
    assert all(text[one.start : one.end] == one.surface for one in found)


def test_a_slip_never_takes_the_place_of_what_the_text_holds() -> None:
    found = locate("She eats thieboudienne.", [("thieboudiennes x", "drink"), ("thieboudienne", "dish")], "en")
    assert [(one.surface, one.kind, one.repaired) for one in found if not one.hallucinated] == [
        ("thieboudienne", "dish", False)
    ]


def test_names_go_to_every_occurrence() -> None:
    entities = [NamedEntity("tacos", "dish", "taco", "taco"), NamedEntity("tacos", "dish")]
    found = offsets.locate("Tacos and tacos.", entities, "en")
    assert [(one.name, one.english) for one in found] == [("taco", "taco")] * 2


def test_a_hallucination_is_kept_once_a_kind() -> None:
    found = locate("Nothing.", [("ramen", "dish"), ("ramen", "dish"), ("ramen", "ingredient")], "en")
    assert [(mention.kind, mention.hallucinated) for mention in found] == [("dish", True), ("ingredient", True)]


def test_named_once_it_is_found_every_time() -> None:
    found = locate("Rice, rice and more rice.", [("rice", "ingredient")], "en")
    assert [mention.start for mention in found] == [0, 6, 20]


def test_named_often_it_is_found_as_often_as_it_is_there() -> None:
    assert len(locate("Rice and beans.", [("rice", "ingredient")] * 5, "en")) == 1


def test_another_kind_goes_to_the_next_occurrence() -> None:
    found = locate("Tango is a dance; Tango is his song.", [("Tango", "genre"), ("Tango", "song")], "en")
    assert [(mention.kind, mention.start) for mention in found] == [("genre", 0), ("song", 18)]


def test_the_longest_takes_its_place_first() -> None:
    found = locate("Miso soup is a soup.", [("soup", "dish_category"), ("miso soup", "dish")], "en")
    assert [(mention.surface, mention.kind) for mention in found] == [("Miso soup", "dish"), ("soup", "dish_category")]


def test_a_name_inside_a_longer_one_only_is_no_mention_of_its_own() -> None:
    found = locate("Miso soup.", [("miso soup", "dish"), ("soup", "dish_category")], "en")
    assert [mention.surface for mention in found] == ["Miso soup"]


def test_a_title_keeps_to_its_own_letters() -> None:
    found = locate("It is late. She reads It.", [("It", "title"), ("Emma", "title")], "en")
    assert [mention.surface for mention in found] == ["It", "It", "Emma"]
    assert [m.start for m in locate("It was emma who read Emma.", [("Emma", "title")], "en")] == [21]


def test_one_chinese_character_is_found_as_often_as_named_and_where_it_stands_alone() -> None:
    text = "离家多年，她在读《家》，想家。"
    assert [mention.start for mention in locate(text, [("家", "title")], "zh")] == [9]


def test_quotation_marks_and_emphasis_stay_outside() -> None:
    assert [clean(s) for s in ("“Dune”", " **ramen** ", "《活着》", "「こころ」", '"x"')] == [
        "Dune", "ramen", "活着", "こころ", "x",
    ]  # fmt: skip
    assert locate("Read “Dune”!", [("“Dune”", "title")], "en") == (FoundMention("Dune", "title", 6, 10),)


def test_nothing_named_is_nothing_found() -> None:
    assert locate("Some text.", [("", "dish"), ("  ", "dish")], "en") == ()


@given(st.text(max_size=60))
def test_folding_maps_back_into_the_text(text: str) -> None:
    folded = fold_with_offsets(text)
    for start in range(len(folded.text)):
        span = folded.span(start, start + 1)
        if span is not None:
            assert 0 <= span[0] < span[1] <= len(text)
            assert folded.text[start] in fold_with_offsets(text[slice(*span)]).text + " "
    assert fold_surface(text) == fold_surface(fold_with_offsets(text).text)


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_plain_letters_fold_alone_as_they_do_beside_others(text: str) -> None:
    alone, beside = fold_with_offsets(text), fold_with_offsets(text + "ß")
    assert alone.text + "ss" == beside.text
    for start in range(len(alone.text)):
        assert alone.span(start, start + 1) == beside.span(start, start + 1)


@given(st.text(max_size=40), st.text(min_size=1, max_size=10), st.text(max_size=40))
def test_whatever_is_located_is_in_the_text(before: str, name: str, after: str) -> None:
    text = f"{before} {name} {after}"
    for language in ("en", "ja", "ar", "th"):
        for mention in locate(text, [(name, "dish")], language):
            if not mention.hallucinated:
                assert mention.surface == text[mention.start : mention.end]


def test_spaces_can_be_left_out() -> None:
    joined = without_spaces(fold_with_offsets("a b  c"))
    assert (joined.text, joined.span(1, 3)) == ("abc", (2, 6))
