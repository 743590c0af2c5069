"""Build the prompts from topics, languages, wordings, conditions, countries and names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from polyculture.cache.catalog import Catalog, Language, Topic
from polyculture.cache.identity import content_id
from polyculture.cache.store.schema import Condition, Prompt
from polyculture.generate.design import ImplicitCountries, PromptDesign
from polyculture.generate.names import PersonNames, person_names, read_names
from polyculture.generate.sampling import with_sentence
from polyculture.generate.wording import (
    TopicWording,
    Wording,
    answer_sentence,
    fill_country,
    names_source,
    read_wording,
    template_of,
    topic_wording,
)


def build_prompts(
    catalog: Catalog,
    languages: Sequence[str],
    topics: Sequence[str],
    countries: Sequence[str],
    conditions: Sequence[Condition],
    implicit_countries: ImplicitCountries = "first",
    answer_in_language: bool = False,
    design: PromptDesign | None = None,
) -> list[Prompt]:
    """The filled-in prompts, in the given order of languages, topics, wordings, conditions and countries.

    `countries` are those of the conditions that name a country. They are also those of the implicit conditions where
    `implicit_countries` is "all". Where it is "first", a language's implicit prompts name persons of its first country,
    whether or not that is among `countries`. They ask for the language's home culture, and an experiment on other
    countries has one too. `answer_in_language` appends the sentence that requests an answer in the prompt's language.
    `design` says in which wordings, and how many names an implicit condition has in each (one of each by default).

    Raises `CatalogError` where something is unknown or has no wording.
    """
    for code in countries:
        catalog.country(code)
    design = design or PromptDesign()
    names = read_names() if any(condition.startswith("implicit") for condition in conditions) else {}
    cells: list[_PromptParts] = []
    for language in map(catalog.language, languages):
        wording = read_wording(language, catalog.countries)
        implied = countries if implicit_countries == "all" else [language.first_country]
        people = {**{code: names[code] for code in implied if code in names}, **wording.names}
        cells.append(_PromptParts(language, wording, people, countries, implied, conditions, design))
    for cell in cells:  # before any name is drawn: names are asked for by the wording
        for topic in map(catalog.topic, topics):
            cell.check_wordings(topic)
    prompts: list[Prompt] = []
    for cell in cells:
        language, wording = cell.language, cell.wording
        for topic in map(catalog.topic, topics):
            for name in design.wordings:
                for filled in cell.fill(topic, catalog, name):
                    text = (
                        with_sentence(filled.text, answer_sentence(language, wording))
                        if answer_in_language
                        else filled.text
                    )
                    prompts.append(_prompt(language, topic, name, filled, text))
    return prompts


def prompt_hashes(prompts: Sequence[Prompt]) -> dict[str, str]:
    """By language, a hash of its prompts and of what they ask about, in any order."""
    found: dict[str, list[str]] = {}
    for prompt in prompts:
        found.setdefault(prompt.language, []).append(prompt.prompt_id)
    return {language: content_id(*sorted(ids)) for language, ids in sorted(found.items())}


@dataclass(frozen=True, slots=True)
class _FilledTemplate:
    condition: Condition
    country: str | None
    name: str | None
    text: str
    person: str | None = None  # in Latin letters


@dataclass(frozen=True, slots=True)
class _PromptParts:
    """What the prompts of one language are filled with."""

    language: Language
    wording: Wording
    names: Mapping[str, PersonNames]
    countries: Sequence[str]
    implied: Sequence[str]
    conditions: Sequence[Condition]
    design: PromptDesign

    def check_wordings(self, topic: Topic) -> None:
        """Raises `CatalogError` where a topic lacks a wording, or the template of a condition."""
        for name in self.design.wordings:
            chosen = self._chosen(topic, name)
            for condition in self.conditions:
                template_of(chosen, condition)

    def _chosen(self, topic: Topic, name: str) -> TopicWording:
        return topic_wording(topic, self.language, self.wording, name, first=name == self.design.wordings[0])

    def fill(self, topic: Topic, catalog: Catalog, name: str) -> Iterator[_FilledTemplate]:
        """The prompts of a topic in the wording of this name."""
        chosen = self._chosen(topic, name)
        for condition in self.conditions:
            template = template_of(chosen, condition)
            if condition == "neutral":
                yield _FilledTemplate(condition, None, None, template)
            elif condition in ("explicit", "audience"):
                for country in self.countries:
                    own = self.language.code in catalog.countries[country].wording
                    text = fill_country(template, country, self.language, self.wording, own)
                    yield _FilledTemplate(condition, country, None, text)
            else:
                for country in self.implied:
                    file = names_source(country, self.language, self.wording, catalog.countries)
                    drawn = person_names(country, condition, self.language, self.names, self.design, name, file)
                    for person, spelled in drawn:
                        yield _FilledTemplate(condition, country, spelled, template.replace("{name}", spelled), person)


def _prompt(language: Language, topic: Topic, wording: str, filled: _FilledTemplate, text: str) -> Prompt:
    key = content_id(language.code, topic.code, filled.condition, filled.country, text)
    where = (language.code, topic.code, filled.condition, filled.country)
    return Prompt(key, *where, filled.name, text, wording, person=filled.person)
