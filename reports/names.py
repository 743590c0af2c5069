"""Names of models, languages, countries, topics and conditions in the report."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from polyculture.cache.catalog import Catalog
from polyculture.reports.numbers import known
from polyculture.reports.texts import texts

LONGEST_LABEL = 300  # letters of a name from outside
LONGEST_NAME = 36  # and of one beside a number, in a legend or a figure


@dataclass(frozen=True)
class Names:
    """Names for people; a code that nobody knows is its own name."""

    catalog: Catalog
    models: Sequence[str] = ()  # all models of the run: short names must differ

    def model(self, model: str) -> str:
        """The last part of a model's name, with its middle left out where it is long; or more of it, where another
        model of the run would be called the same."""
        ways: tuple[Callable[[str], str], ...] = (lambda one: cut(short_name(one)), self._apart, short_name)
        for name in ways:
            if sum(name(other) == name(model) for other in self.models) < 2:
                return name(model)
        return model

    def _apart(self, model: str) -> str:
        """A long name that differs from others of the run in its middle: its beginning, what differs, and its end."""
        name = short_name(model)
        alike = [other for other in map(short_name, self.models) if cut(other) == cut(name)]
        differs = next((at for at, letters in enumerate(zip(*alike, strict=False)) if len(set(letters)) > 1), 0)
        begins = max(0, differs - 6)
        return cut(f"{name[:8]}…{name[begins : begins + 16]}…{name[-10:]}")

    def language(self, code: str) -> str:
        """The English name of a language."""
        language = self.catalog.languages.get(code)
        return language.name if language else _cldr_name(code)

    def both(self, code: str) -> str:
        """The English name of a language and its own."""
        language = self.catalog.languages.get(code)
        if language is None or language.name == language.endonym:
            return self.language(code)
        return f"{language.name} {language.endonym}"

    def country(self, code: str | None) -> str:
        """The English name of a country; 'no country' for a neutral prompt."""
        if code is None:
            return "no country"
        country = self.catalog.countries.get(code)
        return country.name if country else code

    def origin(self, code: str | None, qid: str) -> str:
        """The name of a country of an item, or of the former state that stands for several; else the QID."""
        if code is not None:
            return self.country(code)
        state = self.catalog.former_states.get(qid)
        return f"{state.name} (former state)" if state else qid

    def topic(self, code: str) -> str:
        """The name of a topic."""
        topic = self.catalog.topics.get(code)
        return topic.name if topic else code

    def condition(self, code: str) -> str:
        """The description of a condition."""
        return texts().conditions.get(code, code)

    def region(self, country: str) -> str:
        """The name of a country's region; empty where it has none."""
        region = self.catalog.region_of.get(country)
        return region.name if region else ""

    def by_region(self, countries: Sequence[str]) -> list[str]:
        """The countries, those of a region together, in the order of maps; within a region as they came."""
        order = {
            country: place for place, region in enumerate(self.catalog.regions.values()) for country in region.countries
        }
        return sorted(countries, key=lambda country: order.get(country, len(order)))

    def place(self, row: Mapping[Hashable, Any], *axes: str) -> str:
        """'Spanish with English, neutral, smollm2': what a row says of `axes`. An only model is not named."""
        parts = [self.language(row["language"])]
        if known(row.get("other_language")):
            parts = [f"{parts[0]} with {self.language(row['other_language'])}"]
        shown = [axis for axis in axes if known(row.get(axis)) and (axis != "model" or len(self.models) > 1)]
        return ", ".join([*parts, *(getattr(self, axis)(row[axis]) for axis in shown)])

    def native(self, language: str, country: str) -> bool:
        """Is the language native in the country?"""
        known = self.catalog.languages.get(language)
        return known is not None and country in known.native_countries

    def label_languages(self, language: str) -> tuple[str, ...]:
        """The Wikidata languages to look up labels in, in order; without English and 'mul' unless asked for."""
        known = self.catalog.languages.get(language)
        chain = known.label_languages if known else (language,)
        return tuple(code for code in chain if code == language or code not in ("en", "mul"))


def cut(label: str, longest: int = LONGEST_NAME) -> str:
    """A label of at most so many letters: of a longer one the middle is left out, since names differ at their ends."""
    ends = longest // 2, (longest - 1) // 2
    return label if len(label) <= longest else f"{label[: ends[1]]}…{label[len(label) - ends[0] :]}"


def short(label: str) -> str:
    """A label, cut to `LONGEST_LABEL` letters."""
    return label if len(label) <= LONGEST_LABEL else f"{label[:LONGEST_LABEL]}…"


def ordered(order: Sequence[str], found: Iterable[str]) -> list[str]:
    """The found names: those of `order` in its order, then the others, sorted."""
    there = set(found)
    return [name for name in order if name in there] + sorted(there - set(order))


@cache
def _cldr_name(code: str) -> str:
    """The English name of a language that the catalogue lacks: data sets have more languages."""
    from babel import Locale

    return str(Locale("en").languages.get(code.replace("-", "_"), code))


def short_name(model: str) -> str:
    """The last part of a model's name; a name without parts as it is."""
    return model.partition(":")[2].replace("\\", "/").rstrip("/").rpartition("/")[2] or model
