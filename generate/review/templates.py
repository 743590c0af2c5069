"""The templates of an experiment side by side over languages, and as a reviewer reads them, with their English."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from polyculture.cache.catalog import Catalog
from polyculture.cache.identity import content_id
from polyculture.cache.schema import ALL_CONDITIONS, Condition, Prompt
from polyculture.generate.design import known_wordings
from polyculture.generate.template_checks import GLOSS_LANGUAGE
from polyculture.generate.wording import read_wording, topic_wordings


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
            for one in topic_wordings(topic, language, wording):
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
    english: str | None  # the template of the same wording, topic and condition in English


def template_id(language: str, text: str) -> str:
    """The id of a template: a hash of its text, so that a changed one is another one."""
    return content_id("template", language, text)


def with_template_ids(prompts: Iterable[Prompt], catalog: Catalog) -> list[Prompt]:
    """The prompts, each with the id of the template that it was filled from."""
    prompts = list(prompts)
    known = _templates(prompts, catalog)
    return [replace(prompt, template_id=template_id(prompt.language, _of(known, prompt).text)) for prompt in prompts]


def templates_of(prompts: Sequence[Prompt], catalog: Catalog) -> list[ReviewedTemplate]:
    """The templates of prompts that have their ids, in their order; the example is of the language's first country."""
    known = _templates(prompts, catalog)
    topics = list(dict.fromkeys(prompt.topic for prompt in prompts))
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
    return [_reviewed(prompt, _of(known, prompt), english) for prompt in by_template.values()]


def _reviewed(prompt: Prompt, row: Gloss, english: Mapping[tuple[str, Condition, str | None], str]) -> ReviewedTemplate:
    own = prompt.language == GLOSS_LANGUAGE
    return ReviewedTemplate(
        template_id=template_id(row.language, row.text),
        language=row.language,
        topic=row.topic,
        condition=row.condition,
        wording=prompt.wording or "",
        template=row.text,
        text=prompt.text,
        gloss=None if own else row.gloss,
        english=None if own else english.get((row.topic, row.condition, row.wording)),
    )


def _templates(prompts: Sequence[Prompt], catalog: Catalog) -> dict[tuple[str, str, str, str | None], Gloss]:
    languages = list(dict.fromkeys(prompt.language for prompt in prompts))
    topics = list(dict.fromkeys(prompt.topic for prompt in prompts))
    rows = glosses(catalog, languages, topics)
    return {(row.language, row.topic, row.condition, row.wording): row for row in rows}


def _of(known: dict[tuple[str, str, str, str | None], Gloss], prompt: Prompt) -> Gloss:
    """The template of a prompt: of its wording, or of the one without a name."""
    place = (prompt.language, prompt.topic, prompt.condition)
    return known.get((*place, prompt.wording)) or known[*place, None]
