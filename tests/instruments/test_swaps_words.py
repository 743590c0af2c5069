"""What is asked in each language, how answers are read, and when two are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyculture.cache.catalog.read import read_catalog
from polyculture.cache.errors import UserError
from polyculture.instruments.datasets.rules import SHELF
from polyculture.instruments.swaps.prompts import PROMPTS, ComparisonWords, fill, read_prompts, worded
from polyculture.instruments.swaps.tasks import LABELS, AnswerError, normalise, read_label, same, words

TYPES = {"food", "beverage", "names", "authors", "locations", "sports", "clothing", "religious-places", "other"}


def test_every_language_of_the_catalogue_and_of_the_data_sets_has_a_name() -> None:
    published = {code for rules in SHELF.known.values() for codes in rules.cultures.values() for code in codes}
    for code in {*read_catalog().languages, *published}:
        named = worded(code, "qa", None, None).prompts
        assert "{language}" not in named.qa.prompt + str(named.qa.question), code
    assert published <= read_prompts().words.keys()
    assert read_prompts().words_of("sw") == ComparisonWords()


def test_a_prompt_calls_a_language_as_cldr_does(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('[ner]\nprompt = "Names in this {language} text, as JSON? {text} {type}"\n', encoding="utf-8")
    for code, name in (("ur", "Urdu"), ("zh-tw", "Traditional Chinese")):
        assert f"this {name} text" in worded(code, "ner", file, None).prompts.ner.prompt


def test_our_prompts_are_whole() -> None:
    prompts = read_prompts()
    assert prompts.language == "en"
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
    text = PROMPTS.read_text(encoding="utf-8").replace('"en"', '"de"', 1)  # one in English is filled up from ours
    assert old in text
    (tmp_path / "de.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError) as fault:
        read_prompts(tmp_path / "de.toml")
    assert told in str(fault.value)
    assert "de.toml" in str(fault.value)


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
    assert same(one, other, read_prompts().words_of(language))


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
    assert not same(one, other, read_prompts().words_of(language))


def test_a_word_that_is_only_an_article_stays_in_arabic() -> None:
    assert normalise("ال", read_prompts().words_of("ar")) == "ال"


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
