"""The variance components of each metric: a mark per component and condition, and what the design cannot tell."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from polyculture.reports.figures.chart import Mark
from polyculture.reports.figures.figure import Figure, Panel, key_of
from polyculture.reports.figures.kinds import dots
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import count, share
from polyculture.reports.reading import SQL
from polyculture.reports.section import ReportData
from polyculture.reports.sections import SAID
from polyculture.reports.texts import SectionTexts, section_texts, texts


@dataclass(frozen=True, slots=True)
class Components:
    """The context of the section: a panel per metric, and a sentence on what cannot be told, and why."""

    figure: Figure
    untold: str


def build(data: ReportData) -> Components | None:
    """The figure from the rows of `sql/components.sql`; None where nothing is known."""
    frame = data.reading.frame(SQL / "components.sql")
    found = frame.dropna(subset=["share"])
    if found.empty:
        return None
    said, names = section_texts(SAID, "components"), data.names
    conditions = ordered(data.manifest.conditions, found["condition"])
    metrics = ordered(list(texts().metrics), found["metric"])
    panels = tuple(_panel(metric, found[found["metric"] == metric], conditions, said, names) for metric in metrics)
    keys = tuple(key_of(names.condition(condition), index) for index, condition in enumerate(conditions))
    figure = Figure(said.words["title"], said.words["caption"], (panels,), keys, None)
    return Components(figure, _untold(frame))


def _panel(metric: str, frame: pd.DataFrame, conditions: Sequence[str], said: SectionTexts, names: Names) -> Panel:
    title = texts().metrics[metric].name
    rows = ordered(said.words["order"], frame["component"])
    marks = [
        Mark(
            f"{title}, {names.condition(row['condition'])}, {row['component']}: {share(row['share'], 1)} "
            f"{_interval(row)} of {count(row['used'])} values",
            {"condition": str(row["condition"])},
        )
        for row in frame.to_dict("records")
    ]
    names_of = {"component": "row", "condition": "series", "share": "value", "share_low": "low", "share_high": "high"}
    drawn = frame.rename(columns=names_of)[["row", "series", "value", "low", "high"]]
    chart = dots(
        drawn.astype({"value": float, "low": float, "high": float}).assign(
            mark=pd.Series(marks, frame.index, dtype=object)
        ),
        alternative=f"{said.words['title']}: {title}",
        rows=dict(zip(rows, rows, strict=True)),
        series=conditions,
        label=said.words["axis"],
        limits=(0, 1),
    )
    return Panel(title, chart)


def _interval(row: Mapping[Hashable, Any]) -> str:
    if pd.isna(row["share_low"]):
        return f"(no interval: {row['reason']})"
    return f"[{share(row['share_low'], 1)}, {share(row['share_high'], 1)}]"


def _untold(frame: pd.DataFrame) -> str:
    """A sentence on the shares that cannot be told, and why; empty where all can be."""
    lacking = frame[frame["share"].isna()]
    if lacking.empty:
        return ""
    reasons = sorted(set(lacking["reason"].fillna("all values are alike")))
    return f"{len(lacking)} of {len(frame)} shares cannot be told ({', '.join(reasons)})"
