"""The report's texts: `texts.toml` holds what its sections share, `sections.toml` what each of its own says.

A section of an instrument has a file of its own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from polyculture.cache.errors import UserError
from polyculture.cache.validation import ClosedModel
from polyculture.metrics.declared import DECLARED


class MetricText(ClosedModel):
    """A metric in words: its formula and its caveat."""

    name: str
    unit: str = ""
    formula: str = ""
    caveat: str = ""


class FigureTexts(ClosedModel):
    """The texts of a figure: `caption` has places for numbers, `keys` is its legend, `panels` titles drawings.
    `use` says what a reader of the page can do with it, which no file with the figure's drawings can.

    `fold` is the line of the fold that some of its panels stand in, `study` says which figure of the seed study it is.
    """

    title: str
    caption: str
    use: str = ""
    axis: str = ""
    keys: tuple[str, ...] = ()
    panels: Mapping[str, str] = {}
    fold: str = ""
    study: str = ""


class DoubtColumn(ClosedModel):
    """A column of the tables of what to distrust: a count and, where `of` names another, its share of that."""

    name: str
    says: str
    count: str
    of: str | None = None


class Warning(ClosedModel):
    """When a share of the data is bad enough for a warning: `count` of `of` above `limit`."""

    count: str
    of: str
    limit: float
    text: str


class ComparisonTexts(ClosedModel):
    """A comparison in words."""

    title: str
    says: str


class Texts(ClosedModel):
    """All of `texts.toml`."""

    metrics: Mapping[str, MetricText]
    figures: Mapping[str, FigureTexts]
    comparisons: Mapping[str, ComparisonTexts]
    targets: Mapping[str, str]
    new_prompts: Mapping[str, str]
    diversity_estimators: Mapping[str, str]
    conditions: Mapping[str, str]
    statuses: Mapping[str, str]
    status_notes: Mapping[str, str]
    missing: Mapping[str, str]
    others: Mapping[str, str]
    shared: Mapping[str, str]
    goals: Mapping[str, str]
    headings: Mapping[str, str]
    health: tuple[DoubtColumn, ...]
    losses: tuple[DoubtColumn, ...]
    warnings: tuple[Warning, ...]


class SectionTexts(ClosedModel):
    """The texts of a section.

    `title` is its heading and its line in the navigation, `asks` the question below the heading. `headings` are names
    of columns, `boards` titles of leaderboards by '<task>.<metric>', `words` whatever else the template says.
    """

    title: str
    asks: str = ""
    headings: Mapping[str, str] = {}
    boards: Mapping[str, str] = {}
    words: Mapping[str, Any] = {}


@cache
def texts() -> Texts:
    """The texts that the sections share, read once."""
    read = _read(Path(__file__).with_name("texts.toml"))
    declared = {one.name: {"name": one.title, "unit": "entities" if one.is_count else ""} for one in DECLARED}
    words = {name: declared.get(name, {}) | read["metrics"].get(name, {}) for name in {**declared, **read["metrics"]}}
    return Texts.model_validate(read | {"metrics": words})


@cache
def section_texts(file: Path, name: str = "") -> SectionTexts:
    """The texts of a section, read once: the table of its `name` where the file has one, else the whole file.

    Raises `UserError` where they have another form.
    """
    read = _read(file)
    try:
        return SectionTexts.model_validate(read.get(name, read))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise UserError(
            f"the texts of the section `{name or file.parent.name}`: {place}: {first['msg']}",
            where=file,
            remedy=f"Give `title`, and what the section shows, in [{name}], or in a file of its own",
        ) from error


def _read(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))
