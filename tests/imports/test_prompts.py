"""Which countries prompts name: ours in all languages, and words that look like a country and are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.store.schema import CONDITIONS
from polyculture.generate.design import read_preset
from polyculture.generate.prompts import build_prompts
from polyculture.imports.prompts import PromptReader
from tests.imports.conftest import read, write_lines

READER = PromptReader(read_catalog())


@pytest.mark.parametrize("language", read_preset("full").languages)
def test_our_own_neutral_prompts_name_no_country_and_the_explicit_ones_their_own(language: str) -> None:
    catalog = read_catalog()
    countries = ("JP", "TR", "IN", "US", "KR", "MX", "IR", "CN")
    prompts = build_prompts(catalog, [language], ["food", "music"], countries, CONDITIONS)
    explicit = [prompt for prompt in prompts if prompt.condition == "explicit"]
    for prompt in prompts:
        possible = READER.named(prompt.text, language).possible
        assert prompt.condition != "neutral" or not possible, prompt.text
        assert prompt.condition != "explicit" or prompt.country in possible, prompt.text
    certain = [READER.named(one.text, language).countries == {one.country} for one in explicit]
    assert sum(certain) > 0.8 * len(certain)


@pytest.mark.parametrize(
    ("prompt", "language", "country"),
    [
        ("Was isst eine Person aus den Vereinigten Staaten?", "de", "US"),
        ("Was isst man in den Niederlanden?", "de", "NL"),
        ("Beschreibe die Küche Deutschlands.", "de", "DE"),
        ("Cosa mangia una persona dall'Italia a cena?", "it", "IT"),
        ("مردم ایالات متحدهٔ آمریکا چه می‌خورند؟", "fa", "US"),
        ("Türkiye’den bir kişi ne yer?", "tr", "TR"),
        ("Schreibe etwas über das Abendessen einer Frau aus Spanien.", "tr", "ES"),  # a study asks all in its own
        ("请写一段关于一个来自土耳其的人吃晚饭的短文。", "tr", "TR"),
    ],
)
def test_a_name_is_known_in_another_case_and_in_the_prompts_own_language(
    prompt: str, language: str, country: str
) -> None:
    assert READER.named(prompt, language).countries == {country}


@pytest.mark.parametrize(
    ("prompt", "language"),
    [
        ("How do you cook a turkey for dinner?", "en"),
        ("Chad is at home and hungry. Write what Chad has for dinner.", "en"),
        ("Georgia is at home and hungry.", "en"),
        ("Write about Michael Jordan.", "en"),
        ("Write about the food of New Mexico.", "en"),
        ("India is at home and hungry.", "en"),
        ("Akşam için mısır pişir.", "tr"),
        ("Describe la comida china.", "es"),
        ("يشرب كوبا من الشاي", "ar"),
    ],
)
def test_a_word_or_a_person_is_no_country_but_beside_a_column_that_names_it(prompt: str, language: str) -> None:
    named = READER.named(prompt, language)
    assert not named.countries
    assert named.possible


@pytest.mark.parametrize(
    ("prompt", "language"),
    [
        ("Name Mexican food.", "en"),
        ("What does Kenji eat?", "en"),
        ("A dinner in Paris", "en"),
        ("Japanese food?", "en"),
        *(
            (f"Beschreibe das Essen, und was {word} damit zu tun hat.", "de")
            for word in ("Japaner", "Indie", "Staaten")
        ),
    ],
)
def test_what_is_like_a_name_names_none(prompt: str, language: str) -> None:
    assert not READER.named(prompt, language).possible


def test_a_prompt_without_the_name_of_a_country_is_unstated(tmp_path: Path) -> None:
    prompts = ["What do people in Japan eat?", "Who roasts a turkey?", "Describe a dinner."]
    rows = [{"prompt": one, "response": "Pizza.", "language": "en", "model": "m"} for one in prompts]
    found, texts, _ = read(write_lines(tmp_path / "a.jsonl", *rows))
    told = [(text.country, text.condition) for text in texts]
    assert told == [("JP", "explicit"), (None, "unstated"), (None, "unstated")]
    assert "country by prompts: JP 1" in " ".join(found.columns.notes)
    rows = [row | {"country": "TR"} for row in rows[1:2]]
    assert [text.condition for text in read(write_lines(tmp_path / "b.jsonl", *rows))[1]] == ["explicit"]


@pytest.mark.parametrize(
    ("prompt", "language", "country"),
    [
        ("भारत में लोग रात के खाने में क्या खाते हैं?", "hi", "IN"),
        ("مردم ایران شام چه می‌خورند؟", "fa", "IR"),
        ("인도 사람들은 저녁에 무엇을 먹나요?", "ko", "IN"),
        ("ماذا يأكل الناس في قطر؟", "ar", "QA"),
    ],
)
def test_a_country_is_meant_by_its_name_in_its_own_language(prompt: str, language: str, country: str) -> None:
    assert READER.named(prompt, language).countries == {country}


@pytest.mark.parametrize(
    ("prompt", "written", "language", "there"),
    [
        ("What did my friend from मेक्सिको eat?", "मेक्सिको", "hi", True),
        ("Was isst man in Mexiko?", "Mexiko", "en", True),
        ("メキシコの朝食", "メキシコ", "ja", True),
        ("Tell us what they eat.", "US", "en", False),
        ("How do I roast a turkey?", "Turkey", "en", False),
        ("Name a Mexican dish.", "Mexico", "en", False),
    ],
)
def test_a_prompt_names_a_country_in_the_spelling_of_its_own_row(
    prompt: str, written: str, language: str, there: bool
) -> None:
    assert READER.holds(prompt, written, language) == there


def test_prompts_that_do_not_name_their_country_are_shown_by_language(tmp_path: Path) -> None:
    asked = [
        ("en", "Mexico", "What do people in Mexico eat?"),
        ("hi", "मेक्सिको", "मेक्सिको में लोग क्या खाते हैं?"),
        ("hi", "MX", "लोग क्या खाते हैं?"),
        ("en", "MX", "And what else?"),
    ]
    of_all = {"model": "m", "response": "Tacos."}
    rows = [of_all | {"language": language, "country": land, "prompt": prompt} for language, land, prompt in asked]
    found, _, _ = read(write_lines(tmp_path / "a.jsonl", *rows))
    [note] = [note for note in found.columns.notes if note.startswith("unstated")]
    assert found.conditions == {"explicit": 2, "unstated": 2}
    assert "hi 1, as of MX" in note
    assert "en 1, as of MX" in note
    assert "And what else?" in note


@pytest.mark.parametrize(
    ("written", "country"), [("アメリカ", "US"), ("한국", "KR"), ("Atlantis", None), ("New Mexico", None), ("", None)]
)
def test_a_column_may_name_a_country_as_prompts_do(written: str, country: str | None) -> None:
    """CLDR has アメリカ合衆国 alone, which no prompt says."""
    assert READER.country(written) == country
