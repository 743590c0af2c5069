"""Where a name may begin and end in a text: at word boundaries, or by rules for scripts without them; and its capitals.

In Chinese, Japanese and Thai a name may stand anywhere, unless an edge is certainly inside another word:

- katakana continues to the left or right (パン in ジャパン), or a Latin word does;
- a single Chinese character is beside another one (米 in 米国);
- hiragana, or a single kanji, is beside hiragana that is no particle (そば in そばかす);
- a Thai vowel or tone mark belongs to the name's last letter, or a leading vowel to its first.
"""

from __future__ import annotations

import re
import unicodedata
from enum import IntEnum
from functools import lru_cache

from polyculture.extract.rules import LanguageRules, language_rules, rules

Span = tuple[int, int]  # start and end offsets in a text, in characters


class CharClass(IntEnum):
    """The class of a character for word boundaries. An integer, since it is looked up for every match."""

    NONE = 0  # punctuation, space, symbol
    SPACED = 1  # a letter, mark or digit of a script with spaces between words
    HAN = 2
    HIRAGANA = 3
    KATAKANA = 4
    UNSPACED = 5  # Thai, Lao, Khmer, Burmese
    LATIN = 6  # like SPACED, but separate: in Japanese a Latin word ends where kanji begin


_RANGES = (
    (0x0E00, 0x0EFF, CharClass.UNSPACED),
    (0x1000, 0x109F, CharClass.UNSPACED),
    (0x1780, 0x17FF, CharClass.UNSPACED),
    (0x3005, 0x3007, CharClass.HAN),
    (0x3041, 0x309F, CharClass.HIRAGANA),
    (0x30A1, 0x30FA, CharClass.KATAKANA),
    (0x30FC, 0x30FF, CharClass.KATAKANA),
    (0x31F0, 0x31FF, CharClass.KATAKANA),
    (0x3400, 0x4DBF, CharClass.HAN),
    (0x4E00, 0x9FFF, CharClass.HAN),
    (0xF900, 0xFAFF, CharClass.HAN),
    (0xFF66, 0xFF9D, CharClass.KATAKANA),
    (0x20000, 0x3FFFF, CharClass.HAN),
)
# Scripts whose words nothing separates (Unicode's line breaking class SA; Tibetan separates syllables alone), and that
# have no rules here as Chinese, Japanese and Thai do: a name would be found inside other words.
UNSEGMENTED = frozenset({"Laoo", "Khmr", "Mymr", "Tibt", "Ahom", "Lana", "Tale", "Talu", "Tavt"})
_LONG_VOWEL = "ー"
_HYPHENS = "-\u2010\u2011"
_THAI_LEADING = frozenset("เแโใไ")
_THAI_TRAILING = frozenset("ะาำๅ")
_LONGEST_AFFIX = 14


class _Classes(dict[str, CharClass]):
    def __missing__(self, char: str) -> CharClass:
        char_class = self[char] = _classify(char)
        return char_class


def _classify(char: str) -> CharClass:
    point = ord(char)
    for first, last, name in _RANGES:
        if first <= point <= last:
            return name
    category = unicodedata.category(char)
    if category[0] not in "LMN":
        return CharClass.NONE
    return CharClass.LATIN if point < 0x250 or 0x1E00 <= point < 0x1F00 else CharClass.SPACED


CLASSES = _Classes()
_SPACED = (CharClass.SPACED, CharClass.LATIN)


def long_enough(folded_name: str) -> bool:
    """Is the name long enough not to occur in a text by chance?"""
    length, shortest = len(folded_name), rules().shortest
    kinds = {CLASSES[char] for char in folded_name} - {CharClass.NONE}
    if not kinds:
        return False
    if CharClass.UNSPACED in kinds:
        return length >= shortest["thai"]
    if CharClass.HAN in kinds:
        return length >= shortest["han"]
    if kinds <= {CharClass.LATIN}:
        return length >= shortest["latin"]
    return length >= (shortest["spaced"] if kinds & set(_SPACED) else shortest["kana"])


