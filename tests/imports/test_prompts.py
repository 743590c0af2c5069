"""Which countries prompts name: ours in all languages, and words that look like a country and are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.schema import CONDITIONS
from polyculture.generate.prompts import build_prompts
from polyculture.imports.prompts import PromptReader
from tests.imports.conftest import read, write_lines

READER = PromptReader(read_catalog())


@pytest.mark.parametrize("language", read_catalog().languages)
def test_our_own_neutral_prompts_are_neutral_and_the_explicit_ones_name_their_country(language: str) -> None:
    catalog = read_catalog()
    countries = ("JP", "TR", "IN", "US", "KR", "MX", "IR", "CN")
    prompts = build_prompts(catalog, [language], list(catalog.topics), countries, CONDITIONS)
    for prompt in prompts:
        named = READER.named(prompt.text, language)
        if prompt.condition == "neutral":
            assert (named.possible, named.unsure) == (frozenset(), ()), prompt.text
        elif prompt.condition == "explicit":
            assert prompt.country in named.possible, prompt.text
    certain = [READER.named(one.text, language).countries == {one.country}
               for one in prompts if one.condition == "explicit"]  # fmt: skip
    assert sum(certain) > 0.8 * len(certain)


@pytest.mark.parametrize(
    ("prompt", "language", "country"),
    [
        ("Was isst eine Person aus den Vereinigten Staaten?", "de", "US"),
        ("Was isst man in den Niederlanden?", "de", "NL"),
        ("Beschreibe die Küche des Vereinigten Königreichs.", "de", "GB"),
        ("Beschreibe die Küche Deutschlands.", "de", "DE"),
        ("Cosa mangia una persona dall'Italia a cena?", "it", "IT"),
        ("مردم ایالات متحدهٔ آمریکا چه می‌خورند؟", "fa", "US"),
        ("Türkiye’den bir kişi ne yer?", "tr", "TR"),
    ],
)
def test_a_name_is_known_in_another_case(prompt: str, language: str, country: str) -> None:
    assert READER.named(prompt, language).countries == {country}


@pytest.mark.parametrize(
    "word", ["Japaner", "Italienerin", "Indie", "Niederländer", "Staaten", "Königreichs", "Jerseys", "Malin"]
)
def test_a_word_like_a_name_in_another_case_is_none(word: str) -> None:
    assert not READER.named(f"Beschreibe das Abendessen, und was {word} damit zu tun hat.", "de").possible


@pytest.mark.parametrize(
    ("prompt", "language", "word"),
    [
        ("How do you cook a turkey for dinner?", "en", "turkey"),
        ("Chad is at home and hungry. Write what Chad has for dinner.", "en", "Chad"),
        ("Georgia is at home and hungry.", "en", "Georgia"),
        ("Write about Michael Jordan.", "en", "Jordan"),
        ("Write about the food of New Mexico.", "en", "Mexico"),
        ("India is at home and hungry.", "en", "India"),
        ("Akşam için mısır pişir.", "tr", "mısır"),
        ("Describe la comida china.", "es", "china"),
        ("يشرب كوبا من الشاي", "ar", "كوبا"),
    ],
)
def test_a_word_or_a_person_is_no_country(prompt: str, language: str, word: str) -> None:
    named = READER.named(prompt, language)
    assert not named.countries
    assert word in named.unsure
    assert named.possible


@pytest.mark.parametrize(
    ("prompt", "country"),
    [
        ("Schreibe etwas über das Abendessen einer Frau aus Spanien.", "ES"),
        ("Rédige un texte sur le dîner d'une personne qui vient d'Allemagne.", "DE"),
        ("请写一段关于一个来自土耳其的人吃晚饭的短文。", "TR"),
    ],
)
def test_a_study_may_ask_all_languages_in_its_own(prompt: str, country: str) -> None:
    named = READER.named(prompt, "tr")
    assert named.possible == {country}


@pytest.mark.parametrize(
    "prompt", ["Name Mexican food.", "What does Kenji eat?", "A dinner in Paris", "Japanese food?"]
)
def test_what_is_of_a_country_is_neither_explicit_nor_neutral(prompt: str) -> None:
    named = READER.named(prompt, "en")
    assert not named.possible
    assert named.unsure


def test_a_line_says_which_countries_were_taken_and_which_words_were_not(tmp_path: Path) -> None:
    prompts = ["What do people in Japan eat?", "Who roasts a turkey?", "Describe a dinner."]
    rows = [{"prompt": one, "response": "Pizza.", "language": "en", "model": "m"} for one in prompts]
    found, texts, _ = read(write_lines(tmp_path / "a.jsonl", *rows))
    assert [(text.country, text.condition) for text in texts] == [
        ("JP", "explicit"),
        (None, "unstated"),
        (None, "neutral"),
    ]
    notes = " ".join(found.columns.notes)
    assert "country by prompts: JP 1" in notes
    assert "turkey 1" in notes
    rows = [row | {"country": "TR"} for row in rows[1:2]]
    assert [text.condition for text in read(write_lines(tmp_path / "b.jsonl", *rows))[1]] == ["explicit"]
