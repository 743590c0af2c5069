"""What is asked in each language, how answers are read, and when two are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyculture.cache.catalog.read import read_catalog
from polyculture.cache.errors import CatalogError
from polyculture.instruments.datasets.rules import known_data_sets
from polyculture.instruments.swaps.prompts import PROMPTS, fill, read_prompts
from polyculture.instruments.swaps.tasks import LABELS, AnswerError, normalise, read_label, same, words

LANGUAGES = sorted(file.stem for file in PROMPTS.glob("*.toml"))
TYPES = {"food", "beverage", "names", "authors", "locations", "sports", "clothing", "religious-places", "other"}


def test_there_are_prompts_in_every_language_of_the_catalogue_and_of_the_data_sets() -> None:
    published = {code for rules in known_data_sets().values() for codes in rules.cultures.values() for code in codes}
    assert {*read_catalog().languages, *published} <= set(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_prompts_are_whole(language: str) -> None:
    prompts = read_prompts(language)
    assert prompts.language == language
    assert prompts.types.keys() == TYPES
    for label in LABELS:
        word = prompts.sentiment.labels[label]
        assert word in prompts.sentiment.prompt
        assert read_label(word, prompts) == label
        assert read_label(label.upper() + ".", prompts) == label
    for template, key in ((prompts.sentiment, "sentiment"), (prompts.qa, "answer"), (prompts.ner, "names")):
        assert f'{{"{key}": ' in template.prompt
        assert template.prompt.endswith("{text}")  # small models took the words behind a text for the answer


def test_a_field_in_a_text_stays_as_it_is() -> None:
    assert fill("{text} {question}", text="{question}", question="{text}") == "{question} {text}"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Text: {text}", "Text:", "sentiment.prompt: must hold {text}"),
        (', neutral = "neutral"', "", "sentiment.labels: a label is missing"),
        ('other = "name"', "", "types: no words for 'other'"),
        ("[ner]", "[nre]", "unknown key 'nre'"),
    ],
)
def test_a_mistake_in_ones_own_prompts_is_told(tmp_path: Path, old: str, new: str, told: str) -> None:
    text = (PROMPTS / "en.toml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "en.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(CatalogError) as fault:
        read_prompts("en", tmp_path)
    assert told in str(fault.value)
    assert "en.toml" in str(fault.value)


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "The Ramen!", "ramen"),
        ("en", "ｒａｍｅｎ", "ramen"),
        ("de", "den Käsekuchen", "Käsekuchen"),
        ("es", "«la paella»", "paella"),
        ("ar", "المَنْسَف", "منسف"),
        ("ar", "الكبـسة", "كبسة"),
        ("ja", "味噌 汁。", "味噌汁"),
        ("zh", "《红楼梦》", "红楼梦"),
        ("th", "ผัด ไทย", "ผัดไทย"),
        ("tr", "Döner", "döner"),
    ],
)
def test_answers_that_are_the_same(language: str, one: str, other: str) -> None:
    assert same(one, other, read_prompts(language))


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "ramen soup", "ramen"),
        ("en", "...", "..."),
        ("de", "Der", "die"),
        ("ja", "ラーメン", "ラーメソ"),
        ("hi", "दाल", "दल"),  # vowel signs are letters
        ("th", "ผัดไทย", "ผดไทย"),
        ("ko", "김치를", "김치"),
    ],
)
def test_answers_that_are_not(language: str, one: str, other: str) -> None:
    assert not same(one, other, read_prompts(language))


def test_a_word_that_is_only_an_article_stays_in_arabic() -> None:
    assert normalise("ال", read_prompts("ar")) == "ال"


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ('{"answer": "ramen"}', "ramen"),
        ('```json\n{"answer": " ramen "}\n```', "ramen"),
        ('Sure: {"answer": "a \\"b\\""} as asked', 'a "b"'),
        ("ramen\nbecause it is hot", "ramen"),
        ('"ramen"', "ramen"),
        ('{"answer": " "}', ""),  # no entity was found, which is an answer, and a wrong one
    ],
)
def test_an_answer_is_read_from_json_or_as_it_stands(raw: str, read: str) -> None:
    assert words(raw, "answer") == read


@pytest.mark.parametrize("raw", ["", "  ", '{"answer": 3}', '{"said": "ramen"}', '{"answer": "ram'])
def test_an_answer_that_is_none_is_told(raw: str) -> None:
    with pytest.raises(AnswerError):
        words(raw, "answer")
