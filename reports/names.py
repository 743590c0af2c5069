"""What models, languages, countries, topics and conditions are called in the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from polyculture.cache.catalog import Catalog
from polyculture.reports.texts import words

LONGEST_LABEL = 300  # letters of a name that somebody else gave


@dataclass(frozen=True)
class Names:
    """Names for people; a code that the catalogue does not know is its own name."""

    catalog: Catalog
    models: Sequence[str] = ()  # all of the run: a short name must tell them apart

    def model(self, model: str) -> str:
        """The last part of a model's name, or all of it where that is not enough to tell it from the others."""
        short = _last(model)
        return short if sum(_last(other) == short for other in self.models) < 2 else model

    def language(self, code: str) -> str:
        """The English name of a language."""
        language = self.catalog.languages.get(code)
        return language.name if language else code

    def both(self, code: str) -> str:
        """The English name of a language and its own."""
        language = self.catalog.languages.get(code)
        if language is None or language.name == language.endonym:
            return self.language(code)
        return f"{language.name} {language.endonym}"

    def country(self, code: str | None) -> str:
        """The English name of a country; none for a neutral prompt."""
        if code is None:
            return "no country"
        country = self.catalog.countries.get(code)
        return country.name if country else code

    def topic(self, code: str) -> str:
        """The name of a topic."""
        topic = self.catalog.topics.get(code)
        return topic.name if topic else code

    def condition(self, code: str) -> str:
        """What a condition is, in words."""
        return words().conditions.get(code, code)

    def native(self, language: str, country: str) -> bool:
        """Is the language native in the country?"""
        known = self.catalog.languages.get(language)
        return known is not None and country in known.native_countries

    def native_pairs(self, languages: Iterable[str]) -> list[tuple[str, str]]:
        """Each of the languages with the countries in which it is native."""
        known = [self.catalog.languages[code] for code in languages if code in self.catalog.languages]
        return [(language.code, country) for language in known for country in language.native_countries]

    def label_languages(self, language: str) -> tuple[str, ...]:
        """Where the labels of a language stand in Wikidata, English and 'mul' left out unless they are asked for."""
        known = self.catalog.languages.get(language)
        chain = known.label_languages if known else (language,)
        return tuple(code for code in chain if code == language or code not in ("en", "mul"))


def short(label: str) -> str:
    """A label that fits a line or three."""
    return label if len(label) <= LONGEST_LABEL else f"{label[:LONGEST_LABEL]}…"


def ordered(order: Sequence[str], found: Iterable[str]) -> list[str]:
    """What was found, in the order of the experiment file, and after it what that does not name."""
    there = set(found)
    return [name for name in order if name in there] + sorted(there - set(order))


def _last(model: str) -> str:
    return model.partition(":")[2].replace("\\", "/").rstrip("/").rpartition("/")[2] or model
