"""Which countries an imported prompt names: in its own language, that of the answer and English, by CLDR's names.

A country is named where its name is whole, written as a name, and nothing else in that place: "turkey", "Chad is at
home", "Michael Jordan" and "New Mexico" may be no country. What is like a name ("Italian food", "Paris") is none. That
a prompt names no country is never concluded: nobody can list all the words that lead to one. Where the row says the
country in another column, its own spelling of it counts as a name, too (`PromptReader.holds`).
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import dropwhile, product
from pathlib import Path
from typing import Any

from polyculture.cache.catalog import Catalog
from polyculture.cache.catalog.cldr import country_names
from polyculture.cache.catalog.everyday import written_names
from polyculture.cache.errors import CatalogError
from polyculture.cache.text.inflection import forms
from polyculture.generate.detection import detect
from polyculture.generate.wording import country_called, read_wording

_LONGEST_CODE = 3  # letters of an ISO 3166 code
LONGEST = 1_000  # characters: a longer prompt may name a country and ask about another thing
# Before the first word of a sentence; the apostrophe of "dall'Italia" is none.
_START = re.compile(r"(?:^|[.!?…:;\n\"“”„«»‘(\[*#>¿¡-]|(?<!\w)['’])\s*$")
_CAPITAL = re.compile(r"(?<!\w)[^\W\d_](?:\w|[’'-](?=\w))+")
_SUBJECT = re.compile(r"(?:['’]s)? [^\W\d_A-Z]")
# `\w` alone ends a word of Hindi at each vowel; a danda (U+0964, U+0965) ends a sentence.
_LETTER = r"[\w\u0300-\u036f\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff]"
_NO_LETTER = f"(?<!{_LETTER})"
_ABJAD, _HANGUL = re.compile("[\u0590-\u06ff]"), re.compile("[\uac00-\ud7a3]")
_UNSPACED = re.compile("[\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_KATAKANA = "[\u30a1-\u30fa\u30fc]"
_JOINED = "(?:[وف]?(?:[بك]?ال|لل|[بلك])?|[ובכלמשה]{1,2})"  # what Arabic and Hebrew write as one with the next word


@dataclass(frozen=True, slots=True)
class NamedCountries:
    """The countries that a prompt names."""

    countries: frozenset[str] = frozenset()
    possible: frozenset[str] = frozenset()  # these, and those whose name may be another thing here


@dataclass(frozen=True)
class _CountryWords:
    """The names of countries in a language, in small letters, and a pattern that finds them."""

    codes: Mapping[str, str]
    names: re.Pattern[str]
    ambiguous: frozenset[str]  # names of persons, words, and other places


@dataclass(frozen=True)
class PromptReader:
    """Finds countries in prompts; equal prompts are looked at once."""

    catalog: Catalog
    _seen: dict[tuple[str, str], NamedCountries] = field(default_factory=dict)
    _words: dict[str, _CountryWords] = field(default_factory=dict)
    _lines: dict[str, Mapping[str, str]] = field(default_factory=dict)  # by language: `_plain_lines`

    def named(self, prompt: str, language: str) -> NamedCountries:
        """The countries that a prompt names, whose answer is in a language; it may be in another one itself."""
        found = self._seen.get((prompt, language))
        if found is None:
            found = self._seen[prompt, language] = self._named(unicodedata.normalize("NFC", prompt), language)
        return found

    def holds(self, prompt: str, written: str, language: str) -> bool:
        """Whether a prompt holds a country as its own row writes it, in whatever spelling and language.

        It is a whole name, with a capital letter where the row has one. Codes are no names: `IN` and `US` are words.
        """
        name = _small(unicodedata.normalize("NFC", written).strip())
        if not name or (name.isascii() and len(name) <= _LONGEST_CODE) or len(prompt) > LONGEST:
            return False
        text = unicodedata.normalize("NFC", prompt)
        pattern = _any_of(_whole(form) for form in (name, *_cases(name, language)))
        at = [match.end() - len(name) for match in pattern.finditer(_small(text)) if match[0].endswith(name)]
        return any(written.strip()[0].islower() or not text[start].islower() for start in at)

    def country(self, written: str) -> str | None:
        """The one country that has this name in prompts of any of the catalogue's languages: アメリカ; else None."""
        name = _small(unicodedata.normalize("NFC", written).strip())
        found = {words.codes.get(name) for words in map(self._of, self.catalog.languages)} - {None}
        return found.pop() if len(found) == 1 else None

    def _named(self, text: str, language: str) -> NamedCountries:
        if len(text) > LONGEST:
            return NamedCountries()
        languages, low = self._languages(text, language), _small(text)
        ours = {code for one in languages for code in map(self._plain(one).get, text.splitlines()) if code}
        if ours:  # the line of the wording `plain` names its country, and nothing else of such a prompt does
            return NamedCountries(frozenset(ours), frozenset(ours))
        capitals = not any(one in _table()["capitals"]["of_all_nouns"] for one in languages)
        certain, doubted, read = set[str](), set[str](), set[int]()
        for one in dict.fromkeys((*languages, "en")):
            words = self._of(one)
            for match in words.names.finditer(low):
                name = next(name for name in _endings(match[0]) if name in words.codes)
                start, end = match.end() - len(name), match.end()
                if start in read or (one not in languages and text[start].islower()):
                    continue  # a small word of the prompt's language may look like an English name
                read.update(range(start, end))
                (certain if _is_country(words, text, start, end, capitals=capitals) else doubted).add(words.codes[name])
        # A name that is somebody's in one place is nobody's country in another.
        return NamedCountries(frozenset(certain - doubted), frozenset(certain | doubted))

    def _languages(self, prompt: str, language: str) -> tuple[str, ...]:
        """That of the answer, and the prompt's own where it is another: a study may ask all languages in its own."""
        own = detect(prompt, self.catalog.language(language), self.catalog).language
        return (language, own) if own is not None and own not in (language, "en") else (language,)

    def _plain(self, language: str) -> Mapping[str, str]:
        if language not in self._lines:
            self._lines[language] = _plain_lines(language, self.catalog)
        return self._lines[language]

    def _of(self, language: str) -> _CountryWords:
        if language not in self._words:
            self._words[language] = _country_words(language, self.catalog)
        return self._words[language]


