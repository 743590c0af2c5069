"""A figure of the report: its panels, its words, its data as CSV and the SQL that makes it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup

from polyculture.reports.escaping import csv_link
from polyculture.reports.figures.mark import Mark
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import count, decimal, estimate, known
from polyculture.reports.reading import query
from polyculture.reports.texts import words

_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Panel:
    """One drawing of a figure."""

    title: str
    drawing: Markup


@dataclass(frozen=True, slots=True)
class Key:
    """A line of a figure's legend: a marker of the series `number`, or the frame of outlined cells."""

    label: str
    mark: str  # the letter that stands for the marker's shape, or 'outline'
    number: int = 0


@dataclass(frozen=True, slots=True)
class Figure:
    """What the template needs to print a figure; without rows of panels, `missing` says why there is none."""

    name: str
    title: str
    caption: str
    rows: tuple[tuple[Panel, ...], ...]  # what belongs side by side, where there is room
    keys: tuple[Key, ...]
    csv: str
    sql: str
    missing: str | None


def make_figure(
    name: str, frame: pd.DataFrame, caption: str, rows: list[list[Panel]], keys: list[Key], missing: str
) -> Figure:
    """A figure whose data is `frame`, made by `sql/<name>.sql`; `missing` is a key of `words().missing`."""
    nothing = None if rows else words().missing[missing]
    title = words().figures[name].title
    return Figure(name, title, caption, tuple(map(tuple, rows)), tuple(keys), table_csv(frame), query(name), nothing)


def caption_of(name: str, **values: str) -> str:
    """The caption of a figure in words, with its numbers filled in."""
    return " ".join(words().figures[name].caption.format(**values).split())


def table_csv(frame: pd.DataFrame) -> str:
    """The address of a frame's rows as CSV; what is missing is an empty cell."""
    rows = ([known(value) for value in row] for row in frame.itertuples(index=False, name=None))
    return csv_link(list(frame.columns), rows)


def tidy(frame: pd.DataFrame, row: str, metric: str, axes: Sequence[str], names: Names) -> pd.DataFrame:
    """The columns row, value, low, high and mark of a figure's rows, for the charts; a mark is named by its `axes`."""
    chosen = frame.rename(columns={row: "row", "estimate": "value"})[["row", "value", "low", "high"]]
    marks = [_mark(found, metric, axes, names) for found in frame.to_dict("records")]
    return chosen.astype({"value": float, "low": float, "high": float}).assign(mark=marks)


def _mark(row: Mapping[Hashable, Any], metric: str, axes: Sequence[str], names: Names) -> str:
    place = {axis: row[axis] for axis in axes}
    where = ", ".join(getattr(names, axis)(code) for axis, code in place.items())
    if known(row["estimate"]) is None:
        return Mark(where, place).address()
    without = known(row.get("no_interval")) or "no_interval"
    found = estimate(metric, row["estimate"], row["low"], row["high"], without=without)
    return Mark(f"{where}: {found.value}, {found.interval or found.missing}", place).address()


def cross_table(
    frame: pd.DataFrame, index: str, columns: str, rows: Sequence[str], others: Sequence[str]
) -> pd.DataFrame:
    """The mean estimate per `index` and `columns`, in the order of `rows` and `others`; NaN where there is none."""
    numbers = frame.astype({"estimate": float})
    table = numbers.pivot_table(index=index, columns=columns, values="estimate", aggfunc="mean")
    return table.reindex(index=ordered(rows, frame[index]), columns=ordered(others, frame[columns])).astype(float)


def reach(values: pd.Series[float]) -> float:
    """The largest size of a number, up to the next tenth: where a colour scale ends."""
    top = float(values.abs().max()) if values.notna().any() else 1.0
    return max(0.1, math.ceil(round(top * 10, _DIGITS)) / 10)


def extremes(frame: pd.DataFrame, metric: str, names: Names) -> str:
    """Where the number is highest and where lowest, in words; nothing where there is none."""
    rows = frame.dropna(subset=["estimate"]).to_dict("records")
    if not rows:
        return ""
    if len(rows) == 1:
        return f"{_where(rows, decimal(rows[0]['estimate'], metric), metric, names)}, and no other."
    ends = {"Highest": max(row["estimate"] for row in rows), "Lowest": min(row["estimate"] for row in rows)}
    return " ".join(f"{end}: {_where(rows, decimal(value, metric), metric, names)}." for end, value in ends.items())


def basis(responses: float, mentions: float, what: str) -> str:
    """What a figure rests on, in words."""
    return f"It rests on {count(responses)} responses with {count(mentions)} {what}."


def _where(rows: Sequence[Mapping[Hashable, Any]], value: str, metric: str, names: Names) -> str:
    alike = [row for row in rows if decimal(row["estimate"], metric) == value]
    return f"{value}, {_place(alike[0], names) if len(alike) == 1 else f'in {len(alike)} places'}"


def _place(row: Mapping[Hashable, Any], names: Names) -> str:
    parts = [names.language(row["language"])]
    if known(row.get("other_language")):
        parts = [f"{parts[0]} with {names.language(row['other_language'])}"]
    if known(row.get("country")):
        parts.append(names.country(row["country"]))
    if known(row.get("topic")):
        parts.append(names.topic(row["topic"]))
    if len(names.models) > 1:
        parts.append(names.model(row["model"]))
    return ", ".join(parts)
