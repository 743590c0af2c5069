"""The kinds of charts. Each is made of a frame with a row for each number, and draws nothing before it is asked to.

Columns that all kinds know: `low` and `high` are a number's interval, NaN where it has none; `mark` (a `Mark`) says the
number and leads to what is behind it; without this column nothing leads anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from polyculture.reports.figures.chart import Chart, Links, Margins, Mark
from polyculture.reports.figures.style import INK, LETTER, MUTED, PAPER, RULE, SERIES, label_width, marker_of, plain

WIDE, SHORT, NARROW = 303.0, 146.0, 82.0  # points of axes in the page: one, two or three stand side by side
FEWEST_IN_BOX = 5  # numbers: fewer are drawn one by one, since their quartiles would say nothing
_ROWS = Margins(left=9, top=5, right=7, bottom=28)  # of a chart with labelled rows
_SCALES = Margins(left=30, top=6, right=9, bottom=28)  # of one with two scales
_BESIDE, _ABOVE = 0.25, 10.0  # of the width: longer labels stand above their rows, which have so much more room
_MARKER, _LINE = 16.0, 1.1  # the area of a mark, the width of a line
_ROW_NAME = 60  # letters of a row's label, which stands above its row where it is long
_NAME, _NAMES = 22, 24  # letters of a point's name, and so many names at most


def dots(
    frame: pd.DataFrame,
    *,
    alternative: str,
    rows: Mapping[str, str],
    series: Sequence[str],
    label: str,
    limits: tuple[float, float],
    width: float = WIDE,
) -> Chart:
    """Numbers with intervals: a row for each key of `rows` with its label, in it a colour and shape per series.

    Columns: row, series, value, low, high, mark, and thin: 'n = 6' where a number rests on little, else ''. Long labels
    stand above their rows: beside them they would leave a phone, or a column of a paper, no room for the numbers.
    """
    apart = 7.5 if len(series) <= 3 else 4.0
    labels = [plain(row, _ROW_NAME) for row in rows.values()]
    above = _ABOVE if _BESIDE * width < label_width(labels) <= width else 0.0
    step = max(17.5, apart * len(series) + 6) + above

    def paint(axes: Axes, links: Links) -> None:
        place = {row: number + above / 2 / step for number, row in enumerate(rows)}
        shift = {one: (number - (len(series) - 1) / 2) * apart / step for number, one in enumerate(series)}
        placed = frame.dropna(subset=["value"])
        placed = placed.assign(x=placed["value"], y=placed["row"].map(place) + placed["series"].map(shift))
        points(axes, placed, series, links, axes.hlines, "y")
        axes.set(xlabel=label, xlim=limits, ylabel="")
        axes.grid(axis="x")
        if above:
            axes.set_yticks([])
            axes.set_ylim(len(rows) - 0.5, -0.5)
            for number, name in enumerate(labels):
                axes.annotate(
                    name,
                    (limits[0], number - 0.5),
                    (0, -1),
                    textcoords="offset points",
                    va="top",
                    backgroundcolor=PAPER,
                )

    beside = [] if above else list(rows.values())
    return Chart(alternative, frame, paint, width, _ROWS, height=step * len(rows), rows=beside)


def scatter(
    frame: pd.DataFrame,
    *,
    alternative: str,
    series: Sequence[str],
    labels: tuple[str, str] = ("", ""),
    limits: tuple[tuple[float, float], tuple[float, float]] | None = None,
    width: float = 138.0,
) -> Chart:
    """Points on two scales, in the colour and shape of their series, with the intervals of their heights.

    Columns: series, x, y, low, high, mark, and name, which is written beside its point where no other name is. Without
    limits the scales mean nothing and are not shown.
    """
    beside = frame["name"].astype(str).map(lambda name: plain(name, _NAME)) if "name" in frame else None
    room = min(60.0, label_width(list(beside))) if beside is not None else 0.0

    def paint(axes: Axes, links: Links) -> None:
        points(axes, frame, series, links, axes.vlines, "x")
        if limits:
            axes.set(xlabel=labels[0], ylabel=labels[1], xlim=limits[0], ylim=limits[1])
            axes.locator_params(nbins=4)
            axes.grid()
        else:
            axes.margins(0.05)
            axes.set_axis_off()
        if beside is not None:
            _names(axes, frame.assign(name=beside), room)

    margins = _SCALES if limits else Margins(6, 6, 6, 6)
    return Chart(alternative, frame, paint, width, margins._replace(right=margins.right + room), aspect=1.0)


def lines(
    frame: pd.DataFrame,
    *,
    alternative: str,
    series: Sequence[str],
    labels: tuple[str, str],
    ticks: Mapping[float, str],
    top: float | None = None,
    beside: float = 0.05,
    width: float = SHORT,
    place: Mapping[str, str] | None = None,
) -> Chart:
    """A line per series; columns: series, x, y, low, high, mark.

    Intervals are a band; those of a series of at most two points are lines. `ticks` are names of places on the lower
    scale, `beside` is the room beside the first and last place. The upright scale begins at 0 and ends at `top`.
    """

    def paint(axes: Axes, links: Links) -> None:
        for number, name in enumerate(series):
            own = frame[frame["series"] == name].dropna(subset=["y"]).sort_values("x")
            ink, marker = SERIES[number % len(SERIES)], marker_of(number)
            if len(own) > 2:
                axes.fill_between(own["x"], own["low"], own["high"], color=ink, alpha=0.18, linewidth=0)
            else:
                axes.vlines(own["x"], own["low"], own["high"], color=ink, alpha=0.6, linewidth=_LINE)
            axes.plot(own["x"], own["y"], color=ink, linewidth=_LINE)
            step = -(-len(own) // 16)  # more marks of a line would touch, those of two lines are at other places
            some = own.iloc[number % step :: step] if len(own) else own
            urls = links.urls(some["mark"]) if "mark" in some else None
            axes.scatter(
                some["x"],
                some["y"],
                s=11,
                color=ink,
                marker=marker,
                edgecolor=PAPER,
                linewidth=0.4,
                zorder=3,
                urls=urls,
            )
        axes.margins(x=beside)
        axes.set_xticks(list(ticks), list(ticks.values()))
        axes.set(xlabel=labels[0], ylabel=labels[1])
        axes.set(ylim=(0, top))
        axes.grid(axis="y")

    return Chart(alternative, frame, paint, width, _SCALES, aspect=0.8, place=place or {})


def boxes(
    frame: pd.DataFrame,
    *,
    alternative: str,
    rows: Mapping[str, str],
    says: Mapping[str, Mark],
    series: tuple[str, str],
    label: str,
    limits: tuple[float, float],
    place: Mapping[str, str],
) -> Chart:
    """Numbers of the first of `series` as marks with intervals, in each row beside a box of those of the second.

    Columns: row, series, value, low, high, mark. A box is the middle half of its numbers and their median, with lines
    to the least and the largest; `says` has its `Mark`. Fewer than `FEWEST_IN_BOX` numbers are marks without intervals.
    """

    def paint(axes: Axes, links: Links) -> None:
        places = {row: number for number, row in enumerate(rows)}
        placed = frame.assign(x=frame["value"], y=frame["row"].map(places).astype(float))
        single = placed["series"] == series[0]
        many = placed[~single].groupby("row")["x"].transform("size").reindex(placed.index) >= FEWEST_IN_BOX
        in_box = {str(row): list(own["x"]) for row, own in placed[many].groupby("row")}
        if in_box:
            drawn = axes.boxplot(
                list(in_box.values()), positions=[places[row] for row in in_box], orientation="horizontal", widths=0.58,
                whis=(0, 100), showcaps=False, patch_artist=True, manage_ticks=False,
                boxprops={"facecolor": RULE, "edgecolor": MUTED, "linewidth": 0.6},
                whiskerprops={"color": MUTED, "linewidth": 0.7}, medianprops={"color": INK, "linewidth": 1.2},
            )  # fmt: skip
            for box, url in zip(drawn["boxes"], links.urls(says[row] for row in in_box), strict=True):
                box.set_url(url)
        alone = placed[~many]
        alone = alone.assign(low=alone["low"].where(single))
        for name in reversed(series):  # a native mark is above a square at the same place, whose corners it leaves free
            points(axes, alone[alone["series"] == name], series, links, axes.hlines, "y")
        axes.set(xlabel=label, xlim=limits, ylabel="")
        axes.grid(axis="x")

    labels = list(rows.values())
    return Chart(alternative, frame, paint, WIDE, _ROWS, height=10.0 * len(rows), rows=labels, place=place)


def axis_limits(values: pd.DataFrame) -> tuple[float, float]:
    """From zero to a little above the largest value."""
    top = float(np.nanmax(values.to_numpy(dtype=float), initial=0.0))
    return (0.0, top * 1.05 or 1.0)


def points(
    axes: Axes,
    frame: pd.DataFrame,
    series: Sequence[str],
    links: Links,
    interval: Callable[..., object],
    across: str,
) -> None:
    """Marks at x and y with their intervals; what rests on little is hollow and grey, with its number beside it."""
    colours = {name: SERIES[number % len(SERIES)] for number, name in enumerate(series)}
    shapes = {name: marker_of(number) for number, name in enumerate(series)}
    thin = frame["thin"].fillna("") != "" if "thin" in frame else pd.Series(data=False, index=frame.index)
    for pale, own in ((False, frame[~thin]), (True, frame[thin])):
        if own.empty:
            continue
        if "low" in own:
            known = own.dropna(subset=["low", "high"])
            ink = MUTED if pale else list(known["series"].map(colours))
            if len(known):
                interval(known[across], known["low"], known["high"], colors=ink, linewidth=_LINE, alpha=0.8)
        for name in series:  # seaborn's scatterplot takes ten times as long
            some = own[own["series"] == name]
            axes.scatter(
                some["x"], some["y"], s=_MARKER / 2 if pale else _MARKER, marker=shapes[name],
                color=PAPER if pale else colours[name], edgecolor=MUTED if pale else PAPER, linewidth=0.5, zorder=3,
                urls=links.urls(some["mark"]) if "mark" in some else None,
            )  # fmt: skip
        if pale:
            for row in own.to_dict("records"):
                x, side = (row["x"], 1) if across == "x" else _beside(axes, row)
                axes.annotate(
                    row["thin"], (x, row["y"]), (4 * side, 0), textcoords="offset points",
                    va="center", ha="left" if side > 0 else "right", color=MUTED, fontsize=6,
                )  # fmt: skip


def _beside(axes: Axes, row: Mapping[Any, Any]) -> tuple[float, int]:
    """Where a word does not lie on a horizontal interval: right of it, or left of it where that is at the axis' end."""
    low, high = (row["x"] if pd.isna(row.get(name)) else row[name] for name in ("low", "high"))
    first, last = axes.get_xlim()
    near = 0.15 * (last - first)
    return (low, -1) if high > last - near and low > first + near else (high, 1)


def _names(axes: Axes, frame: pd.DataFrame, room: float) -> None:
    """The names for which there is room: none is written over another."""
    wide, high = axes.get_window_extent().size
    kept: list[tuple[float, float, float]] = []  # left and right end, height
    for row in frame[frame["name"] != ""].to_dict("records"):
        x, y = axes.transAxes.inverted().transform(axes.transData.transform((row["x"], row["y"]))) * (wide, high)
        text = label_width([row["name"]])
        shift = 4.0 if x + 4 + text <= wide + room else -4.0
        left, right = (x, x + 4 + text) if shift > 0 else (x - 4 - text, x)
        if len(kept) < _NAMES and all(
            right < first or left > last or abs(y - height) > LETTER for first, last, height in kept
        ):
            kept.append((left, right, y))
            axes.annotate(
                row["name"], (row["x"], row["y"]), (shift, 0), textcoords="offset points", va="center",
                ha="left" if shift > 0 else "right", fontsize=6,
            )  # fmt: skip
