"""The names of the implicit prompts: complete, each in its script, none twice in a language."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from polyculture.cache.catalog import Language, read_catalog
from polyculture.cache.errors import CatalogError
from polyculture.cache.text.scripts import script_counts, script_share
from polyculture.generate.design import PLAIN, PromptDesign, read_preset
from polyculture.generate.detection import chinese_variant
from polyculture.generate.integrity import check_names
from polyculture.generate.names import FOLDER, read_names
from polyculture.generate.prompts import build_prompts

COUNTRIES = sorted(file.stem for file in FOLDER.glob("*.toml"))
SCRIPTS = {
    "latin": ["Latn"],
    **{"ar": ["Arab"], "fa": ["Arab"], "hi": ["Deva"], "ja": ["Hani", "Hira", "Kana"]},
    **{"ko": ["Hang"], "th": ["Thai"], "zh": ["Hani"], "zh-tw": ["Hani"]},
}
# Arabic writes yeh, kaf and teh marbuta with other characters than Persian, which alone has pe, che, zhe and gaf.
ARABIC_ONLY = set("يىكةأإ")
PERSIAN_ONLY = set("یکپچژگ")
# Characters of Chinese names that Japan writes in another form: 黄 呉 国 恵 静 鉄 広 竜 栄 桜 斎 辺 沢 浜.
OLD_FORMS = set("黃吳國惠靜鐵廣龍榮櫻齋邊澤濱")
# Whose names Japan writes in their own characters.
OF_CHARACTERS = {"JP", "CN", "TW"}


def _read(country: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{country}.toml").read_text(encoding="utf-8"))


def _people(country: str) -> list[dict[str, str]]:
    file = _read(country)
    return [*file["male"], *file["female"]]


def test_the_countries_of_the_presets_have_names() -> None:
    assert set(read_preset("full").countries) <= set(COUNTRIES)


@pytest.mark.parametrize("language", read_catalog().languages.values(), ids=lambda one: one.code)
def test_the_first_country_of_each_language_has_names_in_its_script(language: Language) -> None:
    names = read_names()[language.first_country]
    assert min(len(names.male), len(names.female)) >= 8
    assert list(check_names(language, {language.first_country: names}, FOLDER, "")) == []


def test_a_language_whose_first_country_has_no_names_is_not_asked_by_them() -> None:
    catalog = read_catalog()
    swahili = catalog.language("sw").model_copy(update={"first_country": "KE"})
    other = catalog.model_copy(update={"languages": {**catalog.languages, "sw": swahili}})
    with pytest.raises(CatalogError, match="Leave implicit_male and implicit_female out of the conditions") as told:
        build_prompts(other, ["sw"], ["food"], [], ["implicit_male"], design=PromptDesign((PLAIN,)))
    assert "no names of persons for country KE" in str(told.value)
    assert "implicit_countries" not in str(told.value), "that is what was asked"
    assert "[KE] in the countries.toml" in str(told.value)


@pytest.mark.parametrize("language", sorted(read_catalog().languages))
def test_what_is_proposed_in_place_of_names_can_be_asked(language: str) -> None:
    """The first country is proposed where it has names in the language's letters, and only there."""
    for country in ("BR", "JP", "PH"):
        try:
            build_prompts(
                read_catalog(), [language], ["food"], [country], ["implicit_male"], "all", design=PromptDesign((PLAIN,))
            )
        except CatalogError as fault:
            proposed = 'implicit_countries = "first"' in (fault.remedy or "")
            assert proposed
            assert build_prompts(
                read_catalog(), [language], ["food"], [country], ["implicit_male"], design=PromptDesign((PLAIN,))
            )


def test_no_name_is_asked_in_foreign_letters() -> None:
    """Felipe stood in Japanese prompts. Those of the presets have all their spellings."""
    with pytest.raises(CatalogError, match="of country BR has no spelling in Japanese"):
        build_prompts(read_catalog(), ["ja"], ["food"], ["BR"], ["implicit_male"], "all")
    full = read_preset("full")
    prompts = build_prompts(
        read_catalog(), full.languages, ["food"], full.countries, ["implicit_male", "implicit_female"], "all"
    )
    assert len(prompts) == len(full.languages) * len(full.countries) * 2


@pytest.mark.parametrize("country", read_preset("full").countries)
def test_names_of_a_country(country: str) -> None:
    file = _read(country)
    assert file["country"] == country
    assert file["source"].strip()
    assert min(len(file["male"]), len(file["female"])) >= 8
    wrong = [(person["latin"], *what) for person in _people(country) for what in _wrong(country, file["form"], person)]
    assert wrong == []


def _wrong(country: str, form: str, person: dict[str, str]) -> Iterator[tuple[str, ...]]:
    if not {*SCRIPTS, "reading", "source"} <= set(person):
        yield "keys", *sorted(person)
    for key, text in person.items():
        if not text or text != unicodedata.normalize("NFC", " ".join(text.split())):
            yield key, "is empty, or has other spaces or marks"
        if key in SCRIPTS and script_share(script_counts(text), SCRIPTS[key]) != 1.0:
            yield key, "has letters of another script"
        if key in SCRIPTS and key != "ja" and "・" in text:
            yield key, "has a middle dot"
    if (" " in person["latin"]) != (form == "full"):
        yield "latin", "is of another form than the country's"
    if PERSIAN_ONLY & set(person["ar"]) or ARABIC_ONLY & set(person["fa"]):
        yield "ar", "fa", "have letters of one another"
    kana = re.fullmatch(r"[ァ-ヶー]+(・[ァ-ヶー]+)?", person["ja"]) is not None
    if (
        kana == (country in OF_CHARACTERS)
        or OLD_FORMS & set(person["ja"])
        or ("・" in person["ja"]) != (country == "KR")
    ):
        yield "ja", "is not as Japan writes it"
    # Each character alone: in a whole name one of the one side could stand against one of the other.
    if any(chinese_variant(one) == "traditional" for one in person["zh"]):
        yield "zh", "has a traditional character"
    if any(chinese_variant(one) == "simplified" for one in person["zh-tw"]):
        yield "zh-tw", "has a simplified character"
    own = {"CN": "zh", "TW": "zh-tw"}.get(country)
    syllables = re.findall(r"[aeiouüāáǎàēéěèīíǐìōóǒòūúǔùǖǘǚǜ]+", person["reading"].lower())
    if own and len(syllables) != len(person[own]):
        yield "reading", "has not a syllable for each character"


@pytest.mark.parametrize("key", SCRIPTS)
def test_no_two_people_have_the_same_name(key: str) -> None:
    """Across countries too: two countries with one name would be one prompt, and a name would tell no country."""
    names = Counter(person[key] for country in COUNTRIES for person in _people(country) if key in person)
    assert [name for name, times in names.items() if times > 1] == []
