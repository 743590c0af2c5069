"""Which person a stereotype is about: names of groups, brought to one name by `groups.toml`."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("groups.toml")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_EMPTY = frozenset({"the", "a", "an", "people", "person", "individual", "folk", "friend", "of", "who", "are", "is"})
_NEGATIONS = frozenset({"non", "not", "no", "without"})
# Endings of words that have lost the s of a plural; a singular that ends alike is changed in the same way.
_PLURALS = [
    (re.compile(pattern), singular)
    for pattern, singular in (
        ("children$", "child"),
        ("men$", "man"),
        ("(wi|kni|^li)ve$", r"\1fe"),
        ("(thie|wol|el|hal|cal|lea|loa|hoo|scar|dwar)ve$", r"\1f"),
        ("(?<=..)ie$", "y"),
        ("(?<=..)oe$", "o"),
        ("(?<=ss|sh|ch|.x)e$", ""),
        ("(?<=...)se$", ""),
        ("(?<=..s)e$", ""),
    )
]
GroupWords = Mapping[str, frozenset[str]]  # kind of group -> the groups of that kind


@dataclass(frozen=True, slots=True)
class Person:
    """One of the persons of a question, as the files and the option describe her."""

    name: str  # "Nigerian", "Jamal Washington"
    code: str  # "Africa", "M-Black"; empty where the publisher left it out
    text: str  # "The Nigerian friend"


@dataclass(frozen=True)
class Category:
    """The names of a category's groups: by kind, each name to its group."""

    kinds: Mapping[str, Mapping[str, str]]
    crossed: bool = False
    otherwise: str | None = None

    def of_group(self, text: str) -> GroupWords:
        """The groups that a stereotyped group's name means: "transgender men" are of one kind, "F-Black" is of two."""
        said, found = plain(text), _named(plain(text), {name for names in self.kinds.values() for name in names})
        if not found and said and self.otherwise is not None:
            return {kind: frozenset({self.otherwise}) for kind in self.kinds}
        return self._by_kind(found)

    def of_person(self, person: Person) -> GroupWords:
        """The groups of a person. A name or the text counts for the kinds of group that the code leaves open."""
        found: dict[str, frozenset[str]] = {}
        for text in (person.code, person.name, person.text):
            said = plain(text)
            found = {**self._by_kind({one for names in self.kinds.values() for one in _named(said, names)}), **found}
        if not found and person.code and self.otherwise is not None:
            return {kind: frozenset({self.otherwise}) for kind in self.kinds}
        return found

    def _by_kind(self, found: Set[str]) -> GroupWords:
        every = {kind: frozenset(names[one] for one in found & names.keys()) for kind, names in self.kinds.items()}
        return {kind: groups for kind, groups in every.items() if groups}


@cache
def categories() -> Mapping[str, Category]:
    """The categories of `groups.toml` by their name in small letters."""
    found = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {name.casefold(): _category(found, table) for name, table in found.items()}


def _category(found: Mapping[str, Any], table: Mapping[str, Any]) -> Category:
    kinds = {}
    for kind, groups in table.items():
        if kind in ("crossed", "otherwise"):
            continue
        groups = found[groups][kind] if isinstance(groups, str) else groups
        kinds[kind] = {plain(name): group for group, names in groups.items() for name in (group, *names)}
    return Category(kinds, table.get("crossed", False), table.get("otherwise"))


def targets(category: str, groups: Sequence[str], persons: Sequence[Person]) -> list[int]:
    """The indices of the persons whom a stereotype about `groups` is about; exactly one where it can be told.

    Names that equal each other decide before names that mean the same, and these before shared words. A category
    without an entry in the data file is compared by names and words alone.
    """
    known = categories().get(category.strip().casefold(), Category({}))
    found: list[int] = []
    for way in (_by_name, _by_group, _by_words):
        if way is not _by_group and known.crossed:
            continue
        matching = [number for number, person in enumerate(persons) if way(known, groups, person)]
        if len(matching) == 1:
            return matching
        found = found or matching
    return found


def split_groups(text: str) -> list[str]:
    """The groups of a list written as text: "['Black', 'African American']"."""
    parts = re.split(r"[,;/]", re.sub(r"[\[\]\"]|(?<!\w)'|'(?!\w)", "", text))
    return [part.strip() for part in parts if part.strip() and part.strip() not in ("NA", "None")]


def _by_name(_: Category, groups: Sequence[str], person: Person) -> bool:
    return not {plain(person.name), plain(person.code)}.isdisjoint(set(map(plain, groups)) - {""})


def _by_group(category: Category, groups: Sequence[str], person: Person) -> bool:
    named = [one for one in map(category.of_group, groups) if one]
    if not category.crossed:
        return any(_share(one, category.of_person(person), every=False) for one in named)
    pairs = [one for one in named if len(one) > 1]  # "F-Black"
    single = {kind: frozenset().union(*(one.get(kind, frozenset()) for one in named)) for kind in category.kinds}
    wanted = pairs or [{kind: groups for kind, groups in single.items() if groups}]
    return any(one and _share(one, category.of_person(person), every=True) for one in wanted)


def _share(wanted: GroupWords, person: GroupWords, *, every: bool) -> bool:
    shared = [not wanted[kind].isdisjoint(person.get(kind, frozenset())) for kind in wanted]
    return all(shared) if every else any(shared)


def _by_words(_: Category, groups: Sequence[str], person: Person) -> bool:
    return any(
        _contained(plain(said).split(), plain(group).split()) for group in groups for said in (person.code, person.name)
    )


def _contained(first: Iterable[str], second: Iterable[str]) -> bool:
    """Are all words of one among those of the other, and is none or are both of them negated?"""
    one, two = frozenset(first), frozenset(second)
    alike = bool(one & _NEGATIONS) == bool(two & _NEGATIONS)
    return bool(one and two) and alike and (one - _NEGATIONS <= two or two - _NEGATIONS <= one)


def _named(said: str, names: Iterable[str]) -> set[str]:
    """The names in a text, longer ones first, so that an "African American" is no "American"."""
    found, left = set(), f" {said} "
    for name in sorted(names, key=len, reverse=True):
        if name and f" {name} " in left:
            found.add(name)
            left = left.replace(f" {name} ", " | ")
    return found


@lru_cache(maxsize=65536)
def plain(text: str) -> str:
    """A name as names are compared: words in small letters, in the singular, without accents and signs."""
    parted = _CAMEL.sub(" ", unicodedata.normalize("NFKD", text)).casefold().replace("'", "").replace("’", "")
    signs = "".join(sign for sign in parted if not unicodedata.combining(sign))
    words = [_singular(word) for word in re.findall(r"\w+", signs.replace("_", " "))]
    return " ".join(word for word in words if word not in _EMPTY) or " ".join(words)


def _singular(word: str) -> str:
    """What an English noun and its plural have in common: "gypsy" of "Gypsies", "hero" of "heroes", "wolf" of "wolves".

    It need not be a word: "ahmadi" and "hindu" are what "Ahmadis" and "Hindus" lose their s for, which "is" and "us" do
    not tell, so "virus" and "viruses" are "viru", "nurse" and "nurses" are "nur".
    """
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    for pattern, singular in _PLURALS:
        if pattern.search(word):
            return pattern.sub(singular, word)
    return word
