"""What a language calls countries, and the words that are like such a name: by CLDR, and by `prompts.toml`."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import dropwhile, product
from pathlib import Path
from typing import Any

from babel import Locale, UnknownLocaleError
from babel.core import get_global
from babel.languages import get_official_languages

from polyculture.cache.catalog import Catalog
from polyculture.cache.catalog.model import country_names
from polyculture.cache.catalog.written import written_names
from polyculture.cache.errors import CatalogError
from polyculture.cache.inflection import Endings, forms
from polyculture.generate.names import read_names
from polyculture.generate.wording import read_wording

_PART = 3  # letters of a person's name: of Hindi's shorter ones some are words
_STEM = 5  # letters by which an inflected name is known: "Mexic-an"; "yeme-k" shows that four are too few
_ABJAD_STEM = 3  # the same in a script that writes few vowels
_LETTER = r"[\w\u0300-\u036f\u064b-\u065f\u0670\u0900-\u0dff]"  # `\w` alone ends a word of Hindi at each vowel
_ABJAD, _HANGUL = re.compile("[\u0590-\u06ff]"), re.compile("[\uac00-\ud7a3]")
_UNSPACED = re.compile("[\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_KATAKANA = "[\u30a1-\u30fa\u30fc]"
_JOINED = "(?:[وف]?(?:[بك]?ال|لل|[بلك])?|[ובכלמשה]{1,2})"  # what Arabic and Hebrew write as one with the next word
_ENDING = re.compile("(?:[aeiouy]+s?|ي?ة|ی)$")


@dataclass(frozen=True)
class CountryWords:
    """The names of countries in a language, in small letters, and patterns that find them and what is like them."""

    codes: Mapping[str, str]
    names: re.Pattern[str]
    like: re.Pattern[str]  # in plain letters: what is derived from names of countries, regions and languages
    persons: re.Pattern[str]
    persons_or_words: frozenset[str]
    other_places: frozenset[str]
    before: re.Pattern[str]  # what ends in a word that makes a place of the name after it
    after: re.Pattern[str]


def country_words(language: str, catalog: Catalog) -> CountryWords:
    """The words of a language. CLDR's regions of the world ("Africa") are like countries, and none."""
    codes = {
        small(form): code
        for code, name in country_names(language).items()
        if code in catalog.countries
        for form in (name, re.sub(r"\s*[(（].*", "", name))
    }
    codes |= _worded(language, catalog)
    if language == "en":
        codes |= written_names()["countries"]
    persons, table = _given_names(language), _table()
    persons_or_words = frozenset(map(small, (*persons, *table["persons_or_words"].get(language, ()))))
    other_places = frozenset(map(small, table["other_places"].get(language, ())))
    codes |= {
        form: code
        for name, code in codes.items()
        for form in _cases(name, language)
        if form not in codes and name not in persons_or_words | other_places
    }
    like = map(plain, (*codes, *_regions(language), *_languages(language)))
    before, after = (table[name].get(language, ()) for name in ("before", "after"))
    return CountryWords(
        codes,
        _any_of(map(_whole, codes)),
        _any_of(filter(None, map(_inflected, like))),
        _any_of(map(_whole, map(small, persons))),
        persons_or_words,
        other_places,
        re.compile(_any_of(map(_whole, before)).pattern + r"\s*$"),
        re.compile(r"\s*" + _any_of(("", re.escape(one), "") for one in after).pattern),
    )


def _worded(language: str, catalog: Catalog) -> dict[str, str]:
    """The names in our own prompts, where they are not CLDR's (한국), and as their case has them there, behind words in
    small letters ("aus dem Vereinigten Königreich"); a pack may have a language without prompts."""
    try:
        wording = read_wording(catalog.language(language), catalog.countries)
    except CatalogError:
        return {}
    return {
        small(name): code
        for code, one in wording.countries.items()
        for name in (one.name, *(_from_capital(form) for form in (one.form, one.origin or "") if one.name not in form))
        if code in catalog.countries and name
    }


def _from_capital(form: str) -> str:
    return "".join(dropwhile(lambda letter: not letter.isupper(), form))


