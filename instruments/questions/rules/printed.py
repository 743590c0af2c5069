"""What a paper counts of a question set, beside the questions that were read: `data check --published`."""

from __future__ import annotations

import math
from collections import Counter
from statistics import fmean, pstdev
from typing import Any

from scipy import stats

from polyculture.instruments.cultures.cultures import read_cultures
from polyculture.instruments.datasets.printed_counts import DATA, Read, no_file, printed_rows
from polyculture.instruments.questions.loaders.hard_negatives import OWN
from polyculture.instruments.questions.model import BIASED, OTHER, Question, QuestionSet
from polyculture.instruments.questions.rules.check import by_reason
from polyculture.published.cells import PAPERS, PublishedCell, published

_DATASETS = {"culture-open-blend": "blend", "culture-open-camel2": "camel2", "kobbq-all": "kobbq"}
_UNTOLD = "the set's files do not tell it"
_OF_ALL = "counted by: polyculture data check kobbq:all --published"
_REMOVED = "SR"  # the label of templates that were removed
_ROLES = {"right": OWN, "same region": BIASED, "other region": OTHER}  # others: a level


def published_rows(found: QuestionSet) -> list[tuple[Any, ...]]:
    """Every count that a paper prints of the set; one of no paper has none."""
    name = _DATASETS.get(found.name, found.name)
    cells = [one for paper in PAPERS for one in published(paper) if one.measure == DATA and one.dataset == name]
    left_out = "; ".join(f"{reason}: {number}" for reason, number, _ in by_reason(found.remarks))
    there = {one.facets.get("country") for one in found.questions}
    absent = [country for country in read_cultures().countries if country not in there] if name == "blend" else []

    def read(cell: PublishedCell) -> Read:
        number = _read(found, cell)
        if absent and number is not None:
            return Read(number, no_file(absent), is_whole=False)
        if number is None:
            return Read(None, _OF_ALL if cell.metric == "samples" else _UNTOLD)
        return Read(number, left_out if number != cell.value else "")

    return printed_rows(cells, read)


def _read(found: QuestionSet, cell: PublishedCell) -> float | None:
    wanted = {key: value for key, value in cell.facets.items() if key != "option"}
    if cell.topic not in ("*", "-"):
        wanted["category"] = cell.topic
    some = [one for one in found.questions if all(one.facets.get(key) == value for key, value in wanted.items())]
    match cell.metric:
        case "questions" if cell.culture == "*":
            return len(some)
        case "cultures":
            return len({one.facets["country"] for one in some})
        case "options" | "options_low" | "options_high":
            return _options(some, cell.facets["option"])[cell.metric]
        case "templates" if cell.facets.get("label") != _REMOVED:
            return len({one.facets["template"] for one in some})
        case "samples" if found.name == "kobbq-all":
            return len(some)
        case "prompts":
            return len(found.prompts)
        case "requests" if found.name == "kobbq":
            return len(some) * len(found.prompts) * len(found.orders)
    return None


def _options(questions: list[Question], kind: str) -> dict[str, float | None]:
    """How often a culture's answer is an option of a kind: the mean over cultures, and Student's limits at 95 %."""
    counts = Counter(
        country
        for one in questions
        for role, country, group in zip(
            one.roles, one.facets["countries"].split("; "), one.facets["groups"].split("; "), strict=True
        )
        if (role == _ROLES[kind] if kind in _ROLES else role != OWN and group == kind)
    )
    values = list(counts.values())
    if len(values) < 2:
        return dict.fromkeys(("options", "options_low", "options_high"))
    mean, reach = fmean(values), float(stats.t.ppf(0.975, len(values) - 1)) * pstdev(values) / math.sqrt(len(values))
    return {"options": mean, "options_low": mean - reach, "options_high": mean + reach}
