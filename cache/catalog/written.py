"""What people write for a language, a topic or a country, brought to the catalogue's code."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path
from string import ascii_uppercase
from typing import Literal

from polyculture.cache.catalog.cldr import country_names, every_language, language_aliases, language_names, long_codes
from polyculture.cache.catalog.model import Catalog
from polyculture.cache.catalog.read import read_catalog
from polyculture.cache.text.suggestions import add_meaning

_SIGNS: dict[int, str | None] = {
    0x1F1E6 + number: letter for number, letter in enumerate(ascii_uppercase)
}  # a flag is the two of its code
_SIGNS |= {ord("."): None, ord("'"): "’"}
_ARTICLE = re.compile("^the ", re.IGNORECASE)
Kind = Literal["languages", "countries"]


@cache
def written_names() -> Mapping[str, Mapping[str, str]]:
    """The tables of `written.toml`: what people write, and what they mean by it."""
    tables = tomllib.loads(Path(__file__).with_name("written.toml").read_text(encoding="utf-8"))
    return tables | {"topics": {word: code for code, words in tables["topics"].items() for word in words}}


class WrittenNames:
    """Codes of a catalogue by what people write for them, in any case. None where it is nobody's name.

    Languages and countries are known by their names in the catalogue's languages; `everywhere`, as in files of theirs,
    in all languages of Unicode's CLDR: that takes a second, once.
    """

    def __init__(self, catalog: Catalog, *, everywhere: bool = False) -> None:
        self.catalog, self.everywhere = catalog, everywhere
        self._read: dict[tuple[str, ...], dict[Kind, dict[str, str]]] = {}  # what CLDR calls them, by its languages

    def language(self, written: str) -> str | None:
        """By BCP-47 code (`en-US`, `zh_Hant`), ISO 639-2/3 code or name: `Spanisch`, `espagnol`."""
        return self._language_of_code(written) or self._named(written, "languages")

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

        Also South_Korea, U.S.A., The Gambia or a flag. A part of a country, such as England, is the country.
        """
        plain = _ARTICLE.sub("", re.sub("[_-]", " ", written.translate(_SIGNS)).strip())
        for one in dict.fromkeys((written, plain)):
            upper, folded = one.upper(), one.casefold()
            named = {**written_names()["countries"], **written_names()["parts"]}.get(folded)
            code = named or long_codes().get(upper, upper)
            if (found := code if code in self.catalog.countries else self._named(one, "countries")) is not None:
                return found
        return None

    def _meant_by_code(self, code: str) -> set[str]:
        """The catalogue's languages of a code of CLDR: `Chinese` may be both of them. The code itself without any."""
        known = {one for one in self.catalog.languages if one.split("-")[0] == code}
        return known or {self._language_of_code(code) or code}

    def _named(self, written: str, kind: Kind) -> str | None:
        """The code of a name: of the catalogue itself, of CLDR in its languages, and of CLDR in all others."""
        folded = written.casefold()
        if folded in written_names()["ambiguous"]:
            return None
        known = self._of_catalog[kind].get(folded) or self._of_cldr(tuple(self.catalog.languages))[kind].get(folded)
        return known or (self._of_cldr(every_language())[kind].get(folded) if self.everywhere else None)

    @cached_property
    def _of_catalog(self) -> dict[Kind, dict[str, str]]:
        languages = {
            name.casefold(): one.code for one in self.catalog.languages.values() for name in (one.name, one.endonym)
        }
        return {
            "languages": languages,
            "countries": {one.name.casefold(): one.code for one in self.catalog.countries.values()},
        }

    def _of_cldr(self, languages: tuple[str, ...]) -> dict[Kind, dict[str, str]]:
        """Codes by their names in some languages, where a name is that of one language or country alone."""
        if languages not in self._read:
            countries, of_languages = _cldr_names(languages)
            ours = {code: self._meant_by_code(code) for code in set().union(*of_languages.values())}
            meant = {name: set().union(*(ours[code] for code in codes)) for name, codes in of_languages.items()}
            codes_of: dict[Kind, Mapping[str, set[str]]] = {"countries": countries, "languages": meant}
            known: dict[Kind, Collection[str]] = {
                "languages": self.catalog.languages,
                "countries": self.catalog.countries,
            }
            self._read[languages] = {
                kind: {name: code for name, (code, *others) in names.items() if not others and code in known[kind]}
                for kind, names in codes_of.items()
            }
        return self._read[languages]


@cache
def _cldr_names(languages: tuple[str, ...]) -> tuple[Mapping[str, set[str]], Mapping[str, set[str]]]:
    """CLDR's codes of countries and of languages by their names in some languages: of all, half a second's work."""
    countries, of_languages = dict[str, set[str]](), dict[str, set[str]]()
    for language in languages:
        for code, name in country_names(language).items():
            if code.isalpha():  # none of a region: Persian has one name for Australia and Australasia
                countries.setdefault(name.casefold(), set()).add(code)
        for code, name in language_names(language).items():
            of_languages.setdefault(name.casefold(), set()).add(code)
    return countries, of_languages


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
