"""How the language of a token is recognised by its letters, and the share of each language in a vocabulary.

There are two ways: by letters (Unicode's property Script; `letters.toml` of languages in Latin letters), and by ranges
of characters, as papers do it (`ranges.toml`). A language may have several readings of its ranges: each is counted.
"""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fontTools.unicodedata import script_name

from polyculture.cache.errors import CatalogError
from polyculture.cache.text.scripts import script_of
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.instruments.datasets.check import language_in_full

LETTERS = "letters"  # the other way: "ranges"
BROKEN = "\N{REPLACEMENT CHARACTER}"  # takes the place of bytes that form no complete character


@dataclass(frozen=True, slots=True)
class Writing:
    """The evidence that a token belongs to a language: letters of its scripts, or letters that only it writes."""

    scripts: frozenset[str] = frozenset()  # ISO 15924
    letters: frozenset[str] = frozenset()  # small, composed
    ranges: tuple[tuple[int, int], ...] = ()  # of code points, both ends included
    reading: str = LETTERS

    def has(self, letter: str) -> bool:
        return (
            letter.lower() in self.letters
            or any(first <= ord(letter) <= last for first, last in self.ranges)
            or bool(self.scripts and script_of(letter) in self.scripts)
        )


@dataclass(frozen=True, slots=True)
class VocabularyShare:
    """How many tokens of a vocabulary hold a letter of a language."""

    language: str
    tokens: int  # special ones left out
    own: int
    partial: int  # tokens that are a part of a letter: of which script, nobody can say
    reading: str = LETTERS  # what counts as the language's own

    @property
    def share(self) -> float | None:
        """None of an empty vocabulary."""
        return self.own / self.tokens if self.tokens else None


# CLDR's names of several scripts that a language is written in together -> the scripts by which letters are recognised.
_TOGETHER = {"Jpan": ("Hira", "Kana", "Hani"), "Kore": ("Hang",), "Hans": ("Hani",), "Hant": ("Hani",)}


@cache
def letters_of(language: str) -> Writing | None:
    """What tells a language by its letters: those of `letters.toml`, else its script by CLDR. None in Latin letters.

    English is written in these, and most of a vocabulary: a letter of theirs tells no language.
    """
    if own := _read("letters.toml").get(language):
        return Writing(letters=frozenset(own))
    script = f"{language_in_full(language)}_".split("_")[1].title()
    scripts = {one for one in _TOGETHER.get(script, (script,)) if script_name(one, None) is not None}
    return Writing(frozenset(scripts)) if scripts - {"Latn"} else None


@cache
def ranges() -> Mapping[str, tuple[Writing, ...]]:
    """The languages with ranges of characters, each with all its readings, from `ranges.toml`."""
    return {
        code: tuple(
            Writing(
                letters=frozenset(entry.get("letters", "")),
                ranges=tuple(_range(text) for text in entry.get("ranges", ())),
                reading=entry["reading"],
            )
            for entry in readings
        )
        for code, readings in _read("ranges.toml").items()
    }


def _read(file: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(file).read_text(encoding="utf-8"))


def vocabulary_shares(
    tokens: Sequence[str], languages: Iterable[str], characters: str = LETTERS
) -> list[VocabularyShare]:
    """The share of each language in a vocabulary, once per reading.

    By letters, tokens are composed first (NFC); by ranges they are taken as they stand. Raises `CatalogError` of a
    language that `characters` cannot tell.
    """
    partial = sum(BROKEN in token for token in tokens)
    by_letters = characters == LETTERS
    letters = [frozenset(unicodedata.normalize("NFC", token) if by_letters else token) for token in tokens]
    found = []
    for language in languages:
        for writing in writings_of(language, characters):
            theirs = {letter for letter in frozenset().union(*letters) if writing.has(letter)}
            own = sum(not theirs.isdisjoint(token) for token in letters)
            found.append(VocabularyShare(language, len(letters), own, partial, writing.reading))
    return found


def usual_languages(catalogue: Iterable[str], characters: str = LETTERS) -> list[str]:
    """The languages that are counted if none is named: all that have ranges; by letters, the catalogue's as well."""
    if characters != LETTERS:
        return sorted(ranges())
    return sorted(code for code in {*catalogue, *ranges()} if letters_of(code) is not None)


def writings_of(language: str, characters: str = LETTERS) -> tuple[Writing, ...]:
    """The readings of a language's distinctive writing. Raises `CatalogError` where there is none."""
    if characters == LETTERS:
        if (writing := letters_of(language)) is None:
            what = f"{language!r} cannot be told from other languages by how it is written"
            raise CatalogError(
                what, remedy="Name one that is not written in Latin letters, by its code: --language ru."
            )
        return (writing,)
    if language not in ranges():
        what = f"{language!r} has no range of characters in ranges.toml"
        raise CatalogError(what, remedy=did_you_mean(language, ranges()))
    return ranges()[language]


def _range(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    return int(first, 16), int(last, 16)
