"""The templates of an experiment as a reviewer reads them: each filled in once, with its English beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from polyculture.cache.catalog import Catalog
from polyculture.cache.identity import content_id
from polyculture.cache.schema import Condition, Prompt
from polyculture.generate.glosses import Gloss, glosses
from polyculture.generate.template_checks import GLOSS_LANGUAGE


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
