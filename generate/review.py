"""What is reviewed by people who speak the languages of prompts: templates, filled in, and the questions about each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from polyculture.cache.catalog import Catalog
from polyculture.cache.identity import content_id
from polyculture.cache.store.schema import ALL_CONDITIONS, Condition, Prompt
from polyculture.generate.design import known_wordings
from polyculture.generate.wording import read_wording, with_plain

VERDICTS: Mapping[str, tuple[str, ...]] = {
    "natural": ("yes", "no"),
    "relation": ("origin", "residence", "other"),
    "same": ("yes", "no"),
}
NAMING = ("explicit", "audience")  # conditions whose text names a country
GLOSS_LANGUAGE = "en"  # glosses are in English; templates in English need none


@dataclass(frozen=True, slots=True)
class Gloss:
    """One template with its back-translation."""

    wording: str | None  # None: a user's single wording without a name
    topic: str
    condition: Condition
    language: str
    text: str
    gloss: str | None  # word by word, in English; of an English template its text; None where a user gives none


def glosses(catalog: Catalog, languages: Sequence[str], topics: Sequence[str]) -> list[Gloss]:
    """The templates of all wordings, those of one wording, topic and condition together, by language.

    Raises `CatalogError` where a file cannot be read. A topic without wording in a language has no row there.
    """
    rows = []
    for language in map(catalog.language, languages):
        wording = read_wording(language, catalog.countries)
        for topic in map(catalog.topic, topics):
            for one in with_plain(topic, language, wording):
                for condition, template in one.templates.items():
                    said = template.text if language.code == GLOSS_LANGUAGE else template.gloss
                    rows.append(Gloss(one.name, topic.code, condition, language.code, template.text, said))
    wordings = [*known_wordings(), *sorted({row.wording or "" for row in rows} - {*known_wordings()})]
    return sorted(
        rows,
        key=lambda row: (
            wordings.index(row.wording or ""),
            topics.index(row.topic),
            ALL_CONDITIONS.index(row.condition),
            languages.index(row.language),
        ),
    )


@dataclass(frozen=True, slots=True)
class ReviewedTemplate:
    """One template, with an example of what is asked."""

    template_id: str
    language: str
    topic: str
    condition: str
    wording: str
    template: str  # with its placeholder
    text: str  # filled in, as it is asked
    gloss: str | None  # what it says, word by word; None in English, and where a user gives none
    english: str | None  # the prompt of the same wording, topic, condition and length in English
    residence: bool  # it is meant to say where a person lives, not where the person is from

    @property
    def questions(self) -> tuple[str, ...]:
        """The verdicts that a judge is asked for: `relation` of a text that names a country, `same` beside English."""
        asked = {"natural": True, "relation": self.condition in NAMING, "same": self.english is not None}
        return tuple(name for name in VERDICTS if asked[name])


def template_id(language: str, text: str) -> str:
    """The id of a template: a hash of its text, so that a changed one is another one."""
    return content_id("template", language, text)


def with_template_ids(prompts: Iterable[Prompt], catalog: Catalog) -> list[Prompt]:
    """The prompts, each with the id of the template that it was filled from."""
    prompts = list(prompts)
    of = _templates(prompts, catalog)
    return [replace(prompt, template_id=template_id(prompt.language, of(prompt).text)) for prompt in prompts]


def templates_of(prompts: Sequence[Prompt], catalog: Catalog) -> list[ReviewedTemplate]:
    """The templates of prompts that have their ids, in their order; the example is of the language's first country."""
    of, topics = _templates(prompts, catalog), list(dict.fromkeys(prompt.topic for prompt in prompts))
    english = {
        (row.topic, row.condition, row.wording): row.text
        for row in (glosses(catalog, [GLOSS_LANGUAGE], topics) if GLOSS_LANGUAGE in catalog.languages else [])
    }
    by_template: dict[str | None, Prompt] = {}
    for prompt in prompts:
        before = by_template.setdefault(prompt.template_id, prompt)
        home = catalog.language(prompt.language).first_country
        if prompt.country == home != before.country:
            by_template[prompt.template_id] = prompt
    fill = _filling(catalog)
    templates = []
    for prompt in by_template.values():
        row = of(prompt)
        foreign = row.language != GLOSS_LANGUAGE
        original = english.get((row.topic, row.condition, row.wording)) if foreign else None
        templates.append(
            ReviewedTemplate(
                template_id=template_id(row.language, row.text),
                language=row.language,
                topic=row.topic,
                condition=row.condition,
                wording=prompt.wording or "",
                template=row.text,
                text=prompt.text,
                gloss=fill(row.gloss, prompt) if foreign else None,
                english=fill(_of_same_length(original, prompt, catalog), prompt),
                residence="{country}" in (original or row.text),
            )
        )
    return templates


def _filling(catalog: Catalog) -> Callable[[str | None, Prompt], str | None]:
    """Fills an English template with the country and the name of a prompt in another language."""
    here = catalog.languages.get(GLOSS_LANGUAGE)
    forms = read_wording(here, catalog.countries).countries if here else {}

    def fill(template: str | None, prompt: Prompt) -> str | None:
        if template is None:
            return None
        called = catalog.country(prompt.country).name if prompt.country else ""
        form = forms[prompt.country].form if prompt.country and prompt.country in forms else called
        values = {"country": form, "origin": form, "country_name": called, "name": prompt.person or prompt.name or ""}
        for name, value in values.items():
            template = template.replace(f"{{{name}}}", value)
        return template

    return fill


def _of_same_length(english: str | None, prompt: Prompt, catalog: Catalog) -> str | None:
    """The English of a template, asking for as many words or characters as the prompt does: 33 words, and not 50."""
    asked, ours = (
        read_wording(catalog.language(code), catalog.countries).length_of(prompt.wording)
        for code in (prompt.language, GLOSS_LANGUAGE)
    )
    if english is None or asked is None or ours is None:
        return english
    return re.sub(rf"\b{ours.amount} {ours.unit}\b", f"{asked.amount} {asked.unit}", english)


def _templates(prompts: Sequence[Prompt], catalog: Catalog) -> Callable[[Prompt], Gloss]:
    """The template of each prompt: of its wording, or of the one without a name."""
    languages, topics = (list(dict.fromkeys(getattr(one, part) for one in prompts)) for part in ("language", "topic"))
    rows = glosses(catalog, languages, topics)
    known: dict[tuple[str, str, str, str | None], Gloss] = {
        (row.language, row.topic, row.condition, row.wording): row for row in rows
    }

    def of(prompt: Prompt) -> Gloss:
        place = (prompt.language, prompt.topic, prompt.condition)
        return known.get((*place, prompt.wording)) or known[*place, None]

    return of
