"""Refusals in text: how many are found, and how many answers are taken for one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.refusal_gold import read_gold
from polyculture.cache.catalog import Language, read_catalog
from polyculture.cache.errors import CatalogError
from polyculture.generate.design import read_preset
from polyculture.generate.refusals import built_in_languages, find_refusal, is_refusal, own_phrases

LANGUAGES = sorted(read_preset("full").languages)
RECALL, FALSE_POSITIVES = 0.93, 0.04  # floor and ceiling per language, on all of the gold
STORY = "Mariam walked to the market and bought lentils, rice and a bunch of mint for her grandmother. "


def test_every_language_of_the_study_has_phrases() -> None:
    assert built_in_languages() == set(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_recall_and_false_positives(language: str) -> None:
    gold = read_gold(language)
    missed = [one.text for one in gold if one.refuses and not is_refusal(one.text, language)]
    wrong = [one.text for one in gold if not one.refuses and is_refusal(one.text, language)]
    refusals = sum(one.refuses for one in gold)
    assert len(missed) <= (1 - RECALL) * refusals, missed
    assert len(wrong) <= FALSE_POSITIVES * (len(gold) - refusals), wrong


def test_held_out_texts_are_found_as_well() -> None:
    held_out = [(one, code) for code in LANGUAGES for one in read_gold(code) if one.held_out]
    refusals = [is_refusal(one.text, code) for one, code in held_out if one.refuses]
    answers = [is_refusal(one.text, code) for one, code in held_out if not one.refuses]
    assert sum(refusals) >= 0.93 * len(refusals)
    assert sum(answers) <= 0.03 * len(answers)


@pytest.mark.parametrize("language", LANGUAGES)
def test_english_refusals_count_in_every_language(language: str) -> None:
    assert is_refusal("I’m sorry, but I can’t assist with that request.", language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_long_story_is_no_refusal(language: str) -> None:
    refusals = [one.text for one in read_gold(language) if one.refuses]
    assert not any(is_refusal(f"{text}\n\n{STORY * 8}", language) for text in refusals)
    assert not any(is_refusal(f"{STORY * 4}\n\n{text}", language) for text in refusals)


@pytest.mark.parametrize("language", LANGUAGES)
def test_speech_in_quotation_marks_is_no_refusal(language: str) -> None:
    refusals = [one.text for one in read_gold(language) if one.refuses and not set(one.text) & set('"“”„«»「」\n')]
    assert not any(is_refusal(f"Nadia: “{text}” {STORY}", language) for text in refusals)


@settings(deadline=None, max_examples=300)
@given(text=st.text(max_size=400), language=st.sampled_from([*LANGUAGES, "xx"]))
def test_no_text_raises(text: str, language: str) -> None:
    assert is_refusal(text, language) in (True, False, None)


@settings(deadline=None, max_examples=100)
@given(text=st.text(max_size=200), language=st.sampled_from(LANGUAGES))
def test_case_spaces_and_full_width_letters_change_nothing(text: str, language: str) -> None:
    refusal = "I'm sorry, but I can't help with that."
    assert is_refusal(refusal.upper(), language)
    assert is_refusal(f"  {refusal}\n", language)
    assert is_refusal(refusal.translate({code: code + 0xFEE0 for code in range(0x41, 0x7B)}), language)
    assert is_refusal(text.swapcase(), language) == is_refusal(text.swapcase() + "\n", language)


def test_spelling_variants_of_persian_and_hindi() -> None:
    for text in ("نمی‌توانم به این سوال پاسخ دهم.", "نميتوانم به اين سوال پاسخ دهم.", "نمی توانم به این سوال پاسخ دهم."):
        assert is_refusal(text, "fa"), text
    for text in ("माफ़ करें, मैं मदद नहीं कर सकता हूँ।", "माफ करें, मैं मदद नहीं कर सकता हूं।"):
        assert is_refusal(text, "hi"), text


def test_what_matched_is_named() -> None:
    found = find_refusal("Thank you. I cannot help with this story.", "en")
    assert found.startswith("i cannot help")


@pytest.mark.parametrize("text", ["", " \n", "None", "I don't know.", "...", "Please provide the text.", "C"])
def test_answers_that_name_no_one_are_no_refusals(text: str) -> None:
    assert not is_refusal(text, "en")


def swahili(refusals: dict[str, object]) -> Language:
    return read_catalog().language("en").model_copy(update={"code": "sw", "refusals": refusals, "file": None})


def test_a_language_of_a_users_own() -> None:
    own = own_phrases(swahili({"declines": ["siwezi (kusaidia|kujibu|kuandika)"]}))
    refusal, answer = "Samahani, siwezi kusaidia na hilo.", "Anapenda ugali."
    assert (is_refusal(refusal, "sw"), is_refusal(answer, "sw")) == (None, None)
    assert (is_refusal(refusal, "sw", own), is_refusal(answer, "sw", own)) == (True, False)
    assert is_refusal("I'm sorry, but I can't help with that.", "sw")


@pytest.mark.parametrize("phrase", ["(unclosed", "\\\\bword", " "])
def test_a_wrong_phrase_names_the_file(phrase: str) -> None:
    with pytest.raises(CatalogError, match=r"sw.toml: .*declines"):
        own_phrases(swahili({"declines": [phrase]}))


def test_short_texts_are_fast() -> None:
    texts = [one.text for one in read_gold("en") if not one.refuses] * 200
    is_refusal(texts[0], "en")
    started = time.process_time()
    for text in texts:
        is_refusal(text, "en")
    assert (time.process_time() - started) / len(texts) < 500e-6