class Boundaries:
    """Tells whether `text[start:end]` can be a name of its own, in texts of one language.

    With `hyphens_join` a hyphen between letters does not end a word: there is no coffee in "coffee-coloured".
    """

    def __init__(self, language: str, *, hyphens_join: bool = False) -> None:
        self._rules: LanguageRules = language_rules(language)
        self._hyphens_join = hyphens_join

    def free(self, text: str, start: int, end: int) -> bool:
        """May both edges of the span be edges of a name?"""
        if self._hyphens_join and (_hyphenated(text, start - 1) or _hyphenated(text, end)):
            return False
        return self._left(text, start, end) and self._right(text, start, end)

    def _left(self, text: str, start: int, end: int) -> bool:
        if start == 0:
            return True
        first, before = CLASSES[text[start]], CLASSES[text[start - 1]]
        if before == CharClass.NONE or first == CharClass.NONE:
            return True
        if first in _SPACED:
            if before not in _SPACED:
                return True
            return self._affix(self._rules.prefix, text[self._word_start(text, start) : start])
        if first == CharClass.UNSPACED:
            return before != first or not self._inside_thai(text, start)
        if first == CharClass.KATAKANA:
            return before != first
        if first == CharClass.HAN and before == CharClass.HAN:
            return end - start > 1
        if before == CharClass.HIRAGANA and (first == CharClass.HIRAGANA or end - start == 1):
            return self._particle(self._rules.prefix, text, start - 1, start - 2, start)
        return True

    def _right(self, text: str, start: int, end: int) -> bool:
        if end == len(text):
            return True
        last, after = CLASSES[text[end - 1]], CLASSES[text[end]]
        if after == CharClass.NONE or last == CharClass.NONE:
            return True
        if last in _SPACED:
            if after not in _SPACED:
                return True
            long = end - start >= self._rules.stem
            return long and self._affix(self._rules.suffix, text[end : self._word_end(text, end)])
        if last == CharClass.UNSPACED:
            return after != last or not self._inside_thai(text, end)
        if last == CharClass.KATAKANA:
            return after != last
        if last == CharClass.HAN and after == CharClass.HAN:
            return end - start > 1
        if text[end] == _LONG_VOWEL:
            return False
        if after == CharClass.HIRAGANA and (last == CharClass.HIRAGANA or end - start == 1):
            return self._particle(self._rules.suffix, text, end, end, end + 2)
        return True

    def _affix(self, allowed: re.Pattern[str] | None, affix: str) -> bool:
        return allowed is not None and len(affix) <= _LONGEST_AFFIX and allowed.fullmatch(affix) is not None

    def _particle(self, allowed: re.Pattern[str] | None, text: str, one: int, first: int, last: int) -> bool:
        if allowed is None:
            return False
        return bool(allowed.fullmatch(text[one]) or allowed.fullmatch(text[max(first, 0) : last]))

    def _word_start(self, text: str, start: int) -> int:
        place, stop = start, max(0, start - _LONGEST_AFFIX - 1)
        while place > stop and CLASSES[text[place - 1]] in _SPACED:
            place -= 1
        return place

    def _word_end(self, text: str, end: int) -> int:
        place, stop = end, min(len(text), end + _LONGEST_AFFIX + 1)
        while place < stop and CLASSES[text[place]] in _SPACED:
            place += 1
        return place

    def _inside_thai(self, text: str, place: int) -> bool:
        after, before = text[place], text[place - 1]
        return unicodedata.category(after)[0] == "M" or after in _THAI_TRAILING or before in _THAI_LEADING


def _hyphenated(text: str, place: int) -> bool:
    return (
        0 < place < len(text) - 1
        and text[place] in _HYPHENS
        and CLASSES[text[place - 1]] in _SPACED
        and CLASSES[text[place + 1]] in _SPACED
    )


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
        return not self._like_a_word(text, start, written, kind) or quoted(text, start, end)

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


def quoted(text: str, start: int, end: int) -> bool:
    """Is `text[start:end]` between quotation marks, or emphasised?"""
    quotes = rules().quotes
    return start > 0 and end < len(text) and text[start - 1] in quotes and text[end] in quotes
