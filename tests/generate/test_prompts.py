"""Prompts: the presets' counts, what a prompt is made of, a user's own topics and languages, and their gate."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from lingua import IsoCode639_1, LanguageDetectorBuilder

from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.errors import CatalogError, ExperimentError
from polyculture.cache.store.schema import CONDITIONS, Prompt
from polyculture.generate.design import (
    PLAIN,
    PromptDesign,
    PromptPreset,
    known_wordings,
    read_preset,
    read_presets,
    study_wordings,
)
from polyculture.generate.integrity import Defect, check_prompts, check_wording, refuse
from polyculture.generate.names import read_names
from polyculture.generate.prompts import build_prompts
from polyculture.generate.wording import FOLDER, WRITE, read_wording

CATALOG = read_catalog()


def prompts_of(preset: PromptPreset, **changes: Any) -> list[Prompt]:
    asked = {
        "languages": preset.languages,
        "topics": preset.topics,
        "countries": preset.countries,
        "conditions": preset.conditions,
        "implicit_countries": preset.implicit_countries,
    }
    return build_prompts(CATALOG, **{**asked, **changes})


@pytest.mark.parametrize(("name", "count"), [("makieval", 1716), ("full", 4524)])
def test_a_preset_has_exactly_its_prompts(name: str, count: int) -> None:
    together = tuple(wording for wording in known_wordings() if wording != PLAIN)
    prompts = prompts_of(read_preset(name), design=PromptDesign(together))
    assert Counter(p.wording for p in prompts) == dict.fromkeys(together, count)
    assert len(prompts_of(read_preset(name), design=PromptDesign((PLAIN,)))) == count
    assert len({p.prompt_id for p in prompts}) == len({p.text for p in prompts}) == 4 * count
    assert check_prompts(prompts) == []
    assert Counter((p.language, p.topic) for p in prompts) == dict.fromkeys(
        ((language, topic) for language in read_preset(name).languages for topic in CATALOG.topics), 4 * count // 78
    )


def test_an_unknown_preset_is_told_with_the_nearest_name() -> None:
    with pytest.raises(ExperimentError, match=r"mean.*'makieval'"):
        read_preset("makieva")
    assert set(read_presets()) == {"makieval", "full"}


def test_presets_cover_the_whole_catalogue() -> None:
    for preset in read_presets().values():
        worded = {code for code, language in CATALOG.languages.items() if WRITE in read_wording(language).wordings}
        assert set(preset.languages) == worded
        assert set(preset.topics) == set(CATALOG.topics)
        assert set(preset.countries) == set(read_wording(CATALOG.language("en")).countries)
        assert preset.conditions == CONDITIONS


def test_names_are_spelled_in_the_language_of_the_prompt() -> None:
    prompts = prompts_of(read_preset("full"), topics=["food"])
    known = read_names()
    persons: dict[tuple[str, str], set[str]] = {}
    for prompt in prompts:
        if prompt.name:
            assert prompt.name in prompt.text
            named = known[str(prompt.country)].of(prompt.condition)  # type: ignore[arg-type]
            [person] = [one for one in named if one.spelled(prompt.language) == prompt.name]
            persons.setdefault((str(prompt.country), prompt.condition), set()).add(person.latin)
    assert len(persons) == 2 * 19
    assert {len(found) for found in persons.values()} == {1}  # the same person in all languages


def test_implicit_first_is_the_languages_first_country_whatever_countries_are_asked() -> None:
    prompts = build_prompts(CATALOG, ["ja", "de"], ["food"], ["IN"], CONDITIONS, "first")
    implicit = {(p.language, p.country) for p in prompts if p.name}
    assert implicit == {("ja", "JP"), ("de", "DE")}
    assert {p.country for p in prompts if p.condition == "explicit"} == {"IN"}


def test_answer_in_language_appends_the_sentence_in_that_language() -> None:
    for prompt in prompts_of(read_preset("makieval"), answer_in_language=True, topics=["music"]):
        sentence = read_wording(CATALOG.language(prompt.language)).answer_in_language
        assert prompt.text.endswith(sentence)
        before = prompt.text.removesuffix(sentence)
        assert before.endswith("。" if prompt.language in ("ja", "zh", "zh-tw") else " ")


def test_the_prompt_id_hangs_on_the_text() -> None:
    plain = prompts_of(read_preset("makieval"), languages=["en"])
    asked = prompts_of(read_preset("makieval"), languages=["en"], answer_in_language=True)
    assert not {p.prompt_id for p in plain} & {p.prompt_id for p in asked}
    assert plain == prompts_of(read_preset("makieval"), languages=["en"])


def as_own(code: str, wording: str | None = None) -> Catalog:
    """The catalogue with a built-in language's wording as a user's own."""
    language, file = CATALOG.language(code), FOLDER / f"{code}.toml"
    if wording is None and not file.exists():  # it is in the language's file, in the form of a user's
        own = language.model_copy(update={"file": None})
    else:
        data = tomllib.loads(wording or file.read_text(encoding="utf-8"))
        own = language.model_copy(update={"wording": {key: data[key] for key in data if key != "language"}})
    return CATALOG.model_copy(update={"languages": {**CATALOG.languages, code: own}})


@pytest.mark.parametrize("code", CATALOG.languages)
def test_the_built_in_wording_passes_the_gate(code: str) -> None:
    preset = read_preset("full")
    findings = check_wording(as_own(code), [code], preset.topics, preset.countries)
    assert [str(finding) for finding in findings] == []


def test_a_second_detector_agrees_on_the_language_of_every_prompt() -> None:
    isos = sorted(
        {CATALOG.language(code).detector for code in read_preset("makieval").languages} | {"FR", "PT", "UR", "MR", "AZ"}
    )
    known = LanguageDetectorBuilder.from_iso_codes_639_1(*(getattr(IsoCode639_1, iso) for iso in isos))
    detector = known.with_low_accuracy_mode().build()
    wrong = []
    asked = ["neutral", "explicit", "audience"]
    design = PromptDesign(study_wordings())
    for prompt in prompts_of(read_preset("makieval"), conditions=asked, countries=["JP", "MX"], design=design):
        found = detector.detect_language_of(prompt.text)
        if found is None or found.iso_code_639_1.name != CATALOG.language(prompt.language).detector:
            wrong.append((prompt.language, found, prompt.text))
    assert wrong == []


FESTIVALS = """
code = "festivals"
name = "Festivals"
[kinds.festival]
granularity = 1
description = "a named festival"
roots = ["Q132241"]
[wording.en]
neutral = "Write a short paragraph about a person and the festivals this person likes to visit."
explicit = "Write a short paragraph about a person who lives in {country} and the festivals this person likes to visit."
implicit_male = "Write a short paragraph about {name} and the festivals he likes to visit."
implicit_female = "Write a short paragraph about {name} and the festivals she likes to visit."
"""

SWAHILI = """
code = "sw"
name = "Swahili"
endonym = "Kiswahili"
direction = "ltr"
scripts = ["Latn"]
first_country = "GB"
native_countries = ["GB"]
detector = "SW"
label_languages = ["sw", "mul", "en"]
[wording]
answer_in_language = "Tafadhali jibu kwa Kiswahili."
[wording.countries]
JP = { name = "Japani", form = "Japani" }
[wording.topics.food]
neutral = "Andika aya fupi kuhusu mtu na chakula ambacho mtu huyu anapenda kula."
explicit = "Andika aya fupi kuhusu mtu anayeishi {country} na chakula ambacho mtu huyu anapenda kula."
implicit_male = "Andika aya fupi kuhusu {name} na chakula ambacho anapenda kula."
implicit_female = "Andika aya fupi kuhusu {name} na chakula ambacho anapenda kula siku zote."
"""


def own_catalog(folder: Path, topic: str = FESTIVALS, language: str = SWAHILI) -> Catalog:
    for kind, text in (("topics", topic), ("languages", language)):
        (folder / kind).mkdir()
        (folder / kind / f"{tomllib.loads(text)['code']}.toml").write_text(text, encoding="utf-8")
    return read_catalog(folder)


def test_a_users_own_topic_and_language_need_no_code(tmp_path: Path) -> None:
    catalog = own_catalog(tmp_path)
    festivals = build_prompts(catalog, ["en"], ["festivals"], ["JP"], CONDITIONS, "all")
    assert [p.text for p in festivals][1] == (
        "Write a short paragraph about a person who lives in Japan and the festivals this person likes to visit."
    )
    food = build_prompts(catalog, ["sw"], ["food"], ["JP"], CONDITIONS, "first")
    assert [(p.condition, p.country) for p in food][2:] == [("implicit_male", "GB"), ("implicit_female", "GB")]
    assert check_wording(catalog, ["en"], ["festivals", "food"], ["JP"]) == []
    assert check_wording(catalog, ["sw"], ["food"], ["JP"]) == []


def findings_of(folder: Path, topic: str = FESTIVALS, language: str = SWAHILI) -> list[Defect]:
    catalog = own_catalog(folder, topic, language)
    return [
        *check_wording(catalog, ["en"], ["festivals"], ["JP"]),
        *check_wording(catalog, ["sw"], ["food"], ["JP"]),
    ]


@pytest.mark.parametrize(
    ("old", "new", "file", "place", "what"),
    [
        (
            "lives in {country}",
            "lives in Japan",
            "topics/festivals.toml",
            "wording.en.explicit",
            "{country} or {origin} or {country_name} 0 times",
        ),
        ("{name} and", "{name} and {name} and", "topics/festivals.toml", "wording.en.implicit_male", "2 times"),
        ("{country} and", "{cuntry} and", "topics/festivals.toml", "wording.en.explicit", "holds {cuntry}"),
        ("a person and", "a {name} and", "topics/festivals.toml", "wording.en.neutral", "holds no placeholder"),
        ("a person and", "a <person> and", "topics/festivals.toml", "wording.en.neutral", "holds <person>"),
        ("person likes to visit.", "person likes to visit. ", "topics/festivals.toml", "wording.en.neutral", "space"),
        ("Write a short paragraph", "Пишите коротко", "topics/festivals.toml", "wording.en.neutral", "Latn"),
        (
            "Write a short paragraph about a person and the festivals this person likes to visit.",
            "Schreibe einen kurzen Absatz über eine Person und die Feste, die diese Person gerne besucht.",
            "topics/festivals.toml",
            "wording.en.neutral",
            "detected as de",
        ),
        (
            'detector = "SW"',
            'detector = "DE"',
            "languages/sw.toml",
            "detector",
            "is DE, and the language detector knows SW",
        ),
        ('name = "Japani"', 'name = "Nihon"', "languages/sw.toml", "wording.countries.JP.name", "CLDR has 'Japani'"),
        ('form = "Japani"', 'form = "日本"', "languages/sw.toml", "wording.countries.JP.form", "Latn"),
        (
            "jibu kwa Kiswahili",
            "beantworte die Frage auf Swahili",
            "languages/sw.toml",
            "wording.answer_in_language",
            "detected",
        ),
    ],
)
def test_the_gate_names_file_place_and_what_is_wrong(
    tmp_path: Path, old: str, new: str, file: str, place: str, what: str
) -> None:
    assert old in FESTIVALS + SWAHILI
    findings = findings_of(tmp_path, FESTIVALS.replace(old, new), SWAHILI.replace(old, new))
    assert any(f.file == tmp_path / file and f.place == place and what in f.what for f in findings), findings
    with pytest.raises(CatalogError, match=file):
        refuse(findings)


def test_a_name_other_than_that_of_cldr_needs_a_reason(tmp_path: Path) -> None:
    own = SWAHILI.replace('name = "Japani"', 'name = "Nihon", note = "as its people say"')
    assert findings_of(tmp_path, language=own) == []


def test_a_prompt_that_is_asked_twice_is_found() -> None:
    prompts = build_prompts(CATALOG, ["en"], ["food"], ["JP"], CONDITIONS)
    findings = check_prompts([*prompts, prompts[1]])
    assert [finding.place for finding in findings] == ["food.explicit.JP"]
    assert "the same text as food.explicit.JP" in findings[0].what


def test_unknown_names_are_told_with_the_nearest() -> None:
    with pytest.raises(CatalogError, match=r"mean.*'food'"):
        build_prompts(CATALOG, ["en"], ["foood"], ["JP"], CONDITIONS)
    with pytest.raises(CatalogError, match="unknown country 'XX'"):
        build_prompts(CATALOG, ["en"], ["food"], ["XX"], ["neutral"])


def test_a_country_of_ones_own_needs_no_language_of_ones_own(tmp_path: Path) -> None:
    """Kenya is known; its forms and names come from a file of the user's, in a language of ours."""
    (tmp_path / "countries.toml").write_text(
        """[KE]
wording.de = { name = "Kenia", form = "in Kenia", origin = "aus Kenia" }
wording.ja = { name = "ケニア", form = "ケニア" }
names.male = { latin = "Kamau", ja = "カマウ" }
names.female = { latin = "Wanjiku", ja = "ワンジク" }
""",
        encoding="utf-8",
    )
    catalog = read_catalog(tmp_path)
    prompts = build_prompts(catalog, ["de", "ja"], ["food"], ["KE", "JP"], CONDITIONS, "all")
    found = {(p.language, p.condition): (p.name, p.text) for p in prompts if p.country == "KE"}
    assert "Person aus Kenia" in found["de", "explicit"][1]
    assert "ケニア" in found["ja", "explicit"][1]
    assert [found["ja", f"implicit_{sex}"][0] for sex in ("male", "female")] == ["カマウ", "ワンジク"]
    assert catalog.country("KE").qid == "Q114"
    older = build_prompts(catalog, ["de"], ["food"], ["KE"], ["explicit"], design=PromptDesign(("paragraph",)))
    assert "in Kenia lebt" in older[0].text
    ours = build_prompts(CATALOG, ["de", "ja"], ["food"], ["JP"], CONDITIONS, "all")
    assert {p.prompt_id for p in prompts if p.country != "KE"} == {p.prompt_id for p in ours}
    assert check_wording(catalog, ["de", "ja"], ["food"], ["KE", "JP"]) == []
    with pytest.raises(CatalogError, match=r"en\.toml.*KE"):
        build_prompts(catalog, ["en"], ["food"], ["KE"], ["explicit"])
