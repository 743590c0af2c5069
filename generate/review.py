"""The review of prompts by people who speak their languages: what they read, and the sheet that they fill in once.

The reviewer reads the text, and answers without looking further to the right:

- `natural`: yes or no: would a native speaker ask it so?
- `says`: what does it ask for, in your own words?
- `relation`: of a text that names a country: what is the person's, or the friend's, relation to it? origin (is from
  there), residence (lives there) or other

Then, with the English beside it:

- `same`: yes or no: does the text ask for the same as the English, no more and no less?

The gloss, our own back-translation, stands last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import StoreError
from polyculture.cache.identity import content_id
from polyculture.cache.spreadsheet import read_sheet_rows
from polyculture.cache.store.schema import ALL_CONDITIONS, Condition, Prompt, PromptReview
from polyculture.generate.design import known_wordings
from polyculture.generate.wording import read_wording, with_plain

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
    english: str | None  # the template of the same wording, topic and condition in English, with this one's length


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
    return [
        ReviewedTemplate(
            template_id=template_id(row.language, row.text),
            language=row.language,
            topic=row.topic,
            condition=row.condition,
            wording=prompt.wording or "",
            template=row.text,
            text=prompt.text,
            gloss=None if row.language == GLOSS_LANGUAGE else row.gloss,
            english=None
            if row.language == GLOSS_LANGUAGE
            else _of_same_length(english.get((row.topic, row.condition, row.wording)), prompt, catalog),
        )
        for prompt, row in ((prompt, of(prompt)) for prompt in by_template.values())
    ]


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


VERDICTS: Mapping[str, tuple[str, ...]] = {
    "natural": ("yes", "no"),
    "relation": ("origin", "residence", "other"),
    "same": ("yes", "no"),
}
COLUMNS = (
    *("id", "wording", "topic", "condition", "text"),
    *("natural", "says", "relation", "note"),
    *("english", "same", "gloss"),
)
NAMING = ("explicit", "audience")  # conditions whose text names a country
_REMEDY = "Give a sheet of polyculture prompts review export, with all of its columns."


def sheet_rows(templates: Sequence[ReviewedTemplate]) -> list[dict[str, str]]:
    """The rows of a sheet, each with all of `COLUMNS`, and no verdict yet."""
    return [
        dict.fromkeys(COLUMNS, "")
        | {
            "id": row_id(one.template_id),
            "wording": one.wording,
            "topic": one.topic,
            "condition": one.condition,
            "text": one.text,
            "english": one.english or "",
            "gloss": one.gloss or "",
        }
        for one in templates
    ]


def row_id(template_id: str) -> str:
    """The id of a row, in a form that no spreadsheet takes for a number, a date or a formula."""
    return f"t:{template_id}"


def read_reviews(path: Path, judge: str, templates: Mapping[str, ReviewedTemplate]) -> tuple[list[PromptReview], int]:
    """The judgements of a sheet, and the number of judged rows whose template is no longer asked.

    Rows without a verdict are left out. Raises `StoreError`, naming file and row, where the file is no sheet, repeats a
    row, or has an invalid verdict.
    """
    reviews: dict[str, PromptReview] = {}
    gone, seen = 0, set[str]()
    for row in read_sheet_rows(path, ("id", *VERDICTS, "says"), _REMEDY):
        where = f"{path}, row {row['id']}"
        if row["id"] in seen:
            raise StoreError("stands there twice", where=where, remedy="Remove one of the two.")
        seen.add(row["id"])
        said = {name: row[name].strip().casefold() or None for name in VERDICTS}
        for name, words in VERDICTS.items():
            if said[name] is not None and said[name] not in words:
                remedy = f"Write {' or '.join(words)}, or leave it empty."
                raise StoreError(f"{name} is {row[name]!r}", where=where, remedy=remedy)
        if not any(said.values()):
            continue
        template = templates.get(row["id"].removeprefix("t:"))
        if template is None:
            gone += 1
            continue
        if said["relation"] is not None and template.condition not in NAMING:
            what = f"relation is {row['relation']!r}, and the text of this row names no country"
            raise StoreError(what, where=where, remedy="Leave it empty.")
        reviews[row["id"]] = PromptReview(
            judge=judge,
            template_id=template.template_id,
            language=template.language,
            topic=template.topic,
            condition=template.condition,
            wording=template.wording,
            template=template.template,
            natural=said["natural"],
            relation=said["relation"],
            same=said["same"],
            says=row["says"].strip() or None,
            note=row.get("note", "").strip() or None,
        )
    return list(reviews.values()), gone
