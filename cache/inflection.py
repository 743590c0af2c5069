"""Plurals, cases and articles: the rules of `inflection.toml`, by language."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypedDict

from polyculture.cache.catalog import Language

Rule = Sequence[str]  # a pattern and its replacement; in `searched` several such pairs may follow one another
ALL = "all"  # the rules for every language
_VOWELS = range(0xAC00, 0xD7A4, 28)  # Hangul syllables that end in a vowel, each before those that add a consonant
_SYLLABLES = {
    "open": "".join(map(chr, _VOWELS)),
    "closed": "".join(f"{chr(code + 1)}-{chr(code + 27)}" for code in _VOWELS),
    "l": "".join(chr(code + 8) for code in _VOWELS),
}


class Inflection(TypedDict, total=False):
    """The rules of one language in `inflection.toml`."""

    endings: list[tuple[str, str]]
    stems: Mapping[str, str]
    articles: str
    names: list[Rule]
    written: list[Rule]
    before: list[Rule]
    after: list[Rule]
    cases: list[Rule]
    again: int
    one_case: bool
    searched: list[Rule]


@cache
def inflections() -> Mapping[str, Inflection]:
    """The rules of `inflection.toml` by language."""
    text = Path(__file__).with_name("inflection.toml").read_text(encoding="utf-8")
    for name, syllables in _SYLLABLES.items():
        text = text.replace(f"{{{name}}}", f"[{syllables}]")
    for own in tomllib.loads(text).values():
        for name, stems in own.get("stems", {}).items():
            text = text.replace(f"{{{name}}}", f"(?:{stems})")
    read: dict[str, Inflection] = tomllib.loads(text)
    return read


def inflection_of(language: Language) -> Inflection:
    """The rules of a language, or of the first label language it falls back on: those of zh for zh-tw."""
    return inflections().get(language.code) or inflection_of_names(language.label_languages[0])


def inflection_of_names(name_language: str) -> Inflection:
    """The rules of a Wikidata language: those of en for en-gb."""
    return inflections().get(name_language.partition("-")[0]) or Inflection()


def forms(name: str, language: str) -> list[str]:
    """The inflected forms of a name in a text: "taco" -> ["tacos"]."""
    endings = inflections().get(language, Inflection()).get("endings", [])
    return list(dict.fromkeys(name.removesuffix(end) + other for end, other in endings if name.endswith(end)))


def singular(word: str) -> str:
    """An English word without the s of the plural. What is no English word may lose its s, too: compare, never show."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
