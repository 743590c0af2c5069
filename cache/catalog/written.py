"""What people write for a language, a topic or a country, brought to the catalogue's code."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, cached_property
from itertools import permutations
from string import ascii_uppercase
from typing import Literal

from polyculture.cache.catalog.cldr import country_names, every_language, language_aliases, language_names, long_codes
from polyculture.cache.catalog.everyday import (
    country_key,
    country_keys,
    everyday_countries,
    several_countries,
    written_names,
)
from polyculture.cache.catalog.model import Catalog, Language
from polyculture.cache.catalog.read import read_catalog
from polyculture.cache.text.suggestions import add_meaning

_SIGNS: dict[int, str | None] = {
    0x1F1E6 + number: letter for number, letter in enumerate(ascii_uppercase)
}  # a flag is the two of its code
_SIGNS |= {ord("."): None}
_BRACKETS = re.compile(r"(.+?)\s*[(（](.+?)[)）]")
NamedKind = Literal["languages", "countries"]


class WrittenNames:
    """Codes of a catalogue by what people write for them, in any case. None where it is nobody's name.

    Languages and countries are known by their names in the catalogue's languages; `everywhere`, as in files of theirs,
    in all languages of Unicode's CLDR: that takes a second, once.
    """

    def __init__(self, catalog: Catalog, *, everywhere: bool = False) -> None:
        self.catalog, self.everywhere = catalog, everywhere
        self._read: dict[
            tuple[str, ...], dict[NamedKind, dict[str, str]]
        ] = {}  # what CLDR calls them, by its languages

    def language(self, written: str) -> str | None:
        """By BCP-47 code (`en-US`, `zh_Hant`), ISO 639-2/3 code or name: `Spanisch`, `espagnol`."""
        return self._language_of_code(written) or self._named(written.casefold(), "languages")

    def _language_of_code(self, written: str) -> str | None:
        code = written.casefold().replace("_", "-")
        parts = code.split("-")
        for one in ("-".join(parts[:end]) for end in range(len(parts), 0, -1)):
            meant = written_names()["languages"].get(one, one)
            for known in (meant, language_aliases().get(meant, meant)):
                if known in self.catalog.languages:
                    return known
        return None

    def topic(self, written: str) -> str | None:
        """By code or name, or by what the topic is called in a language of the catalogue."""
        every, folded = self.catalog.topics.values(), written.casefold()
        code = {name.casefold(): one.code for one in every for name in (one.name, one.code)}.get(folded)
        meant = written_names()["topics"].get(folded)
        return code or (meant if meant in self.catalog.topics else None)

    def country(self, written: str) -> str | None:
        """By ISO 3166 code of two or three letters, or by a name in any of the catalogue's languages.

        Also South_Korea, U.S.A., The Gambia, Cote d'Ivoire or a flag. A part of a country, such as England, is the
        country. Congo and Korea are none: two countries have the name.
        """
        upper = written.translate(_SIGNS).strip().upper()
        code = long_codes().get(upper, upper)
        if code in self.catalog.countries and (len(upper) == 2 or written.isupper()):
            return code
        # Nga is the code of Nigeria, and Russia in Vietnamese.
        known = next((found for key in country_keys(written) if (found := self._country_of_key(key)) is not None), None)
        return known or (code if code in self.catalog.countries else None)

    def _country_of_key(self, key: str) -> str | None:
        everyday = everyday_countries().get(key)
        if everyday in self.catalog.countries or key in several_countries():
            return everyday
        return self._named(key, "countries")

    def _meant_by_code(self, code: str) -> set[str]:
        """The catalogue's languages of a code of CLDR: `Chinese` may be both of them. The code itself without any."""
        known = {one for one in self.catalog.languages if one.split("-")[0] == code}
        return known or {self._language_of_code(code) or code}

    def _named(self, key: str, kind: NamedKind) -> str | None:
        """The code of a name: of the catalogue itself, of CLDR in its languages, and of CLDR in all others."""
        known = self._of_catalog[kind].get(key) or self._of_cldr(tuple(self.catalog.languages))[kind].get(key)
        return known or (self._of_cldr(every_language())[kind].get(key) if self.everywhere else None)

    @cached_property
    def _of_catalog(self) -> dict[NamedKind, dict[str, str]]:
        languages = {
            name.casefold(): one.code for one in self.catalog.languages.values() for name in (one.name, one.endonym)
        }
        return {
            "languages": languages,
            "countries": {country_key(one.name): one.code for one in self.catalog.countries.values()},
        }

    def _of_cldr(self, languages: tuple[str, ...]) -> dict[NamedKind, dict[str, str]]:
        """Codes by their names in some languages, where a name is that of one language or country alone."""
        if languages not in self._read:
            countries = [*_country_names(languages, self._corrected), *self._of_catalog["countries"].items()]
            whole, short = dict[str, set[str]](), dict[str, set[str]]()
            for name, code in countries:
                whole.setdefault(country_key(name), set()).add(code)
                for part in _in_brackets(name):
                    short.setdefault(country_key(part), set()).add(code)
            of_languages = _language_names(languages)
            ours = {code: self._meant_by_code(code) for code in set().union(*of_languages.values())}
            meant = {name: set().union(*(ours[code] for code in codes)) for name, codes in of_languages.items()}
            codes_of: dict[NamedKind, Mapping[str, set[str]]] = {"countries": short | whole, "languages": meant}
            known: dict[NamedKind, Collection[str]] = {
                "languages": self.catalog.languages,
                "countries": self.catalog.countries,
            }
            self._read[languages] = {
                kind: {name: code for name, (code, *others) in names.items() if not others and code in known[kind]}
                for kind, names in codes_of.items()
            }
        return self._read[languages]

    @cached_property
    def _corrected(self) -> dict[str, Mapping[str, str]]:
        """The names of countries that a language's file has in place of CLDR's, which are wrong or long."""
        return {code: _own_names(language) for code, language in self.catalog.languages.items()}


