"""A figure of the report: its panels, legend and texts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pandas as pd
from markupsafe import Markup

from polyculture.reports.figures.mark import Mark
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import count, decimal, estimate, known, wordings_interval
from polyculture.reports.texts import texts
from polyculture.reports.thin import FEWEST, rests_on

_DIGITS = 6


class Chart(Protocol):
    """Something that draws itself as HTML or SVG, escaped."""

    def draw(self) -> Markup: ...


@dataclass(frozen=True, slots=True)
class Panel:
    """One drawing of a figure; it is drawn when the page is rendered.

    `of` is the model that it is about, where it is about one: the page shows one model at a time. `says` is a
    sentence on what is shown.
    """

    title: str
    chart: Chart
    of: str = ""
    says: str = ""


@dataclass(frozen=True, slots=True)
class Key:
    """A line of a figure's legend: a marker of the series `number`, or the frame of outlined cells."""

    label: str
    mark: str  # the letter that stands for the marker's shape, or 'outline'
    number: int = 0


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure for the template; without rows of panels, `missing` is the reason.

    Panels of `folded` stand in a fold, whose line is `fold`.
    """

    title: str
    caption: str
    rows: tuple[tuple[Panel, ...], ...]  # panels of a row stand side by side where there is room
    keys: tuple[Key, ...]
    missing: str | None
    folded: tuple[Panel, ...] = ()
    fold: str = ""


def make_figure(
    name: str, caption: str, rows: list[list[Panel]], keys: list[Key], missing: str, title: str | None = None
) -> Figure:
    """A figure of `texts().figures`; `missing` is a key of `texts().missing`, used where there are no rows."""
    nothing = None if rows else texts().missing[missing]
    return Figure(title or texts().figures[name].title, caption, tuple(map(tuple, rows)), tuple(keys), nothing)


def caption_of(name: str, **values: str) -> str:
    """The caption of a figure, with its numbers filled in, and the study's figure that it stands for."""
    said = texts().figures[name]
    return " ".join(f"{said.caption.format(**values)} {said.study}".split())


def tidy(frame: pd.DataFrame, row: str, metric: str, axes: Sequence[str], names: Names) -> pd.DataFrame:
    """The columns row, value, low, high, mark and thin for the charts; `axes` are those that a mark's label names."""
    chosen = frame.rename(columns={row: "row", "estimate": "value"})[["row", "value", "low", "high"]]
    marks = [_mark(found, metric, axes, names) for found in frame.to_dict("records")]
    few = [row.get("incidences") for row in frame.to_dict("records")]
    chosen = chosen.astype({"value": float, "low": float, "high": float})
    return chosen.assign(mark=marks, thin=[rests_on(found) or "" for found in few])


def _mark(row: Mapping[Hashable, Any], metric: str, axes: Sequence[str], names: Names) -> str:
    place = {axis: row[axis] for axis in axes}
    where = ", ".join(getattr(names, axis)(code) for axis, code in place.items())
    if known(row["estimate"]) is None:
        return Mark(where, place).address()
    without = known(row.get("no_interval")) or "no_interval"
    found = estimate(metric, row["estimate"], row["low"], row["high"], without=without)
    others = wordings_interval({str(name): value for name, value in row.items()}, metric)
    other_wordings = f"; other wordings: {others}" if others else ""
    few = rests_on(row.get("incidences"))
    said = f"{where}: {found.value}, {found.interval or found.missing}{other_wordings}{f'; {few}' if few else ''}"
    return Mark(said, place).address()


def cross_table(
    frame: pd.DataFrame, index: str, columns: str, rows: Sequence[str], others: Sequence[str]
) -> pd.DataFrame:
    """The mean estimate per `index` and `columns`, in the order of `rows` and `others`; NaN where there is none."""
    numbers = frame.astype({"estimate": float})
    table = numbers.pivot_table(index=index, columns=columns, values="estimate", aggfunc="mean")
    return table.reindex(index=ordered(rows, frame[index]), columns=ordered(others, frame[columns])).astype(float)


def reach(values: pd.Series[float]) -> float:
    """The end of a colour scale: the largest absolute value, rounded up to the next tenth."""
    top = float(values.abs().max()) if values.notna().any() else 1.0
    return max(0.1, math.ceil(round(top * 10, _DIGITS)) / 10)


def extremes(frame: pd.DataFrame, metric: str, names: Names) -> str:
    """A sentence on the highest and the lowest number; empty where there is none.

    It names models where `frame` has a column for them.
    """
    rows = frame.dropna(subset=["estimate"]).to_dict("records")
    if not rows:
        return ""
    if len(rows) == 1:
        return f"{_where(rows, decimal(rows[0]['estimate'], metric), metric, names)}, and no other."
    ends = {"Highest": max(row["estimate"] for row in rows), "Lowest": min(row["estimate"] for row in rows)}
    return " ".join(f"{end}: {_where(rows, decimal(value, metric), metric, names)}." for end, value in ends.items())


def thin_cells(frame: pd.DataFrame, index: str, columns: str) -> dict[tuple[str, str], int]:
    """The cells of a table that rest on fewer than `FEWEST` linked items, with their number."""
    found = frame.dropna(subset=["estimate"]).groupby([index, columns])["incidences"].sum().reset_index()
    places = zip(found[index], found[columns], found["incidences"], strict=True)
    return {(str(row), str(column)): int(items) for row, column, items in places if items < FEWEST}


def details(frame: pd.DataFrame, index: str, columns: str, metric: str) -> dict[tuple[str, str], str]:
    """What is said of the cells of a table under the pointer: intervals, and linked items; of a single number each."""
    found = {}
    for place, group in frame.dropna(subset=["estimate"]).groupby([index, columns]):
        row = group.iloc[0]
        low, high = (known(row.get(end)) for end in ("low", "high"))
        interval = f"{decimal(low, metric)} to {decimal(high, metric)}; " if len(group) == 1 and low is not None else ""
        found[str(place[0]), str(place[1])] = f"{interval}n = {count(group['incidences'].sum())}"
    return found


def lacking_most(frame: pd.DataFrame) -> str:
    """Why most of the numbers without an interval have none; empty where all have one."""
    reasons = frame.dropna(subset=["estimate"]).loc[lambda rows: rows["low"].isna(), "no_interval"].dropna()
    return texts().missing.get(str(reasons.mode().iloc[0]), "") if len(reasons) else ""


def basis(responses: float, incidences: float) -> str:
    """A sentence on the responses and linked items behind a figure."""
    items = f"{count(incidences)} linked items, each counted once per response"
    return f"It rests on {count(responses)} responses with {items}."


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
    if len(names.models) > 1 and known(row.get("model")):
        parts.append(names.model(row["model"]))
    return ", ".join(parts)