def _is_country(words: _CountryWords, text: str, start: int, end: int, *, capitals: bool) -> bool:
    """Whether a name in a text can be nothing but the country."""
    before, after = text[:start], text[end:]
    if _small(text[start:end]) in words.ambiguous or text[start].islower():
        return False
    if not text[start].isupper():  # a script without capitals
        return True
    if _START.search(before) and _SUBJECT.match(after):  # a country's sentence, or a person's
        return False
    neighbours = [
        next((one for one in _within(text) if one.end() == start - 1), None),
        re.match(r" [^\W\d_]\w+", after),
    ]
    return not capitals or not any(one and one[0].strip()[0].isupper() for one in neighbours)


def _within(text: str) -> Iterator[re.Match[str]]:
    """The words within sentences that begin with a capital letter."""
    for match in _CAPITAL.finditer(text):
        if match[0][0].isupper() and not _START.search(text[: match.start()]):
            yield match


def _endings(matched: str) -> Iterator[str]:
    """A match without the letters that are joined to the name."""
    return (matched[start:] for start in range(len(matched)))


def _country_words(language: str, catalog: Catalog) -> _CountryWords:
    codes = {
        _small(form): code
        for code, name in country_names(language).items()
        if code in catalog.countries
        for form in (name, re.sub(r"\s*[(（].*", "", name))
    }
    codes |= _worded(language, catalog)
    if language == "en":
        codes |= written_names()["countries"]
    ambiguous = frozenset(map(_small, _table()["ambiguous"].get(language, ())))
    cases = {form: code for name, code in codes.items() if name not in ambiguous for form in _cases(name, language)}
    codes = cases | codes
    return _CountryWords(codes, _any_of(map(_whole, codes)), ambiguous)


def _plain_lines(language: str, catalog: Catalog) -> Mapping[str, str]:
    """The line of the wording `plain` that names a country, for each country. Empty in a language without."""
    known = catalog.languages.get(language)
    try:
        wording = None if known is None else read_wording(known, catalog.countries)
    except CatalogError:
        return {}
    if known is None or wording is None or wording.plain is None:
        return {}
    names = {code: country_called(code, known, wording) for code in catalog.countries}
    line = wording.plain.country.text
    return {
        unicodedata.normalize("NFC", line.replace("{country_name}", name)): code for code, name in names.items() if name
    }


def _worded(language: str, catalog: Catalog) -> dict[str, str]:
    """The names in our own prompts, where they are not CLDR's (한국), and as their case has them there, behind words in
    small letters ("aus dem Vereinigten Königreich"); a pack may have a language without prompts."""
    try:
        wording = read_wording(catalog.language(language), catalog.countries)
    except CatalogError:
        return {}
    return {
        _small(name): code
        for code, one in wording.countries.items()
        for name in (one.name, *(_from_capital(form) for form in (one.form, one.origin or "") if one.name not in form))
        if code in catalog.countries and name
    } | {_small(name): code for code, name in (wording.plain.countries if wording.plain else {}).items()}


def _from_capital(form: str) -> str:
    return "".join(dropwhile(lambda letter: not letter.isupper(), form))


def _cases(name: str, language: str) -> Iterator[str]:
    """A name with the endings of other cases, word by word: "den Niederlanden"."""
    endings = _table()["cases"]
    if language in endings:
        yield from map(" ".join, product(*((word, *forms(word, language, endings)) for word in name.split())))


def _small(text: str) -> str:
    """A text in small letters, of the same length."""
    return "".join(low if len(low := one.lower()) == 1 else "i" for one in text)


def _whole(name: str) -> tuple[str, str, str]:
    """A pattern of a name as a whole word, as far as its script sets words apart: what may not stand before it, itself,
    and what may not follow."""
    pattern = re.escape(name)
    if re.fullmatch(f"{_KATAKANA}+", name):
        return f"(?<!{_KATAKANA})", pattern, f"(?!{_KATAKANA})"
    if _UNSPACED.match(name):
        return "", pattern, ""
    if _HANGUL.match(name):  # particles follow without a space
        return _NO_LETTER, pattern, ""
    return _NO_LETTER + (_JOINED if _ABJAD.match(name) else ""), pattern, f"(?!{_LETTER})"


def _any_of(patterns: Iterable[tuple[str, str, str]]) -> re.Pattern[str]:
    """One pattern of several, the longest first; what stands around them is looked at once."""
    by_bounds: dict[tuple[str, str], set[str]] = {}
    for before, pattern, after in patterns:
        by_bounds.setdefault((before, after), set()).add(pattern)
    groups = (f"{before}(?:{'|'.join(sorted(those, key=len, reverse=True))}){after}"
              for (before, after), those in by_bounds.items())  # fmt: skip
    return re.compile(f"(?:{'|'.join(groups) or '(?!)'})")


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("prompts.toml").read_text(encoding="utf-8"))