def _own_names(language: Language) -> Mapping[str, str]:
    plain = language.wording.get("plain")
    names = plain.get("countries") if isinstance(plain, Mapping) else None
    return {code: name for code, name in names.items() if isinstance(name, str)} if isinstance(names, Mapping) else {}


def _country_names(languages: Iterable[str], corrected: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    """The names of countries in some languages, each with its code; without those of regions, since Persian has one
    name for Australia and Australasia.

    Of countries that share an everyday name CLDR gives it to one of them in some languages: República Democrática del
    Congo and Congo. It is each one's then.
    """
    for language in languages:
        names = {code: name for code, name in country_names(language).items() if code.isalpha()}
        names |= corrected.get(language, {})
        yield from ((name, code) for code, name in names.items())
        for codes in several_countries().values():
            for code, other in permutations(codes, 2):
                if code in names and other in names and country_key(names[code]) in country_key(names[other]):
                    yield names[code], other


def _in_brackets(name: str) -> tuple[str, ...]:
    """The two names in one: Myanmar (Burma)."""
    found = _BRACKETS.fullmatch(name)
    return found.groups() if found else ()


@cache
def _language_names(languages: tuple[str, ...]) -> Mapping[str, set[str]]:
    """CLDR's codes of languages by their names in some languages."""
    of_languages = dict[str, set[str]]()
    for language in languages:
        for code, name in language_names(language).items():
            of_languages.setdefault(name.casefold(), set()).add(code)
    return of_languages


@cache
def built_in_names() -> WrittenNames:
    """Those of the catalogue that comes along."""
    return WrittenNames(read_catalog())


def _meant_by(word: str, known: Iterable[str]) -> str | None:
    there, names = set(known), built_in_names()
    meant = (
        written_names()["words"].get(word.casefold()),
        names.language(word),
        names.topic(word),
        names.country(word),
    )
    return next((one for one in meant if one in there), None)


add_meaning(_meant_by)
