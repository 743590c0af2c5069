"""The section's tables and figures: a group per model, data set, method and reader, a line per category."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pandas as pd

from polyculture.instruments.bbq.answer_blocks import AnswerBlock, anchor, answer_blocks
from polyculture.instruments.bbq.region_figure import region
from polyculture.reports.figures.chart import Mark
from polyculture.reports.figures.figure import Panel
from polyculture.reports.names import Names, short
from polyculture.reports.numbers import FormattedEstimate, count, decimal, estimate, lacking, share

Row = Mapping[str, Any]
SHOWN_GROUPS = 12  # that have figures and answers: a page holds no more; the table has all
CONTEXTS = {"a": "ambiguous", "d": "disambiguated"}
KEY = ("dataset", "language", "model", "answer_method", "reader")
_METHODS = {
    "generated": "its answers, read by {reader}",
    "letter": "likelihood of the letter, {reader}",
    "text": "likelihood of the choice, {reader}",
}
_READERS = {
    "paper": "the paper's words",
    "publisher": "the publisher's rules",
    "sum": "whole",
    "mean": "per token",
    "corrected": "corrected for the choice alone",
}


@dataclass(frozen=True, slots=True)
class ChoiceLine:
    """A category, or all of them: accuracy, bias and its bound in both kinds of contexts."""

    anchor: str  # of its answers; empty where none are shown
    number: str  # the label of its point
    category: str
    answers: str
    out_of_choice: str
    ambiguous: tuple[FormattedEstimate, FormattedEstimate]  # accuracy, diff-bias
    most_ambiguous: str  # that the bias can be at this accuracy
    disambiguated: tuple[FormattedEstimate, FormattedEstimate]
    most_disambiguated: str
    most_by_counts: str  # the same for the answers as they are
    undirected: str  # questions that count for accuracy and in no bias
    failed: str


@dataclass(frozen=True, slots=True)
class ChoiceGroup:
    """What one model chose, by one method and reader."""

    key: tuple[str, ...]  # data set, language, model, method, reader
    way: str  # method and reader in words
    title: str
    numbers: Mapping[str | None, str]  # of the categories, as their points are labelled; None is all of them
    lines: tuple[ChoiceLine, ...]
    panels: tuple[Panel, ...]
    blocks: tuple[AnswerBlock, ...]
    undirected: bool  # whether there are questions that are in no bias


def choice_groups(rows: Sequence[Row], answers: Sequence[Row], names: Names) -> tuple[ChoiceGroup, ...]:
    """The groups from the rows of `multiple_choice.sql`, with those of `shown_answers.sql` behind their points."""
    behind: defaultdict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in answers:
        behind[_key(row)].append(row)
    groups = groupby(rows, key=_key)
    return tuple(_group(place, key, list(some), behind[key], names) for place, (key, some) in enumerate(groups))


def _key(row: Row) -> tuple[str, ...]:
    return tuple(short(row[name]) for name in KEY)


def _group(place: int, key: tuple[str, ...], rows: list[Row], answers: Sequence[Row], names: Names) -> ChoiceGroup:
    dataset, _, model, method, reader = key
    way = _METHODS[method].format(reader=_READERS.get(reader, reader))
    title = f"{names.model(model)}, {dataset}: {way}"
    numbers = {row["category"]: "all" if row["category"] is None else str(number) for number, row in enumerate(rows)}
    shown = place < SHOWN_GROUPS
    lines = tuple(
        _line(row, numbers[row["category"]], anchor(place, numbers[row["category"]]) if shown else "") for row in rows
    )
    panels = _panels(place, title, rows, numbers) if shown else ()
    blocks = answer_blocks(place, title, numbers, answers) if shown else ()
    return ChoiceGroup(key, way, title, numbers, lines, panels, blocks, any(row["undirected"] for row in rows))


def _panels(place: int, title: str, rows: Sequence[Row], numbers: Mapping[str | None, str]) -> tuple[Panel, ...]:
    panels = []
    for end, context in CONTEXTS.items():
        points = points_of(end, place, numbers, rows, title)
        if len(points):
            panels.append(Panel(f"{context} contexts", region(points, context, title)))
    return tuple(panels)


def points_of(end: str, place: int, numbers: Mapping[str | None, str], rows: Sequence[Row], title: str) -> pd.DataFrame:
    """A point for each row that has both numbers (columns name, x, y, mark); it leads to its category's answers."""
    points = [
        {
            "name": numbers[row["category"]],
            "x": row[f"directed_acc_{end}"],
            "y": row[f"diff_bias_{end}"],
            "mark": Mark(_said(row, end, title), to=anchor(place, numbers[row["category"]])),
        }
        for row in rows
        if row[f"directed_acc_{end}"] is not None and row[f"diff_bias_{end}"] is not None
    ]
    return pd.DataFrame(points)


def _said(row: Row, end: str, title: str) -> str:
    category = "all categories" if row["category"] is None else row["category"].replace("_", " ")
    accuracy, bias = decimal(row[f"directed_acc_{end}"], "share"), decimal(row[f"diff_bias_{end}"], "difference")
    return f"{category}: accuracy {accuracy}, diff-bias {bias}, {CONTEXTS[end]}. {title}"


def _line(row: Row, number: str, to: str) -> ChoiceLine:
    category = "all categories" if row["category"] is None else short(str(row["category"])).replace("_", " ")
    return ChoiceLine(
        to,
        number,
        category,
        count(row["answered"]),
        share(row["out_of_choice"], row["answered"]) or "–",
        (_accuracy_a(row), _estimate(row, "diff_bias_a", "difference")),
        _number(row["max_bias_a"]),
        (_estimate(row, "acc_d", "share"), _estimate(row, "diff_bias_d", "difference")),
        _number(row["max_bias_d"]),
        _number(row["most_bias_d"]),
        count(row["undirected"]),
        count(row["failed"]),
    )


def _accuracy_a(row: Row) -> FormattedEstimate:
    """Of an arm without 'unknown' there is none: no choice is right in ambiguous contexts."""
    return lacking("no_right_choice") if row["n_w"] else _estimate(row, "acc_a", "share")


def _estimate(row: Row, name: str, metric: str) -> FormattedEstimate:
    if row[name] is None:
        return lacking("unread_answers")
    return estimate(metric, row[name], row[f"{name}_low"], row[f"{name}_high"])


def _number(value: float | None) -> str:
    return "–" if value is None else decimal(value, "share")
