"""Which countries an imported prompt names: in its own language and in English, by CLDR's names.

A name is certain. That no country is named is not: people write "the States", "Holland", "Italian food". So what begins
like a country, and what is the name of a language ("French"), is `near`: neither the one nor the other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from babel import Locale, UnknownLocaleError

from polyculture.cache.catalog import Catalog
from polyculture.cache.catalog.model import country_names
from polyculture.cache.catalog.written import written_names

LONGEST = 1_000  # characters: a longer prompt may name a country and ask about another thing
_STEM = 4  # letters by which words begin like a country: Ital-ian, Mexi-can
_SPACED = re.compile("[A-Za-zÀ-ɏͰ-ϿЀ-ӿ]")  # scripts that set words apart, and do not join prefixes to them


@dataclass(frozen=True, slots=True)
class NamedCountries:
    """The countries that a prompt names, and whether some word is like one."""

    countries: frozenset[str] = frozenset()
    near: bool = False


NAMED = NamedCountries()


@dataclass(frozen=True)
class PromptReader:
    """Finds countries in prompts; equal prompts are looked at once."""

    catalog: Catalog
    _seen: dict[tuple[str, str], NamedCountries] = field(default_factory=dict)

    def named(self, prompt: str, language: str) -> NamedCountries:
        """The countries that a prompt in a language names."""
        found = self._seen.get((prompt, language))
        if found is None:
            found = self._seen[prompt, language] = self._named(prompt, language)
        return found

    def _named(self, prompt: str, language: str) -> NamedCountries:
        if len(prompt) > LONGEST:
            return NamedCountries(near=True)
        text, countries, near = prompt.casefold(), set[str](), False
        for one in dict.fromkeys((language, "en")):
            names, exact, like = self._patterns(one)
            countries |= {names[match[0]] for match in exact.finditer(text)}
            near = near or like.search(text) is not None
        return NamedCountries(frozenset(countries), near)

    def _patterns(self, language: str) -> tuple[dict[str, str], re.Pattern[str], re.Pattern[str]]:
        if language not in self._by_language:
            names = {name.casefold(): code for code, name in country_names(language).items()
                     if code in self.catalog.countries}  # fmt: skip
            names |= written_names()["countries"]
            stems = {re.split(r"\W", name)[0][:_STEM] for name in names if len(name) > _STEM}
            words = {one for one in (*stems, *_languages(language)) if len(one) >= _STEM or not one.isascii()}
            exact = "|".join(_bounded(name) for name in sorted(names, key=len, reverse=True))
            like = "|".join(rf"(?<!\w){re.escape(word)}" for word in sorted(words) if word)
            self._by_language[language] = names, re.compile(exact or "(?!)"), re.compile(like or "(?!)")
        return self._by_language[language]

    @cached_property
    def _by_language(self) -> dict[str, tuple[dict[str, str], re.Pattern[str], re.Pattern[str]]]:
        return {}


def _bounded(name: str) -> str:
    pattern = re.escape(name)
    return rf"(?<!\w){pattern}(?!\w)" if _SPACED.match(name) else pattern


def _languages(code: str) -> set[str]:
    """The names of languages in a language, in small letters."""
    try:
        return {str(name).casefold() for name in Locale.parse(code.replace("-", "_")).languages.values()}
    except (UnknownLocaleError, ValueError):
        return set()