def _cases(name: str, language: str) -> Iterator[str]:
    """A name with the endings of other cases, word by word: "den Niederlanden"."""
    endings: Endings = _table()["cases"]
    if language in endings:
        yield from map(" ".join, product(*((word, *forms(word, language, endings)) for word in name.split())))


def capitals_show_names(language: str) -> bool:
    """Whether a capital letter within a sentence shows a name."""
    return language not in _table()["capitals"]["of_all_nouns"]


def small(text: str) -> str:
    """A text in small letters, of the same length."""
    return "".join(low if len(low := one.lower()) == 1 else "i" for one in text)


def plain(text: str) -> str:
    """The same without accents on Latin letters: "japonés" is inflected from "Japón"."""
    return "".join(unicodedata.normalize("NFD", one)[0] if one < "\u0250" else one for one in small(text))


_Pattern = tuple[str, str, str]  # what may not stand before it, itself, and what may not follow
_NO_LETTER = f"(?<!{_LETTER})"


def _inflected(name: str) -> _Pattern | None:
    """A pattern of a name and of what is derived from it; None where the name is too short to show."""
    if _UNSPACED.match(name):
        least = 3 if "\u0e00" <= name[0] <= "\u109f" else 2
        return ("", re.escape(name), "") if len(name) >= least else None
    abjad = _ABJAD.match(name) is not None
    name, least = name.removeprefix("ال"), _ABJAD_STEM if abjad else _STEM
    stem = _ENDING.sub("", name)
    stem = stem if len(stem) >= least else name
    if len(stem) < least:
        return _whole(name)
    return _NO_LETTER + (_JOINED if abjad else ""), f"{re.escape(stem)}{_LETTER}*", ""


def _whole(name: str) -> _Pattern:
    """A pattern of a name as a whole word, as far as its script sets words apart."""
    pattern = re.escape(name)
    if re.fullmatch(f"{_KATAKANA}+", name):
        return f"(?<!{_KATAKANA})", pattern, f"(?!{_KATAKANA})"
    if _UNSPACED.match(name):
        return "", pattern, ""
    if _HANGUL.match(name):  # particles follow without a space
        return _NO_LETTER, pattern, ""
    return _NO_LETTER + (_JOINED if _ABJAD.match(name) else ""), pattern, f"(?!{_LETTER})"


def _any_of(patterns: Iterable[_Pattern]) -> re.Pattern[str]:
    """One pattern of several, the longest first; what stands around them is looked at once."""
    by_bounds: dict[tuple[str, str], set[str]] = {}
    for before, pattern, after in patterns:
        by_bounds.setdefault((before, after), set()).add(pattern)
    groups = (f"{before}(?:{'|'.join(sorted(those, key=len, reverse=True))}){after}"
              for (before, after), those in by_bounds.items())  # fmt: skip
    return re.compile(f"(?:{'|'.join(groups) or '(?!)'})")


def _regions(language: str) -> set[str]:
    """Regions of several countries, by the names of one word: of "Western Africa" the first says nothing."""
    names = {name for code, name in country_names(language).items() if code.isdigit() and code != "001"}
    return {name for name in names if " " not in name}


def _languages(language: str) -> set[str]:
    """The names of languages that are official somewhere: those of all would have "Even" and "Male" among them."""
    try:
        names = Locale.parse(language.replace("-", "_")).languages
    except (UnknownLocaleError, ValueError):
        return set()
    return {str(names[code]) for code in _official_languages() if names.get(code)}


@cache
def _official_languages() -> frozenset[str]:
    territories = get_global("territory_languages")
    return frozenset(code for one in territories for code in get_official_languages(one, regional=True, de_facto=True))


def _given_names(language: str) -> frozenset[str]:
    """The names of persons that are asked about here, by their parts where these are long enough to be names."""
    every = (name for names in read_names().values() for name in (*names.male, *names.female))
    return frozenset(part for name in every for part in name.spelled(language).split() if len(part) >= _PART)


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("prompts.toml").read_text(encoding="utf-8"))
