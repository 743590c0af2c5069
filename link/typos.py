"""Tells a typo from another name with a similar spelling.

A similarity ratio cannot: mentions of things that the index lacks are often close to the name of something else
(tortelli and tortell, bay and auk class minesweeper). Typos leave every word recognisable and, in short texts, mostly
affect letters that are barely audible.
"""

from __future__ import annotations

import re
import unicodedata
from functools import partial

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

SHORT = 6  # letters: up to here one more vowel makes another word (waiter, water)
MIDDLE = 7  # letters: up to here tones count, and a doubled letter unless the mention lacks it
LONG = 10  # letters: from here on a word may have two typos
_HARDLY_AUDIBLE = re.compile(r"\Bh|[ーッっ]|[ก-ฮ][ิุ]?์|(?<=ไ[ก-ฮ])ย")
_TONES = re.compile("[็-๋]")
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


def near_identical(key: str, name: str) -> bool:
    """Do a mention and a name have the same letters, or differ only in barely audible ones, one more or one less?

    Barely audible are: vowels inside a word, an h after another letter, doubled letters, accents, the long marks of
    kana, Thai tone marks and silent letters. One vowel for another makes another word, unless the word is long
    (tortellini, tortelloni); so does one more vowel in a short word. In one word of up to seven letters tones count
    (ไข่ข้าว, ไข่ขาว), and so does a doubled letter, unless a name of seven letters lacks it in the mention: harisa is
    harissa, but panella is not panela, nor morón morrón.
    """
    words, names = _words(key, name)
    same = partial(_near_identical_words, alone=len(words) == 1)
    return sorted(key) == sorted(name) or all(map(same, words, names))


def plainly_a_slip(key: str, name: str, threshold: float) -> bool:
    """Are the two, and the words that differ, alike by `threshold` (a ratio of 0 to 100)?

    A slip is judged by its word, not by what stands around it: olio di crotone is not olio di cotone, though 97 % of
    their letters are the same. In long words among others one slip is plain.
    """
    words, names = _words(key, name)
    return fuzz.ratio(key, name) >= threshold and all(
        fuzz.ratio(word, other) >= threshold or (len(words) > 1 and max(len(word), len(other)) > MIDDLE)
        for word, other in zip(words, names, strict=True)
    )


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


def _near_identical_words(word: str, name: str, *, alone: bool) -> bool:
    longer, drops = max(len(word), len(name)), len(word) < len(name) > SHORT
    if word == name:
        return True
    if len(word) == len(name) and longer <= LONG:
        return False
    word, name = (_HARDLY_AUDIBLE.sub("", text) for text in (word, name))
    if longer > MIDDLE or not alone:
        word, name = (_DOUBLED.sub(r"\1", _TONES.sub("", text)) for text in (word, name))
    elif drops and word == _DOUBLED.sub(r"\1", name):
        return True
    return word == name or (longer > SHORT and _INNER_VOWELS.sub("", word) == _INNER_VOWELS.sub("", name))


def _plain(text: str) -> str:
    """The text without accents on Latin letters."""
    if text.isascii():
        return text
    return "".join(unicodedata.normalize("NFD", letter)[0] if letter < "ɐ" else letter for letter in text).translate(
        _LETTERS
    )
