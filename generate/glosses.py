"""What each template says in English, side by side over languages: to see whether all of them ask the same thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polyculture.cache.catalog import Catalog
from polyculture.cache.schema import ALL_CONDITIONS, Condition
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
