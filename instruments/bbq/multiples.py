"""Small multiples: accuracy against diff-bias of every model under every prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from polyculture.instruments.bbq.choice_tables import CONTEXTS, ChoiceGroup, points_of
from polyculture.instruments.bbq.region_figure import region
from polyculture.reports.figures.figure import Panel
from polyculture.reports.names import Names

Row = Mapping[str, Any]
SHOWN_PANELS = 80  # a page draws no more; the table has all


@dataclass(frozen=True, slots=True)
class Multiples:
    """The panels of one kind of context: a line a model, a panel a prompt."""

    title: str
    lines: tuple[tuple[Panel, ...], ...]
    left_out: int  # panels that do not fit


def multiples(rows: Sequence[Row], groups: Sequence[ChoiceGroup], names: Names) -> tuple[Multiples, ...]:
    """The panels from the rows of `by_prompt.sql`; none of a data set that one model answers under one prompt."""
    places = {group.key: number for number, group in enumerate(groups)}
    found: list[Multiples] = []
    room = SHOWN_PANELS
    for (dataset, language, method, reader), some in groupby(rows, key=_apart):
        mine = list(some)
        if len({(row["model"], row["prompt"]) for row in mine}) < 2:
            continue
        for end, context in CONTEXTS.items():
            lines: list[tuple[Panel, ...]] = []
            left_out = 0
            for model, own in groupby(mine, key=lambda row: row["model"]):
                place = places[dataset, language, model, method, reader]
                panels = _panels(end, names.model(model), place, groups[place], list(own))
                fitting = panels[: max(0, room)]
                room -= len(fitting)
                left_out += len(panels) - len(fitting)
                lines += [fitting] if fitting else []
            way = groups[place].way
            if lines or left_out:  # without 'unknown' ambiguous contexts have no accuracy, and so no panel
                found.append(
                    Multiples(f"{dataset}, {context} contexts, by model and prompt: {way}", tuple(lines), left_out)
                )
    return tuple(found)


def _apart(row: Row) -> tuple[str, str, str, str]:
    return row["dataset"], row["language"], row["answer_method"], row["reader"]


def _panels(end: str, model: str, place: int, group: ChoiceGroup, rows: Sequence[Row]) -> tuple[Panel, ...]:
    panels = []
    for prompt, own in groupby(rows, key=lambda row: row["prompt"]):
        title = f"{model}, prompt {prompt}"
        points = points_of(end, place, group.numbers, list(own), title)
        if len(points):
            panels.append(Panel(title, region(points, CONTEXTS[end], f"{group.title}, prompt {prompt}", small=True)))
    return tuple(panels)
