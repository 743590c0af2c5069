"""Charts of numbers with intervals: dots, strips and curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from markupsafe import Markup
from matplotlib.axes import Axes

from polyculture.reports.figures.drawing import (
    MUTED,
    PAPER,
    SERIES,
    Margins,
    canvas,
    finish_rows,
    label_width,
    plain,
    style,
)
from polyculture.reports.figures.figure import Key
from polyculture.reports.figures.inline import to_svg

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")  # a series has its own shape, for readers who do not see its colour
_SHAPES = dict(zip(MARKERS, "●■▲◆▼✚✖⬟", strict=True))  # the same shapes as letters
WIDE, SHORT = 520.0, 250.0  # pixels: a chart that stands alone, and one of several
_APART, _CLOSE = 13, 7  # pixels between the series of a row: of few, and of many
_FEW = 3
_ROW = 30
_TOUCH = 6  # pixels between two marks of a strip, so that none hides the other
_LEVELS = (0, -_TOUCH, _TOUCH, -2 * _TOUCH, 2 * _TOUCH)  # pixels from the middle of a row


@dataclass(frozen=True, slots=True)
class Dots:
    """Numbers with intervals: a row per label, in it a colour and shape per series.

    `frame` has the columns row, series, value, low, high and mark (an address of `Mark`; without this column no mark
    leads to the evidence); a row without a value is not drawn.
    """

    name: str
    alternative: str
    frame: pd.DataFrame
    rows: Sequence[str]  # values of the column `row`, from the top
    labels: Sequence[str]  # the labels of the rows
    series: Sequence[str]
    label: str
    limits: tuple[float, float]
    width: float = WIDE

    def draw(self) -> Markup:
        """The chart as an `<svg>` element."""
        apart = _APART if len(self.series) <= _FEW else _CLOSE
        step = max(_ROW, apart * len(self.series) + 10)
        with style():
            figure, axes = canvas(self.width, step * len(self.rows), _margins(self.labels))
            placed = self.frame.dropna(subset=["value"]).copy()
            shift = {name: (i - (len(self.series) - 1) / 2) * apart / step for i, name in enumerate(self.series)}
            placed["place"] = _places(placed, self.rows) + placed["series"].map(shift).astype(float)
            for index, name in enumerate(self.series):
                _dots(axes, placed[placed["series"] == name], index)
            finish_rows(axes, [plain(text) for text in self.labels], self.label, self.limits)
            return to_svg(figure, self.name, self.alternative)


@dataclass(frozen=True, slots=True)
class Strip:
    """A strip of numbers: the chosen ones filled, with intervals, among the others and the mean of the others.

    Numbers that are alike stand above and below one another, so that each can be seen. The chosen ones lead somewhere.
    `frame` has the columns row, chosen, value, low, high and mark; `place` is where all marks are.
    """

    name: str
    alternative: str
    frame: pd.DataFrame
    rows: Sequence[str]
    labels: Sequence[str]
    label: str
    limits: tuple[float, float]
    place: Mapping[str, str]
    width: float = WIDE

    def draw(self) -> Markup:
        """The chart as an `<svg>` element."""
        with style():
            figure, axes = canvas(self.width, _ROW * len(self.rows), _margins(self.labels))
            placed = self.frame.dropna(subset=["value"]).copy()
            placed["middle"] = _places(placed, self.rows)
            placed["place"] = placed["middle"] + self._aside(placed) / _ROW
            self._others(axes, placed[~placed["chosen"]])
            _dots(axes, placed[placed["chosen"]], 0)
            finish_rows(axes, [plain(text) for text in self.labels], self.label, self.limits)
            return to_svg(figure, self.name, self.alternative, self.place)

    def _aside(self, placed: pd.DataFrame) -> pd.Series:
        """The distance of each number from the middle of its row, in pixels; the chosen ones are placed first."""
        pixels = placed["value"] * self.width / (self.limits[1] - self.limits[0])
        first = placed.sort_values("chosen", ascending=False, kind="stable").index
        return pixels[first].groupby(placed["row"]).transform(_levels)

    def _others(self, axes: Axes, others: pd.DataFrame) -> None:
        sns.scatterplot(
            data=others, x="value", y="place", ax=axes, legend=False, s=30, marker="o", facecolor="none",
            edgecolor=MUTED, linewidth=1, alpha=0.8,
        )  # fmt: skip
        means = others.groupby("middle")["value"].mean()
        axes.vlines(means, means.index - 0.32, means.index + 0.32, color=SERIES[1], linewidth=2.4)


@dataclass(frozen=True, slots=True)
class Curves:
    """A curve per series over the number of responses, on a logarithmic scale.

    `frame` has the columns series, x, y, mark, low and high (between which a band is drawn); `labels` says what is
    written on the two axes, `place` where all marks are.
    """

    name: str
    alternative: str
    frame: pd.DataFrame
    series: Sequence[str]
    labels: Sequence[str]
    place: Mapping[str, str]
    top: float | None = None  # the end of the upright scale; None: as far as the curves go
    width: float = WIDE

    def draw(self) -> Markup:
        """The chart as an `<svg>` element."""
        with style():
            figure, axes = canvas(self.width, 0.8 * self.width, Margins(left=48, top=8, bottom=48))
            for index, name in enumerate(self.series):
                own = self.frame[self.frame["series"] == name]
                ink, marker = SERIES[index % len(SERIES)], MARKERS[index % len(MARKERS)]
                axes.fill_between(own["x"], own["low"], own["high"], color=ink, alpha=0.18, linewidth=0)
                axes.plot(own["x"], own["y"], color=ink, linewidth=1.8)
                axes.scatter(
                    own["x"],
                    own["y"],
                    s=36,
                    color=ink,
                    marker=marker,
                    edgecolor=PAPER,
                    zorder=3,
                    urls=own["mark"].to_list(),
                )
            sizes = sorted(set(self.frame["x"]))
            axes.set_xscale("log")
            axes.set_xticks(_ticks(sizes), [f"{size:,}" for size in _ticks(sizes)])
            axes.set_xticks([], minor=True)
            axes.set(xlabel=self.labels[0], ylabel=self.labels[1], ylim=(0, self.top))
            axes.tick_params(length=0, pad=7)
            axes.grid(axis="y", linewidth=1)
            axes.set_axisbelow(True)
            sns.despine(ax=axes, left=True, bottom=True)
            return to_svg(figure, self.name, self.alternative, self.place)


def _ticks(sizes: Sequence[int]) -> list[int]:
    """The ticks: all sizes where they are few, else the powers of ten and the last."""
    return (
        list(sizes)
        if len(sizes) < 5
        else [n for n in sizes if str(n).strip("0") == "1" and n < sizes[-1] / 3] + [sizes[-1]]
    )


def key_of(label: str, index: int) -> Key:
    """The legend's line of the series with this index."""
    return Key(label, _SHAPES[MARKERS[index % len(MARKERS)]], index % len(MARKERS) + 1)


