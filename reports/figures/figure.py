"""A figure of the report: its panels, legend and texts, and what they have in common."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from polyculture.metrics.declared import is_count
from polyculture.reports.figures.chart import Chart, Mark
from polyculture.reports.figures.heat import Heat
from polyculture.reports.figures.style import SERIES, SHAPES, marker_of
from polyculture.reports.names import Names
from polyculture.reports.numbers import FEWEST, Row, count, decimal, estimate_of, known, rests_on
from polyculture.reports.texts import texts

Drawable = Chart | Heat  # drawn for the page as SVG or HTML, and for a file


@dataclass(frozen=True, slots=True)
class Panel:
    """One drawing of a figure; it is drawn when the page is rendered.

    `of` is the model that it is about, where it is about one: the page shows one model at a time. `says` is a
    sentence on what is shown.
    """

    title: str
    chart: Drawable
    of: str = ""
    says: str = ""
    drawn_above: bool = False  # in another panel of the figure: only a search shows it by itself


@dataclass(frozen=True, slots=True)
class Key:
    """A line of a figure's legend: a marker of the series `number`, or the frame of outlined cells."""

    label: str
    mark: str  # the letter that stands for the marker's shape, or 'outline'
    number: int = 0
    whole: str = ""  # the label in full, where it may be cut


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure for the template; without rows of panels, `missing` is the reason.

    Panels of `folded` stand in a fold, whose line is `fold`. `details` of the caption are folded, too. A search in the
    fold finds the names of `without`, of which there is nothing to draw, as well.
    """

    title: str
    caption: str
    rows: tuple[tuple[Panel, ...], ...]  # panels of a row stand side by side where there is room
    keys: tuple[Key, ...]
    missing: str | None
    folded: tuple[Panel, ...] = ()
    fold: str = ""
    details: str = ""
    without: tuple[str, ...] = ()
    use: str = ""  # what a reader of the page can do with it


def make_figure(
    name: str,
    rows: Sequence[Sequence[Panel]],
    keys: Sequence[Key],
    missing: str,
    *,
    values: Mapping[str, str] | None = None,
    folded: Sequence[Panel] = (),
) -> Figure:
    """A figure of `texts().figures`; `values` are the numbers of its caption.

    `missing` is the key in `texts().missing` of the reason why there are no rows. What would be folded stands open
    where nothing else does.
    """
    said = texts().figures[name]
    caption = " ".join(f"{said.caption.format(**(values or {}))} {said.study}".split())
    drawn, below = [tuple(row) for row in rows if row], tuple(folded)
    if not drawn and below:
        drawn, below = [below], ()
    nothing = None if drawn else texts().missing[missing]
    return Figure(
        said.title, caption, tuple(drawn), tuple(keys), nothing, below, said.fold, use=" ".join(said.use.split())
    )


def key_of(label: str, index: int) -> Key:
    """The legend's line of the series with this index."""
    return Key(label, SHAPES[marker_of(index)], index % len(SERIES) + 1)


def model_keys(models: Sequence[str], names: Names) -> list[Key]:
    """The legend of series that are models."""
    return [replace(key_of(names.model(model), index), whole=model) for index, model in enumerate(models)]


def tidy(frame: pd.DataFrame, row: str, metric: str, axes: Sequence[str], names: Names) -> pd.DataFrame:
    """The columns row, value, low, high, mark and thin for `dots`; `axes` are those that a mark's label names."""
    chosen = frame.rename(columns={row: "row", "estimate": "value"})[["row", "value", "low", "high"]]
    found = frame.to_dict("records")
    marks = [number_mark(one, metric, {axis: one[axis] for axis in axes}, names) for one in found]
    return chosen.astype({"value": float, "low": float, "high": float}).assign(
        mark=pd.Series(marks, chosen.index, dtype=object),
        thin=[rests_on(one.get("incidences")) or "" for one in found],
    )


def number_mark(row: Row, metric: str, place: Mapping[str, str], names: Names) -> Mark:
    """'smollm2, Japanese: 0.42, 0.35 to 0.50; n = 6': what a number is, and the `place` that it leads to."""
    where = ", ".join(getattr(names, axis)(code) for axis, code in place.items())
    if known(row["estimate"]) is None:
        return Mark(where, place)
    found = estimate_of(row, metric, thin=not is_count(metric))  # a count of few is no share of few: it is never grey
    return Mark(f"{where}: {found.says}", place)


def cells(frame: pd.DataFrame, row: str, column: str, metric: str) -> pd.DataFrame:
    """The cells of a `Heat`: row, column, value (the mean), thin, and what is said: its interval and linked items."""
    numbers = frame.astype({"estimate": float, "low": float, "high": float, "incidences": float})
    numbers["incidences"] = numbers["incidences"].where(numbers["estimate"].notna())
    groups = numbers.groupby([row, column], sort=False, as_index=False)
    found = groups.agg(
        value=("estimate", "mean"),
        many=("estimate", "count"),
        low=("low", "first"),
        high=("high", "first"),
        items=("incidences", "sum"),
    ).rename(columns={row: "row", column: "column"})
    told = pd.Series([_interval_and_items(one, metric) for one in found.itertuples()], found.index, dtype=object)
    few = found["value"].notna() & (found["items"] < (0 if is_count(metric) else FEWEST))
    thin = found["items"].where(few)
    return found.assign(thin=thin, says=told)


def _interval_and_items(one: Any, metric: str) -> str | None:
    if not one.many:
        return None
    alone = one.many == 1 and known(one.low) is not None
    interval = f"{decimal(one.low, metric)} to {decimal(one.high, metric)}; " if alone else ""
    return f"{interval}n = {count(one.items)}"


def reach(values: pd.Series[float]) -> float:
    """The end of a colour scale: the largest absolute value, rounded up to the next tenth."""
    top = float(values.abs().max()) if values.notna().any() else 1.0
    return max(0.1, math.ceil(round(top * 10, 6)) / 10)


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


def lacking_most(frame: pd.DataFrame) -> str:
    """Why most of the numbers without an interval have none; empty where all have one."""
    reasons = frame.dropna(subset=["estimate"]).loc[lambda rows: rows["low"].isna(), "no_interval"].dropna()
    return texts().missing.get(str(reasons.mode().iloc[0]), "") if len(reasons) else ""


def basis(frame: pd.DataFrame) -> str:
    """A sentence on the responses and linked items behind the rows of a frame."""
    items = f"{count(frame['incidences'].sum())} linked items, each counted once per response"
    return f"It rests on {count(frame['responses'].sum())} responses with {items}."


def _where(rows: Sequence[Row], value: str, metric: str, names: Names) -> str:
    alike = [row for row in rows if decimal(row["estimate"], metric) == value]
    if len(alike) > 1:
        return f"{value}, in {len(alike)} places"
    few = rests_on(alike[0].get("incidences")) if not is_count(metric) else None
    return ", ".join(filter(None, [value, names.place(alike[0], "country", "topic", "model"), few]))
