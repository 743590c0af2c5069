"""Tokenises text set-wise: a token is a 64-bit hash, and a million characters are processed at a time.

A token is a run of letters, marks and digits; or one other sign that is no space; or, in scripts whose words no space
sets apart (Han, kana, Thai, Lao, Khmer, Burmese), one letter with its marks. So is a Hangul syllable: in Korean a
particle stands behind nearly every name without a space, and a word would be another one with each of them. Case,
Arabic vowel signs, the tatweel and what is not seen make no difference. Lines are texts of their own.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from polyculture.extract.boundaries import CLASSES, CharClass

VERSION = 1  # of the tokenisation; raise it when counts change
PIECE = 1 << 20  # characters per call
Hashes = NDArray[np.uint64]

_SPACE, _LINE, _WORD, _SIGN, _MARK, _UNSEEN = range(6)
_POINTS = 0x40000  # letters stand below; what is above is a sign
_LINES = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
_WORDS = (CharClass.SPACED, CharClass.LATIN)
_UNWRITTEN = frozenset([0x0640, 0x0670, *range(0x064B, 0x0653)])  # tatweel; the vowel signs of Arabic
_HANGUL = range(0xAC00, 0xD7A4)
_BASE, _INVERSE = 0x9E3779B97F4A7C15, pow(0x9E3779B97F4A7C15, -1, 1 << 64)


@dataclass(frozen=True, slots=True)
class HashedTokens:
    """The tokens of a text: a hash each, and their line numbers, from 0."""

    hashes: Hashes
    lines: NDArray[np.int32]


def cut(text: str) -> HashedTokens:
    """The tokens of a text of at most `PIECE` characters.

    A token's hash is a polynomial in its letters modulo 2^64; spaces add nothing to it, so that a token may be summed
    up to where the next one begins.
    """
    points = np.frombuffer(unicodedata.normalize("NFC", text).encode("utf-32-le", "surrogatepass"), np.uint32)
    points = np.minimum(points, _POINTS - 1)
    kinds = _kinds()[points]
    if (unseen := kinds == _UNSEEN).any():
        points, kinds = points[~unseen], kinds[~unseen]
    starts = np.flatnonzero(_begins(kinds))
    if not len(starts):
        return HashedTokens(np.empty(0, np.uint64), np.empty(0, np.int32))
    powers, inverses = _powers(max(PIECE, 1 << len(points).bit_length()))  # composing may make a text longer
    sums = np.add.reduceat(_values()[points] * powers[: len(points)], starts)
    lines = np.cumsum(kinds == _LINE, dtype=np.int32)[starts]
    return HashedTokens(mixed(sums * inverses[starts]), lines)


def cut_each(texts: Sequence[str]) -> list[Hashes]:
    """The tokens of each of many short texts."""
    found = cut("\n".join(" ".join(text.splitlines()) for text in texts))
    ends = np.searchsorted(found.lines, np.arange(len(texts)), "right")
    return np.split(found.hashes, ends[:-1])


def pieces(text: str) -> Iterator[str]:
    """A text in pieces that `cut` takes, parted where a line ends, else at a space, else anywhere."""
    place = 0
    while len(text) - place > PIECE:
        end = max(text.rfind("\n", place, place + PIECE), place) or place
        if end == place:
            end = max(text.rfind(" ", place, place + PIECE), place)
        end = place + PIECE if end == place else end + 1
        yield text[place:end]
        place = end
    yield text[place:]


def word_at_end(text: str) -> str:
    """The part of a word that a text ends in: what follows without a space is the same token."""
    kinds = _kinds()
    place = len(text)
    while place and kinds[min(ord(text[place - 1]), _POINTS - 1)] in (_WORD, _UNSEEN):
        place -= 1
    return text[place:]


def begins_with_word(text: str) -> bool:
    """Whether a text begins with a letter that goes on with the word before it."""
    return bool(text) and bool(_kinds()[min(ord(text[0]), _POINTS - 1)] == _WORD)


def mixed(values: Hashes) -> Hashes:
    """The same numbers with their bits spread, one to one (the finish of SplitMix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _begins(kinds: NDArray[np.uint8]) -> NDArray[np.bool_]:
    before = np.empty_like(kinds)
    before[:1], before[1:] = _SPACE, kinds[:-1]
    word = (kinds == _WORD) & (before != _WORD)
    orphan = (kinds == _MARK) & (before <= _LINE)
    found: NDArray[np.bool_] = word | (kinds == _SIGN) | orphan
    return found


@cache
def _kinds() -> NDArray[np.uint8]:
    return np.fromiter((_kind(chr(point)) for point in range(_POINTS)), np.uint8, _POINTS)


def _kind(char: str) -> int:
    category = unicodedata.category(char)
    if char in _LINES:
        return _LINE
    if ord(char) in _UNWRITTEN or category == "Cf":
        return _UNSEEN
    if category[0] in "ZC" and category != "Cn":
        return _SPACE
    if ord(char) in _HANGUL:
        return _SIGN
    known = CLASSES[char]
    if known in _WORDS:
        return _WORD
    return _MARK if category[0] == "M" else _SIGN


@cache
def _values() -> Hashes:
    """Each character's term in a hash: a number of its lower-case letter; 0 for a space."""
    small = (char.lower() if len(char.lower()) == 1 else char for char in map(chr, range(_POINTS)))
    numbers = np.fromiter(map(ord, small), np.uint64, _POINTS)
    return np.where(_kinds() <= _LINE, np.uint64(0), mixed(numbers + np.uint64(1)))


@cache
def _powers(size: int) -> tuple[Hashes, Hashes]:
    """The powers of the base and of its inverse."""
    one = np.ones(1, np.uint64)
    first, second = (np.r_[one, np.full(size - 1, base, np.uint64)] for base in (_BASE, _INVERSE))
    return np.multiply.accumulate(first), np.multiply.accumulate(second)
