"""The normalised form in which texts and phrases are compared.

Unicode NFKC and case folding apply. Apostrophes, joiners and vowel marks are dropped. Other punctuation becomes a
space. Letters that Arabic and Persian, or Turkish and English, write in two ways become one.
"""

from __future__ import annotations

import re
import unicodedata

_APOSTROPHES = frozenset("'\u2018\u2019\u02bc\u02b9`\u00b4\uff07")
_DROPPED = frozenset(map(chr, (*range(0x64B, 0x660), 0x670, 0x640, 0x93C, 0x307)))  # marks, tatweel, nukta, dot above
_SAME_LETTER = {
    "ı": "i",  # with U+0307 dropped, one i for English words in Turkish texts, too
    "ى": "ي",
    "ی": "ي",
    "ئ": "ي",
    "ک": "ك",
    "أ": "ا",
    "إ": "ا",
    "آ": "ا",
    "ٱ": "ا",
    "ؤ": "و",
    "ة": "ه",
    "ۀ": "ه",
    "\u0901": "\u0902",  # Devanagari candrabindu, often written as anusvara
}
_PERSIAN_PREFIX = re.compile("(?<= )(ن?مي) (?=[\u0620-\u06ff])")  # 'نمی توانم' for 'نمی‌توانم'
_SYNTAX = "()|?*+[]{}.,^$-0123456789 "


class _Letters(dict[int, str]):
    """The replacement of each character, computed on first use."""

    def __missing__(self, code: int) -> str:
        self[code] = letter = _letter(chr(code))
        return letter


def _letter(character: str) -> str:
    if character in _APOSTROPHES or character in _DROPPED:
        return ""
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    return " " if category[0] in "PSZC" else _SAME_LETTER.get(character, character)


_LETTERS = _Letters()
_PHRASE_LETTERS = _Letters({ord(character): character for character in _SYNTAX})


def fold(text: str) -> str:
    """The normalised words of `text`, with one space before, between and after them."""
    words = unicodedata.normalize("NFKC", text).casefold().translate(_LETTERS).split()
    folded = f" {' '.join(words)} "
    return _PERSIAN_PREFIX.sub(r"\1", folded) if "مي " in folded else folded


def fold_phrase(phrase: str) -> str:
    """A phrase in the same form; the metacharacters of a regular expression stay."""
    return unicodedata.normalize("NFKC", phrase).casefold().translate(_PHRASE_LETTERS)
