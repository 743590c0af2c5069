"""The rules of languages for finding names in texts: `rules.toml`, where each entry is explained, read once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from polyculture.cache.identity import content_id, file_sha256
from polyculture.cache.text.inflection import NO_ENDINGS, Endings, inflections
from polyculture.cache.validation import ClosedModel

RULES = Path(__file__).with_name("rules.toml")


class LanguageRules(ClosedModel):
    """A language's section of the file.

    `prefix`, `suffix` and `stem` also help to find a mention that a model returned in its text. Only the gazetteer uses
    the other entries.
    """

    prefix: re.Pattern[str] | None = None
    suffix: re.Pattern[str] | None = None
    stem: int = 1
    nouns_capitalised: bool = False
    articles: frozenset[str] = frozenset()
    common_words: frozenset[str] = frozenset()
    function_words: frozenset[str] = frozenset()


class ExtractionRules(ClosedModel):
    """The whole file: what is for all languages, and their sections.

    `quotes` and `proper_kinds` also help to find a mention that a model returned in its text. Only the gazetteer uses
    the other entries.
    """

    shortest: Mapping[str, int]
    quotes: str
    proper_kinds: frozenset[str]
    titles: frozenset[str]
    topic_words: frozenset[str]
    caseless_title: int
    languages: Mapping[str, LanguageRules]


@cache
def rules() -> ExtractionRules:
    """The rules of the file."""
    return ExtractionRules.model_validate(tomllib.loads(RULES.read_text(encoding="utf-8")))


def language_rules(language: str) -> LanguageRules:
    """The rules of a language; the defaults for a language that the file lacks."""
    return rules().languages.get(language) or LanguageRules()


def rules_hash(endings: Endings = NO_ENDINGS) -> str:
    """The hash of the rules' files and of packs' own `endings`, a part of every extractor's identity."""
    known = {language: own.get("endings", []) for language, own in inflections().items()}
    return content_id(_rules_sha256(), {**known, **endings})


@cache
def _rules_sha256() -> str:
    return file_sha256(RULES)
