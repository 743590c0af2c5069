"""Whether one text is the other with a slip, or the name of something else that is written nearly the same.

A ratio of letters does not know: of the names that an index lacks, those which are like one that it has are mostly
other things (tortelli and tortell, bay and auk class minesweeper), while slips leave every word recognisable and, in
short texts, mostly touch what is hardly heard.
"""

from __future__ import annotations

import re
import unicodedata

from rapidfuzz.distance import OSA

SHORT = 6  # letters: here a vowel more makes another word (waiter, water)
LONG = 10  # letters: from here on a word may have two slips
_HARDLY_HEARD = re.compile(r"\Bh|[ーッっ]|[ก-ฮ][ิุ]?์|[็-๋]|(?<=ไ[ก-ฮ])ย")
_INNER_VOWELS = re.compile(r"\B[aeiouy]+\B")
_ONE_LETTER = re.compile(r"\W[a-z]$")
_NUMBER = re.compile(r"\d")
_DOUBLED = re.compile(r"(.)\1+")
_LETTERS = str.maketrans("ıøđłħŧ", "iodlht") | {ord("æ"): "ae", ord("œ"): "oe"}


def same_words(one: str, other: str) -> bool:
    """Is every word the other text's word at its place, but for a slip?

    A slip is a letter put in, left out, changed or swapped with the next; not the first, none in a word of two, and
    none where there is a number (E341i, E341ii). A last word of one letter stays a word (vitamine, vitamin E).
    """
    alone = [_ONE_LETTER.search(text) is not None for text in (one, other)]
    return alone[0] == alone[1] and all(map(_same_word, *_words(one, other)))


def hardly_differ(one: str, other: str) -> bool:
    """Do they have the same letters, or differ in what is hardly heard, put in or left out?

    That is: vowels inside a word, an h after another letter, doubled letters, accents, the long marks of kana, and of
    Thai tone marks and silent letters. One vowel for another makes another word, unless that is long (tortellini,
    tortelloni), and so does one vowel more in a short word.
    """
    return sorted(one) == sorted(other) or all(map(_hardly_other, *_words(one, other)))


def _words(one: str, other: str) -> tuple[list[str], list[str]]:
    """The words of both, as many of one as of the other: if blanks were put in or left out, the whole is one word."""
    words, others = _plain(one).split(), _plain(other).split()
    return (words, others) if len(words) == len(others) else (["".join(words)], ["".join(others)])


def _same_word(one: str, other: str) -> bool:
    if one == other:
        return True
    shorter, longer = sorted((len(one), len(other)))
    if shorter < 3 or longer < 4 or one[0] != other[0] or _NUMBER.search(one + other):
        return False
    return OSA.distance(one, other) <= (1 if longer < LONG else 2)


def _hardly_other(one: str, other: str) -> bool:
    longer = max(len(one), len(other))
    if one == other:
        return True
    if len(one) == len(other) and longer <= LONG:
        return False
    one, other = (_DOUBLED.sub(r"\1", _HARDLY_HEARD.sub("", word)) for word in (one, other))
    return one == other or (longer > SHORT and _INNER_VOWELS.sub("", one) == _INNER_VOWELS.sub("", other))


def _plain(text: str) -> str:
    """Without accents on Latin letters."""
    if text.isascii():
        return text
    return "".join(unicodedata.normalize("NFD", letter)[0] if letter < "ɐ" else letter for letter in text).translate(
        _LETTERS
    )
