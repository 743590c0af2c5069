"""Tells a typo from another name with a similar spelling.

A similarity ratio cannot: mentions of things that the index lacks are often close to the name of something else
(tortelli and tortell, bay and auk class minesweeper). Typos leave every word recognisable and, in short texts, mostly
affect letters that are barely audible.
"""

from __future__ import annotations

import re
import unicodedata

from rapidfuzz.distance import OSA

SHORT = 6  # letters: up to here one more vowel makes another word (waiter, water)
LONG = 10  # letters: from here on a word may have two typos
_HARDLY_AUDIBLE = re.compile(r"\Bh|[ーッっ]|[ก-ฮ][ิุ]?์|[็-๋]|(?<=ไ[ก-ฮ])ย")
_INNER_VOWELS = re.compile(r"\B[aeiouy]+\B")
_ONE_LETTER = re.compile(r"\W[a-z]$")
_NUMBER = re.compile(r"\d")
_DOUBLED = re.compile(r"(.)\1+")
_LETTERS = str.maketrans("ıøđłħŧ", "iodlht") | {ord("æ"): "ae", ord("œ"): "oe"}


def same_words_up_to_typos(one: str, other: str) -> bool:
    """Are the texts equal word by word, up to typos?

    A typo inserts, deletes or replaces a letter, or swaps two neighbours. It does not touch the first letter, words of
    two letters, or words with digits (E341i, E341ii). A last word of one letter is kept (vitamine, vitamin E).
    """
    alone = [_ONE_LETTER.search(text) is not None for text in (one, other)]
    return alone[0] == alone[1] and all(map(_same_word_up_to_typos, *_words(one, other)))


def near_identical(one: str, other: str) -> bool:
    """Do they have the same letters, or differ only in barely audible ones that were inserted or deleted?

    Barely audible are: vowels inside a word, an h after another letter, doubled letters, accents, the long marks of
    kana, Thai tone marks and silent letters. One vowel for another makes another word, unless the word is long
    (tortellini, tortelloni); so does one more vowel in a short word.
    """
    return sorted(one) == sorted(other) or all(map(_near_identical_words, *_words(one, other)))


def _words(one: str, other: str) -> tuple[list[str], list[str]]:
    """The words of both, paired by position; where the numbers differ, each text without blanks is one word."""
    words, others = _plain(one).split(), _plain(other).split()
    return (words, others) if len(words) == len(others) else (["".join(words)], ["".join(others)])


def _same_word_up_to_typos(one: str, other: str) -> bool:
    if one == other:
        return True
    shorter, longer = sorted((len(one), len(other)))
    if shorter < 3 or longer < 4 or one[0] != other[0] or _NUMBER.search(one + other):
        return False
    return OSA.distance(one, other) <= (1 if longer < LONG else 2)


def _near_identical_words(one: str, other: str) -> bool:
    longer = max(len(one), len(other))
    if one == other:
        return True
    if len(one) == len(other) and longer <= LONG:
        return False
    one, other = (_DOUBLED.sub(r"\1", _HARDLY_AUDIBLE.sub("", word)) for word in (one, other))
    return one == other or (longer > SHORT and _INNER_VOWELS.sub("", one) == _INNER_VOWELS.sub("", other))


def _plain(text: str) -> str:
    """The text without accents on Latin letters."""
    if text.isascii():
        return text
    return "".join(unicodedata.normalize("NFD", letter)[0] if letter < "ɐ" else letter for letter in text).translate(
        _LETTERS
    )
