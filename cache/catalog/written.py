"""What people write for a language, a topic or a country, brought to the catalogue's code."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path

from polyculture.cache.catalog.model import Catalog, country_names, long_codes


@cache
def written_names() -> Mapping[str, Mapping[str, str]]:
    """The tables of `written.toml`: what people write, and what they mean by it."""
    tables = tomllib.loads(Path(__file__).with_name("written.toml").read_text(encoding="utf-8"))
    return tables | {"topics": {word: code for code, words in tables["topics"].items() for word in words}}


class WrittenNames:
    """Codes of a catalogue by what people write for them, in any case. None where it is nobody's name."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    def language(self, written: str) -> str | None:
        """By BCP-47 code (`en-US`, `zh_Hant`), ISO 639-2/3 code, English name or the language's own."""
        code = written.casefold().replace("_", "-")
        parts = code.split("-")
        for one in ("-".join(parts[:end]) for end in range(len(parts), 0, -1)):
            known = written_names()["languages"].get(one, one)
            if known in self.catalog.languages:
                return known
        return self._languages.get(written.casefold())

    def topic(self, written: str) -> str | None:
        """By code or name, or by what the topic is called in a language of the catalogue."""
        every, folded = self.catalog.topics.values(), written.casefold()
        code = {name.casefold(): one.code for one in every for name in (one.name, one.code)}.get(folded)
        meant = written_names()["topics"].get(folded)
        return code or (meant if meant in self.catalog.topics else None)

    def country(self, written: str) -> str | None:
        """By ISO 3166 code of two or three letters, or by a name in any of the catalogue's languages.

        A part of a country, such as England, is the country.
        """
        upper, folded = written.upper(), written.casefold()
        named = {**written_names()["countries"], **written_names()["parts"]}.get(folded)
        code = named or long_codes().get(upper, upper)
        return code if code in self.catalog.countries else self._countries.get(folded)

    @cached_property
    def _languages(self) -> dict[str, str]:
        every = self.catalog.languages.values()
        return {name.casefold(): one.code for one in every for name in (one.code, one.name, one.endonym)}

    @cached_property
    def _countries(self) -> dict[str, str]:
        """Codes by name: the catalogue's, and CLDR's in its languages where the name is of one country alone."""
        codes_of: dict[str, set[str]] = {}
        for language in self.catalog.languages:
            for code, name in country_names(language).items():
                if code in self.catalog.countries:
                    codes_of.setdefault(name.casefold(), set()).add(code)
        alone = {name: next(iter(codes)) for name, codes in codes_of.items() if len(codes) == 1}
        return alone | {one.name.casefold(): one.code for one in self.catalog.countries.values()}


@cache
def _built_in() -> WrittenNames:
    from polyculture.cache.catalog.read import read_catalog

    return WrittenNames(read_catalog())


def meant_by(word: str, known: Iterable[str]) -> str | None:
    """The one of the known words that somebody means who writes this other one: `en` by `english`, `n` by `samples`."""
    there, names = set(known), _built_in()
    meant = (
        written_names()["words"].get(word.casefold()),
        names.language(word),
        names.topic(word),
        names.country(word),
    )
    return next((one for one in meant if one in there), None)
