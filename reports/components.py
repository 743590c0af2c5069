"""The variance components of each metric: a mark per component and condition, and what the design cannot tell."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
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
    """The context of the section: a panel per metric, and lines on what cannot be told, and why."""

    figure: Figure
    untold: tuple[str, ...]


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
    return Components(figure, tuple(_untold(frame, said.words["order"], names)))


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


def _untold(frame: pd.DataFrame, order: Sequence[str], names: Names) -> Iterator[str]:
    """Lines on what is in no panel, and why: each of the conditions that have it in common."""
    lacking = frame[frame["share"].isna()].assign(reason=lambda rows: rows["reason"].fillna("all values are alike"))
    conditions: dict[tuple[str, str], list[str]] = {}
    for (condition, reason), group in lacking.groupby(["condition", "reason"], sort=True):
        parts = ordered(order, group["component"])
        of = ", ".join(texts().metrics[metric].name for metric in ordered(list(texts().metrics), group["metric"]))
        what = of if len(parts) == len(order) else f"{', '.join(parts)} ({of})"
        conditions.setdefault((what, str(reason)), []).append(names.condition(str(condition)))
    for (what, reason), where in conditions.items():
        yield f"Not told ({'; '.join(where)}): {what}. Reason: {reason}."
    open_ended = frame[frame["share"].notna() & frame["share_low"].isna()]
    for (condition, metric, reason), group in open_ended.groupby(["condition", "metric", "reason"], sort=True):
        named = ", ".join(ordered(order, group["component"]))
        of = f"{texts().metrics[str(metric)].name}, {names.condition(str(condition))}"
        yield f"No interval ({of}): {named}. Reason: {reason}."
    for (condition, metric), group in frame.groupby(["condition", "metric"], sort=True):
        filled, left_out = int(group["filled"].max()), int(group["left_out"].max())
        if (filled or left_out) and group["share"].notna().any():
            where_of = f"{texts().metrics[str(metric)].name}, {names.condition(str(condition))}"
            yield f"{where_of}: {count(filled)} places of the design filled in, {count(left_out)} values left out."
