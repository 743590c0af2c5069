"""Folds texts so that spellings of the same thing are equal.

Every fold is Unicode NFKC, case folding, a table of letters and single blanks. What is compared decides the table:

| form | compares | apostrophes | dashes | other punctuation |
| --- | --- | --- | --- | --- |
| `PLAIN` | terms, labels, items | stay | stay | stays |
| `NAMES` | names of Wikidata with mentions | removed | blanks | quotation marks removed |
| `SURFACES` | surfaces with their text, offsets kept | merged | merged | stays |
| `PHRASES` | phrases of refusals with texts | removed | blanks | blanks |
| `ANSWERS` | answers, by SQuAD's exact match | removed | removed | removed |

The groups of letters are those of `letters.toml`.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

_TWO_SPACES = "  "
# Combining characters: accents, kana voicing marks, vowels and finals of Korean syllables.
_COMPOSING = re.compile("[\u0300-\u036f\u3099\u309a\u1160-\u11ff]")
_CLUSTER = re.compile(f".{_COMPOSING.pattern}*", re.DOTALL)


@cache
def _groups() -> dict[str, str | list[str]]:
    groups: dict[str, str | list[str]] = tomllib.loads(Path(__file__).with_name("letters.toml").read_text("utf-8"))
    return groups


class Letters(dict[int, str | None]):
    """Code point -> its folded form, as `str.translate` reads it. White space, digits and what a category decides are
    added on demand: to look for them in all of Unicode takes longer than most commands fold.

    None removes a letter: an empty text would, too, at five times the cost.
    """

    def __init__(self, form: Folding) -> None:
        self._removed, self._blank, self._digits = form.removed_categories, form.blank_categories, form.ascii_digits
        for group in form.merged:
            for letters in (_groups()[group],) if isinstance(_groups()[group], str) else _groups()[group]:
                self.update({ord(letter): letters[0] for letter in letters[1:]})
        for group in form.blank:
            self.update({ord(letter): " " for letter in _groups()[group]})
        for group in form.removed:
            self.update(dict.fromkeys(map(ord, _groups()[group])))

    def __missing__(self, code: int) -> str | None:
        letter = chr(code)
        category = unicodedata.category(letter)
        if letter.isspace():
            self[code] = " "
        elif self._digits and category == "Nd" and code < 0x10000:
            self[code] = str(unicodedata.digit(letter))
        elif category.startswith(self._removed):
            self[code] = None
        else:
            self[code] = " " if category.startswith(self._blank) else letter
        return self[code]


@dataclass(frozen=True)
class Folding:
    """What becomes of letters: groups of `letters.toml` and Unicode categories (`P` is all punctuation).

    Without an entry a letter stays as it is. White space becomes a blank.
    """

    merged: tuple[str, ...] = ()
    blank: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    removed_categories: tuple[str, ...] = ()
    blank_categories: tuple[str, ...] = ()
    ascii_digits: bool = False  # decimal digits of all scripts are 0 to 9

    @cached_property
    def letters(self) -> Letters:
        return Letters(self)


PLAIN = Folding()
NAMES = Folding(
    merged=("arabic",),
    blank=("dashes", "dots", "joins"),
    removed=("arabic_vowels", "invisible", "non_joiner", "apostrophes", "accents", "quotes"),
    ascii_digits=True,
)
SURFACES = Folding(
    merged=("arabic", "hamza_seats", "dotless_i", "apostrophes", "dashes", "dots"),
    blank=("non_joiner",),
    removed=("arabic_vowels", "nukta", "invisible", "other_variation_selectors"),
)
PHRASES = Folding(
    merged=("arabic", "hamza_seats", "dotless_i", "candrabindu"),
    removed=("arabic_vowels", "quranic", "nukta", "dot_above", "apostrophes", "accents"),
    removed_categories=("Cf",),
    blank_categories=("P", "S", "Z", "C"),
)
ANSWERS = Folding(removed=("arabic_vowels", "quranic"), removed_categories=("P", "S"))


def nfkc(text: str) -> str:
    """NFKC of the lines that need it: the check costs a tenth of it, and most lines do not.

    A check of the whole text would normalise all of it, for one letter that may combine with another.
    """
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if not unicodedata.is_normalized("NFKC", line):
            lines[number] = unicodedata.normalize("NFKC", line)
    return "\n".join(lines)


def fold_case(text: str, *, turkish: bool = False) -> str:
    """A text in NFKC and without letter case. In Turkish a capital I without a dot is a dotless small one."""
    # NFKC would decompose an acute accent used as an apostrophe into a space and a mark.
    text = nfkc(text.replace("´", "'"))
    if turkish:
        text = text.replace("İ", "i").replace("I", "ı")
    # Case folding gives i with a combining dot for a dotted capital I, which nobody types.
    return text.casefold().replace("i\u0307", "i")


def fold(text: str, form: Folding = PLAIN) -> str:
    """The words of a text in a form, with one blank between two."""
    if text.isascii():  # NFKC has nothing to do
        return " ".join(text.lower().translate(form.letters).split())
    return " ".join(nfkc(fold_case(text).translate(form.letters)).split())


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


class _FoldedClusters(dict[str, str]):
    """Character, or base character with its marks -> folded form; filled on demand."""

    def __missing__(self, cluster: str) -> str:
        folded = nfkc(fold_case(cluster).translate(SURFACES.letters))
        self[cluster] = " " if folded.isspace() else folded
        return self[cluster]


_CLUSTERS = _FoldedClusters()


def fold_with_offsets(text: str) -> Folded:
    """A text in the form `SURFACES`, with the offsets of its characters. Blanks at its ends stay."""
    if text.isascii() and _TWO_SPACES not in (plain := text.lower().translate(SURFACES.letters)):
        return Folded(plain, None)
    if not _COMPOSING.search(text):
        parts = list(map(_CLUSTERS.__getitem__, text))
        joined = "".join(parts)
        if len(joined) == len(text) and "" not in parts and _TWO_SPACES not in joined:
            return Folded(joined, None)
        return _fold_moving(parts, range(len(text)), len(text))
    clusters = list(_CLUSTER.finditer(text))
    return _fold_moving([_CLUSTERS[c.group()] for c in clusters], [c.start() for c in clusters], len(text))


def fold_surface(name: str) -> str:
    """The form of a name in a text of `fold_with_offsets`."""
    return fold_with_offsets(name).text.strip()


def is_dropped(char: str) -> bool:
    """Does `fold_with_offsets` drop the character? Mostly invisible characters."""
    return not _CLUSTERS[char]


def is_composing(char: str) -> bool:
    """Does `fold_with_offsets` fold the character together with the one before it?"""
    return _COMPOSING.match(char) is not None


def without_spaces(folded: Folded) -> Folded:
    """The folded text without spaces, for names whose parts are written together or apart."""
    if " " not in folded.text:
        return folded
    kept = [place for place, char in enumerate(folded.text) if char != " "]
    starts = folded.starts if folded.starts is not None else range(len(folded.text) + 1)
    return Folded("".join(folded.text[k] for k in kept), [*(starts[k] for k in kept), starts[len(folded.text)]])


def _fold_moving(parts: Sequence[str], places: Sequence[int], end: int) -> Folded:
    """Joins the parts, which begin at `places`, and makes runs of blanks one."""
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
