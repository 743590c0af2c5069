"""Plurals, cases and articles: the rules of `inflection.toml`, by language."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TypedDict

InflectionRule = Sequence[str]  # a pattern and its replacement
Endings = Mapping[str, Sequence[tuple[str, str]]]  # by language, those of culture packs: `Catalog.endings`
NO_ENDINGS: Endings = MappingProxyType({})
_VOWELS = range(0xAC00, 0xD7A4, 28)  # Hangul syllables that end in a vowel, each before those that add a consonant
_SYLLABLES = {
    "open": "".join(map(chr, _VOWELS)),
    "closed": "".join(f"{chr(code + 1)}-{chr(code + 27)}" for code in _VOWELS),
    "l": "".join(chr(code + 8) for code in _VOWELS),
}


class Inflection(TypedDict, total=False):
    """The rules of one language in `inflection.toml`."""

    endings: list[tuple[str, str]]
    folding: list[InflectionRule]
    key: list[InflectionRule]
    stem: bool  # False: the language has a Snowball stemmer, and does better without


@cache
def inflections() -> Mapping[str, Inflection]:
    """The rules of `inflection.toml` by language."""
    return read_inflections(Path(__file__).with_name("inflection.toml"))


def read_inflections(file: Path) -> Mapping[str, Inflection]:
    """The rules of a file like `inflection.toml` by language."""
    text = file.read_text(encoding="utf-8")
    for name, syllables in _SYLLABLES.items():
        text = text.replace(f"{{{name}}}", f"[{syllables}]")
    read: dict[str, Inflection] = tomllib.loads(text)
    return read


def base_language(code: str) -> str:
    """The language of a regional variant, which shares its rules: en of en-gb."""
    return code.partition("-")[0]


def key_rules(name_language: str) -> list[InflectionRule]:
    """The rules of a Wikidata language's keys: first its spellings, then its endings."""
    rules = inflections().get(base_language(name_language), Inflection())
    return [*rules.get("folding", []), *rules.get("key", [])]


def has_endings(name_language: str) -> bool:
    """Do rules say what becomes of the endings of a Wikidata language? Snowball's stemmer does where they do not."""
    rules = inflections().get(base_language(name_language), Inflection())
    return bool(rules.get("key")) or not rules.get("stem", True)


def forms(name: str, language: str, endings: Endings = NO_ENDINGS) -> list[str]:
    """The inflected forms of a name in a text: "taco" -> ["tacos"]. A language's own `endings` replace ours."""
    pairs = endings.get(language) or inflections().get(language, Inflection()).get("endings", [])
    return list(dict.fromkeys(name.removesuffix(end) + other for end, other in pairs if name.endswith(end)))


def singular(word: str) -> str:
    """An English word without the s of the plural. What is no English word may lose its s, too: compare, never show."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
