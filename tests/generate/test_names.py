"""The names of the implicit prompts: complete, each in its script, none twice in a language."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.scripts import script_counts, script_share
from polyculture.generate.detection import chinese_variant

FOLDER = Path(__file__).parents[2] / "generate" / "names"
COUNTRIES = ["AE", "AR", "AU", "CA", "CN", "DE", "ES", "GB", "IN", "IR"]
COUNTRIES += ["IT", "JP", "KR", "MX", "NG", "TH", "TR", "TW", "US"]
SCRIPTS = {
    "latin": ["Latn"],
    "ar": ["Arab"],
    "fa": ["Arab"],
    "hi": ["Deva"],
    "ja": ["Hani", "Hira", "Kana"],
    "ko": ["Hang"],
    "th": ["Thai"],
    "zh": ["Hani"],
    "zh-tw": ["Hani"],
}
# Arabic writes yeh, kaf and teh marbuta with other characters than Persian, which alone has pe, che, zhe and gaf.
ARABIC_ONLY = set("يىكةأإ")
PERSIAN_ONLY = set("یکپچژگ")
# Characters of Chinese names that Japan writes in another form: 黄 呉 国 恵 静 鉄 広 竜 栄 桜 斎 辺 沢 浜.
OLD_FORMS = set("黃吳國惠靜鐵廣龍榮櫻齋邊澤濱")


def _read(country: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{country}.toml").read_text(encoding="utf-8"))


def _people(country: str) -> Iterator[tuple[str, dict[str, str]]]:
    file = _read(country)
    for sex in ("male", "female"):
        for person in file[sex]:
            yield f"{country} {sex} {person['latin']}", person


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.split()))


def test_each_country_has_a_file_and_no_other_is_there() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == COUNTRIES


@pytest.mark.parametrize("country", COUNTRIES)
def test_a_file_has_eight_names_of_each_sex_and_says_where_from(country: str) -> None:
    file = _read(country)
    assert file["country"] == country
    assert file["source"].strip()
    assert file["form"] in {"given", "full"}
    assert len(file["male"]) >= 8
    assert len(file["female"]) >= 8


@pytest.mark.parametrize("country", COUNTRIES)
def test_a_name_is_spelled_in_each_script(country: str) -> None:
    wanted = {*SCRIPTS, "reading", "source"}
    wrong = []
    for who, person in _people(country):
        assert set(person) == wanted, who
        wrong += [f"{who}.{key}" for key, text in person.items() if not text or text != _normal(text)]
        wrong += [
            f"{who}.{key}: {person[key]}"
            for key, scripts in SCRIPTS.items()
            if script_share(script_counts(person[key]), scripts) != 1.0
        ]
    assert not wrong


@pytest.mark.parametrize("country", COUNTRIES)
def test_the_form_holds_for_all_names_of_a_country(country: str) -> None:
    full = _read(country)["form"] == "full"
    assert [who for who, person in _people(country) if (" " in person["latin"]) != full] == []


@pytest.mark.parametrize("key", SCRIPTS)
def test_no_two_people_have_the_same_name(key: str) -> None:
    """Across countries too: two countries with one name would be one prompt, and a name would tell no country."""
    names = Counter(person[key] for country in COUNTRIES for _, person in _people(country))
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("country", COUNTRIES)
def test_arabic_and_persian_have_their_own_letters(country: str) -> None:
    people = list(_people(country))
    assert [who for who, person in people if PERSIAN_ONLY & set(person["ar"])] == []
    assert [who for who, person in people if ARABIC_ONLY & set(person["fa"])] == []


@pytest.mark.parametrize("country", COUNTRIES)
def test_japanese_writes_foreign_names_in_katakana(country: str) -> None:
    own_characters = {"JP", "CN", "TW"}
    for who, person in _people(country):
        kana = re.fullmatch(r"[ァ-ヶー]+(・[ァ-ヶー]+)?", person["ja"]) is not None
        assert kana != (country in own_characters), f"{who}: {person['ja']}"
        assert not OLD_FORMS & set(person["ja"]), f"{who}: {person['ja']}"
        assert ("・" in person["ja"]) == (country == "KR"), who


@pytest.mark.parametrize("country", COUNTRIES)
def test_chinese_has_the_characters_of_its_side_of_the_strait(country: str) -> None:
    """Each character alone: in a whole name one of the one side could stand against one of the other."""
    for who, person in _people(country):
        assert [c for c in person["zh"] if chinese_variant(c) == "traditional"] == [], who
        assert [c for c in person["zh-tw"] if chinese_variant(c) == "simplified"] == [], who


@pytest.mark.parametrize(("country", "language"), [("CN", "zh"), ("TW", "zh-tw")])
def test_a_chinese_name_has_a_syllable_for_each_character(country: str, language: str) -> None:
    for who, person in _people(country):
        syllables = re.findall(r"[aeiouüāáǎàēéěèīíǐìōóǒòūúǔùǖǘǚǜ]+", person["reading"].lower())
        assert len(syllables) == len(person[language]), who


@pytest.mark.parametrize("country", COUNTRIES)
def test_a_middle_dot_stands_in_no_other_language(country: str) -> None:
    for who, person in _people(country):
        assert [key for key in SCRIPTS if key != "ja" and "・" in person[key]] == [], who
