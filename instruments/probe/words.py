"""Content words of answers: nouns, verbs and proper nouns by a tagger, or by a rule words that are no function words.

By the rule, verbs, nouns and adjectives are not told apart, and in scripts without spaces a run of letters is a word.
What was used is recorded with every answer.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from polyculture.cache.text.folding import fold
from polyculture.instruments.probe.taggers import RULE, recorded, tagged_words

_LETTERS = (
    r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f\u064b-\u0652\u0900-\u0963\u0971-\u0dff\u0e31-\u0e4e])*"  # with vowel signs
)
_WORD = re.compile(rf"{_LETTERS}(?:-{_LETTERS})*")
_ALPHABETS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "GEORGIAN")


@dataclass(frozen=True, slots=True)
class ContentWord:
    """A content word and where it stands in its text."""

    text: str
    start: int
    end: int


def content_words(text: str, language: str, tagger: str = RULE) -> list[ContentWord]:
    """The content words of a text, in order, by a tagger of `taggers` or by the rule."""
    if tagger != RULE:
        return [ContentWord(text[start:end], start, end) for start, end in tagged_words(text, tagger)]
    leave_out = function_words(language)
    return [
        ContentWord(found[0], found.start(), found.end())
        for found in _WORD.finditer(text)
        if fold(found[0]) not in leave_out and not _is_letter(found[0])
    ]


def word_rule(language: str, tagger: str = RULE) -> str:
    """The tagger or the rule in words, as it is recorded."""
    if tagger != RULE:
        return recorded(tagger)
    return f"rule 1, function words of {language}" if function_words(language) else "rule 1, no function words known"


def function_words(language: str) -> frozenset[str]:
    """Folded function words of a language; none of one that is not listed."""
    return _listed().get(language, frozenset())


def _is_letter(word: str) -> bool:
    """A single letter of an alphabet; a single Chinese or Hangul sign is a word."""
    return len(word) == 1 and unicodedata.name(word, "").startswith(_ALPHABETS)


@cache
def _listed() -> dict[str, frozenset[str]]:
    told = tomllib.loads(Path(__file__).with_name("function_words.toml").read_text(encoding="utf-8"))
    return {language: frozenset(map(fold, words.split())) for language, words in told.items()}
