"""The rules of languages for finding names in texts: `rules.toml`, read once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from polyculture.cache.identity import content_id, file_sha256
from polyculture.cache.inflection import NO_ENDINGS, Endings, inflections

RULES = Path(__file__).with_name("rules.toml")


@dataclass(frozen=True, slots=True)
class LanguageRules:
    """A language's section of `rules.toml`, where each entry is explained."""

    prefix: re.Pattern[str] | None = None
    suffix: re.Pattern[str] | None = None
    stem: int = 1
    nouns_capitalised: bool = False
    articles: frozenset[str] = frozenset()
    common_words: frozenset[str] = frozenset()
    function_words: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ExtractionRules:
    """The rules for all languages."""

    shortest: Mapping[str, int]
    quotes: str
    proper_kinds: frozenset[str]
    titles: frozenset[str]
    topic_words: frozenset[str]
    caseless_title: int


@cache
def rules() -> ExtractionRules:
    data = tomllib.loads(RULES.read_text(encoding="utf-8"))
    return ExtractionRules(
        data["shortest"],
        data["quotes"],
        frozenset(data["proper_kinds"]),
        frozenset(data["titles"]),
        frozenset(data["topic_words"]),
        data["caseless_title"],
    )


@cache
def language_rules(language: str) -> LanguageRules:
    """The rules of a language; the defaults for a language that `rules.toml` lacks."""
    section = tomllib.loads(RULES.read_text(encoding="utf-8"))["languages"].get(language, {})
    return LanguageRules(
        prefix=re.compile(section["prefix"]) if "prefix" in section else None,
        suffix=re.compile(section["suffix"]) if "suffix" in section else None,
        stem=section.get("stem", 1),
        nouns_capitalised=section.get("nouns_capitalised", False),
        articles=frozenset(section.get("articles", [])),
        common_words=frozenset(section.get("common_words", [])),
        function_words=frozenset(section.get("function_words", [])),
    )


def rules_hash(endings: Endings = NO_ENDINGS) -> str:
    """The hash of the rules' files and of packs' own `endings`, a part of every extractor's identity."""
    known = {language: own.get("endings", []) for language, own in inflections().items()}
    return content_id(_rules_sha256(), {**known, **endings})


@cache
def _rules_sha256() -> str:
    return file_sha256(RULES)
