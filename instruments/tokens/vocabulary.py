"""How much of a model's vocabulary is a language's own."""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from polyculture.cache.errors import CatalogError, did_you_mean
from polyculture.cache.scripts import script_of

BROKEN = "\N{REPLACEMENT CHARACTER}"  # stands for bytes that are no whole letter


@dataclass(frozen=True, slots=True)
class Writing:
    """The evidence that a token belongs to a language: letters of its scripts, or letters that only it writes."""

    scripts: frozenset[str] = frozenset()  # ISO 15924
    letters: frozenset[str] = frozenset()  # small, composed

    def has(self, letter: str) -> bool:
        return letter.lower() in self.letters or script_of(letter) in self.scripts


@dataclass(frozen=True, slots=True)
class VocabularyShare:
    """How many tokens of a vocabulary hold a letter of a language."""

    language: str
    tokens: int  # special ones left out
    own: int
    partial: int  # tokens that are a part of a letter: of which script, nobody can say

    @property
    def share(self) -> float | None:
        """None of an empty vocabulary."""
        return self.own / self.tokens if self.tokens else None


@cache
def writings() -> Mapping[str, Writing]:
    """The languages that their writing distinguishes from others, from `writing.toml`."""
    found = tomllib.loads(Path(__file__).with_name("writing.toml").read_text(encoding="utf-8"))
    return {code: Writing(**{key: frozenset(value) for key, value in entry.items()}) for code, entry in found.items()}


def vocabulary_shares(tokens: Sequence[str], languages: Iterable[str]) -> list[VocabularyShare]:
    """The share of each language in a vocabulary. Raises `CatalogError` of a language that is not in `writing.toml`."""
    partial = sum(BROKEN in token for token in tokens)
    letters = [frozenset(unicodedata.normalize("NFC", token)) for token in tokens]
    return [_share(language, letters, partial) for language in languages]


def _share(language: str, letters: Sequence[frozenset[str]], partial: int) -> VocabularyShare:
    writing = writing_of(language)
    theirs = {letter for letter in frozenset().union(*letters) if writing.has(letter)}
    return VocabularyShare(language, len(letters), sum(not theirs.isdisjoint(token) for token in letters), partial)


def writing_of(language: str) -> Writing:
    """A language's distinctive writing. Raises `CatalogError` if other languages share its writing."""
    known = writings()
    if language not in known:
        what = f"{language!r} cannot be told from other languages by how it is written"
        raise CatalogError(what, remedy=did_you_mean(language, known))
    return known[language]
