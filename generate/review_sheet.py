"""The sheet of a review of prompts, which a person who speaks their language fills in once.

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
from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.errors import StoreError
from polyculture.cache.spreadsheet import read_sheet_rows
from polyculture.cache.store.schema import PromptReview
from polyculture.generate.review import NAMING, VERDICTS, ReviewedTemplate

COLUMNS = (
    *("id", "wording", "topic", "condition", "text"),
    *("natural", "says", "relation", "note"),
    *("english", "same", "gloss"),
)
_REMEDY = "Give a sheet of polyculture prompts review export, or the file that its page saves, with all columns."


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


@dataclass(frozen=True, slots=True)
class ReadSheet:
    """What a judge sent back."""

    reviews: list[PromptReview]  # of templates that are asked: with a verdict, or with words alone
    gone: int  # judged rows whose template is no longer asked
    rows: int  # rows of templates that are asked, judged or not
    open: Mapping[str, tuple[str, ...]]  # by template: the questions that are left open, where there are some

    @property
    def line(self) -> str:
        """How far the sheet is filled in: nobody shall take a part of a review for all of it."""
        judged = {one.template_id for one in self.reviews if one.has_verdict}
        partly = [names for key, names in self.open.items() if key in judged]
        line = f"{self.rows - len(self.open)} of {self.rows} templates are judged in full"
        if untouched := len(self.open) - len(partly):
            line += f", {untouched} not at all"
        if partly:
            names = [name for name in VERDICTS if any(name in of for of in partly)]
            line += f", {len(partly)} without {' or '.join(names)}"
        return line


def judge_in(path: Path) -> str | None:
    """The judge that a sheet names in its column `judge`, as a saved page does; None where it has no such column.

    Raises `StoreError` where it names two.
    """
    names = {row.get("judge", "").strip() for row in read_sheet_rows(path, ("id", *VERDICTS, "says"), _REMEDY)} - {""}
    if len(names) > 1:
        what = f"names {len(names)} judges: {', '.join(sorted(names))}"
        raise StoreError(what, where=path, remedy="Make a sheet of each judge.")
    return next(iter(names), None)


def read_reviews(path: Path, judge: str, templates: Mapping[str, ReviewedTemplate]) -> ReadSheet:
    """The judgements of a sheet, and what it leaves open. A row in which the judge wrote words alone is kept, too.

    Raises `StoreError`, naming file and row, where the file is no sheet, repeats a row, or has an invalid verdict.
    """
    reviews: dict[str, PromptReview] = {}
    gone, seen, left = 0, set[str](), dict[str, tuple[str, ...]]()
    asked = 0
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
        template = templates.get(row["id"].removeprefix("t:"))
        if template is None:
            gone += any(said.values())
            continue
        asked += 1
        if missing := tuple(name for name in template.questions if said[name] is None):
            left[template.template_id] = missing
        says, note = row["says"].strip() or None, row.get("note", "").strip() or None
        if not any((*said.values(), says, note)):
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
            says=says,
            note=note,
        )
    return ReadSheet(list(reviews.values()), gone, asked, left)
