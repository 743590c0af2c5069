"""Checks capital letters: "It" the novel is not "it" the pronoun."""

from __future__ import annotations

import re
from functools import lru_cache

from polyculture.extract.rules import language_rules, rules

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


class LetterCase:
    """The letter case rules of one language."""

    def __init__(self, language: str) -> None:
        self._rules = language_rules(language)

    def fits(self, text: str, start: int, end: int, surface: str, kind: str) -> bool:
        """May `text[start:end]`, which folds to the same as `surface`, be that name?

        Proper names (titles, people) need their capital letters. Names that are also ordinary words at the start of a
        sentence, and very short names in scripts without capitals, need quotation marks or emphasis. Common nouns need
        a capital letter in languages that capitalise nouns.
        """
        written = text[start:end]
        if kind not in rules().proper_kinds:
            return not self._rules.nouns_capitalised or not surface[0].isupper() or written[0].isupper()
        if surface.isupper() and len(surface) > 1:
            return written.isupper()
        if not all(_has_capital_at(written, place) for place in self._capitals(surface)):
            return False
        return not self._like_a_word(text, start, written, kind) or _quoted(text, start, end)

    def _like_a_word(self, text: str, start: int, written: str, kind: str) -> bool:
        if kind in rules().titles and len(written) <= rules().caseless_title and not written[0].isupper():
            return True
        return written.casefold() in self._rules.common_words and _opens_sentence(text, start)

    def _capitals(self, surface: str) -> tuple[int, ...]:
        return _capitalised_words(surface, self._rules.articles)


@lru_cache(maxsize=100_000)
def _capitalised_words(surface: str, articles: frozenset[str]) -> tuple[int, ...]:
    """The positions of a name's words with a capital letter, without a leading article."""
    words = _WORD.findall(surface)
    return tuple(
        place
        for place, word in enumerate(words)
        if word[0].isupper() and not (place == 0 and len(words) > 1 and word.casefold() in articles)
    )


def _has_capital_at(written: str, place: int) -> bool:
    words = _WORD.findall(written)
    return place >= len(words) or words[place][0].isupper()


def _opens_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 8) : start].rstrip(" " + rules().quotes + "#>(-")
    return not before or before[-1] in ".!?…\n"


def _quoted(text: str, start: int, end: int) -> bool:
    quotes = rules().quotes
    return start > 0 and end < len(text) and text[start - 1] in quotes and text[end] in quotes