def shape_of(marker: str) -> str:
    """The letter that looks like a marker."""
    return _SHAPES[marker]


def axis_limits(values: pd.DataFrame) -> tuple[float, float]:
    """From zero to a little above the largest value."""
    top = float(np.nanmax(values.to_numpy(dtype=float), initial=0.0))
    return (0.0, top * 1.05 or 1.0)


def _margins(labels: Sequence[str]) -> Margins:
    return Margins(left=label_width([plain(label) for label in labels]) + 16, top=8, bottom=48)


def _places(frame: pd.DataFrame, rows: Sequence[str]) -> pd.Series:
    return frame["row"].map({row: float(place) for place, row in enumerate(rows)}).astype(float)


def _levels(pixels: pd.Series[float]) -> list[int]:
    """For each mark the first level where it touches no earlier mark, else the level with most room."""
    taken: dict[int, list[float]] = {level: [] for level in _LEVELS}
    found = []
    for pixel in pixels:
        room = {level: min((abs(pixel - other) for other in own), default=math.inf) for level, own in taken.items()}
        found.append(next((level for level in _LEVELS if room[level] >= _TOUCH), max(_LEVELS, key=room.__getitem__)))
        taken[found[-1]].append(pixel)
    return found


def _dots(axes: Axes, frame: pd.DataFrame, index: int) -> None:
    """Marks with intervals; what rests on little (column thin: 'n = 6') is small, hollow and grey, with its number."""
    ink, marker = SERIES[index % len(SERIES)], MARKERS[index % len(MARKERS)]
    few = frame[frame["thin"] != ""] if {"thin", "mark"} <= set(frame) else frame[:0].assign(mark="", thin="")
    axes.hlines(few["place"], few["low"], few["high"], color=MUTED, linewidth=1, alpha=0.5)
    shape: dict[str, Any] = {"s": 22, "marker": marker, "facecolor": PAPER, "edgecolor": MUTED, "zorder": 3}
    axes.scatter(few["value"], few["place"], urls=few["mark"].to_list(), **shape)
    side: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 10, "color": MUTED}
    for x, y, text in zip(few["value"], few["place"], few["thin"] if len(few) else [], strict=True):
        axes.annotate(text, (x, y), (6, 0), **side)
    frame = frame.drop(few.index)
    measured = frame.dropna(subset=["low", "high"])
    axes.hlines(measured["place"], measured["low"], measured["high"], color=ink, linewidth=1.8, alpha=0.8)
    sns.scatterplot(
        data=frame, x="value", y="place", color=ink, marker=marker, s=48, ax=axes, legend=False, edgecolor=PAPER,
        zorder=3, urls=frame["mark"].to_list() if "mark" in frame else None,
    )  # fmt: skip
