"""Folds a text so that spellings of the same name are equal, and maps folded characters to their offsets.

Folding covers NFKC (full-width letters, composed and decomposed ones), letter case with the Turkish i, Arabic and
Persian letter variants, optional vowel signs, apostrophes, dashes, dots between parts of a name, and white space.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_MERGED = {
    "'": "’‘ʼ",
    "-": "‐‑‒–—−",
    "·": "・･•‧∙",
    " ": "\u200c",  # the zero-width non-joiner separates parts of a Persian word
    "ی": "يىئ",
    "ک": "ك",
    "ا": "أإآٱ",
    "ه": "ةۀ",
    "و": "ؤ",
    "i": "Iİı",
}
# Joiners, marks of direction, soft hyphen, tatweel, Arabic vowel signs, nukta, variation selectors.
_DROPPED = re.compile(
    "[\u200b\u200d\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\u00ad\u0640\u064b-\u0655\u0670\u093c\ufe00-\ufe0f]"
)
_ONE_FOR_MANY = {char: one for one, many in _MERGED.items() for char in many}
_TWO_SPACES = "  "
# Combining characters: accents, kana voicing marks, vowels and finals of Korean syllables.
_COMPOSING = re.compile("[\u0300-\u036f\u3099\u309a\u1160-\u11ff]")
_CLUSTER = re.compile(f".{_COMPOSING.pattern}*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text. `starts` holds the offset in the original of each character, and of the end.

    `starts` is None where all offsets are the same.
    """

    text: str
    starts: Sequence[int] | None

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """The original's offsets of `text[start:end]`; None where an edge is inside an original character."""
        if self.starts is None:
            return start, end
        first, last = self.starts[start], self.starts[end]
        if (start and self.starts[start - 1] == first) or self.starts[end - 1] == last:
            return None
        return first, last


class _Folds(dict[str, str]):
    """Character, or base character with its marks -> folded form; filled on demand."""

    def __missing__(self, char: str) -> str:
        folded = self[char] = _fold_cluster(char)
        return folded


def _fold_cluster(cluster: str) -> str:
    plain = "".join(_ONE_FOR_MANY.get(char, char) for char in unicodedata.normalize("NFKC", cluster))
    folded = unicodedata.normalize("NFKC", plain.casefold())
    folded = "".join(_ONE_FOR_MANY.get(char, char) for char in folded)
    return " " if folded.isspace() else _DROPPED.sub("", folded)


_FOLDS = _Folds()
_ASCII = {code: _fold_cluster(chr(code)) for code in range(128)}  # one letter each: offsets stay


def fold(text: str) -> Folded:
    """The folded text with its offsets."""
    if text.isascii() and _TWO_SPACES not in (plain := text.translate(_ASCII)):
        return Folded(plain, None)
    if not _COMPOSING.search(text):
        parts = list(map(_FOLDS.__getitem__, text))
        joined = "".join(parts)
        if len(joined) == len(text) and "" not in parts and _TWO_SPACES not in joined:
            return Folded(joined, None)
        return _fold_moving(parts, range(len(text)), len(text))
    clusters = list(_CLUSTER.finditer(text))
    return _fold_moving([_FOLDS[c.group()] for c in clusters], [c.start() for c in clusters], len(text))


def is_dropped(char: str) -> bool:
    """Does folding drop the character? Mostly invisible characters."""
    return not _FOLDS[char]


def fold_name(name: str) -> str:
    """The form of a name in a folded text."""
    return fold(name).text.strip()


def without_spaces(folded: Folded) -> Folded:
    """The folded text without spaces, for names whose parts are written together or apart."""
    if " " not in folded.text:
        return folded
    kept = [place for place, char in enumerate(folded.text) if char != " "]
    starts = folded.starts if folded.starts is not None else range(len(folded.text) + 1)
    return Folded("".join(folded.text[k] for k in kept), [*(starts[k] for k in kept), starts[len(folded.text)]])


def _fold_moving(parts: Sequence[str], places: Sequence[int], end: int) -> Folded:
    text = "".join(parts)
    starts: list[int] = []
    done = 0
    for odd in [at for at, length in enumerate(map(len, parts)) if length != 1]:
        starts.extend(places[done:odd])
        starts.extend([places[odd]] * len(parts[odd]))
        done = odd + 1
    starts.extend(places[done:])
    if _TWO_SPACES in text:
        kept = [at for at, char in enumerate(text) if char != " " or not at or text[at - 1] != " "]
        text, starts = "".join(text[at] for at in kept), [starts[at] for at in kept]
    return Folded(text, [*starts, end])
