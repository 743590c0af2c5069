"""The sheet of a reviewer: a row per template of a language, filled in once.

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

from collections.abc import Mapping, Sequence
from pathlib import Path

from polyculture.cache.errors import StoreError
from polyculture.cache.schema import PromptReview
from polyculture.cache.spreadsheet import read_sheet_rows
from polyculture.generate.review.templates import ReviewedTemplate

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
