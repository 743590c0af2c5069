"""Points on two scales: a number with its interval against another, for several series."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
import seaborn as sns
from markupsafe import Markup

from polyculture.reports.figures.charts import MARKERS
from polyculture.reports.figures.drawing import PAPER, SERIES, Margins, canvas, label_width, plain, style
from polyculture.reports.figures.inline import to_svg

_WIDE, _HIGH = 236.0, 220.0  # pixels: with its margins as wide as the page on a telephone
_TICKS = 5  # at most, on the lower scale
_NAME = 22  # letters of a point's name
_FONT = 11.0
_GAP = 7.0  # pixels from a point to its name
_ROOM = 60.0  # pixels to the right of the scales, for the name of a point at their end


class _Name(NamedTuple):
    """The name of a point, `shift` pixels to the right of it; to the left where that is negative."""

    text: str
    x: float
    y: float
    shift: float


@dataclass(frozen=True, slots=True)
class Scatter:
    """A point per row, in the colour and shape of its series, with the interval of its height.

    `frame` has the columns series, label, x, y, low and high. Names of points are written where no other name is.
    """

    name: str
    alternative: str
    frame: pd.DataFrame
    series: Sequence[str]
    labels: tuple[str, str]  # of the two scales
    limits: tuple[tuple[float, float], tuple[float, float]]

    def draw(self) -> Markup:
        """The chart as an `<svg>` element."""
        with style():
            figure, axes = canvas(_WIDE, _HIGH, Margins(left=48, top=8, right=_ROOM, bottom=48))
            for index, name in enumerate(self.series):
                own = self.frame[self.frame["series"] == name]
                ink, marker = SERIES[index % len(SERIES)], MARKERS[index % len(MARKERS)]
                measured = own.dropna(subset=["low", "high"])
                axes.vlines(measured["x"], measured["low"], measured["high"], color=ink, alpha=0.6)
                axes.scatter(own["x"], own["y"], s=40, color=ink, marker=marker, edgecolor=PAPER, zorder=3)
            axes.set(xlabel=self.labels[0], ylabel=self.labels[1], xlim=self.limits[0], ylim=self.limits[1])
            for written in self._names():
                side: dict[str, Any] = {"xytext": (written.shift, 0), "ha": "right" if written.shift < 0 else "left"}
                place = written.x, written.y
                axes.annotate(written.text, place, textcoords="offset points", va="center", fontsize=_FONT, **side)
            axes.locator_params(axis="x", nbins=_TICKS)
            axes.tick_params(length=0, pad=7)
            axes.grid(linewidth=1)
            axes.set_axisbelow(True)
            sns.despine(ax=axes, left=True, bottom=True)
            return to_svg(figure, self.name, self.alternative)

    def _names(self) -> Iterator[_Name]:
        """The names for which there is room: none is written over another."""
        kept: list[tuple[float, float, float]] = []  # left and right end, height
        for row in self.frame.sort_values(["x", "y", "label"]).to_dict("records"):
            text, (x, y) = plain(str(row["label"]), _NAME), self._pixels(row["x"], row["y"])
            wide = label_width([text])
            shift = _GAP if x + _GAP + wide <= _WIDE + _ROOM else -_GAP
            left, right = (x, x + _GAP + wide) if shift > 0 else (x - _GAP - wide, x)
            if all(right < first or left > last or abs(y - height) > _FONT for first, last, height in kept):
                kept.append((left, right, y))
                yield _Name(text, row["x"], row["y"], shift)

    def _pixels(self, x: float, y: float) -> tuple[float, float]:
        (left, right), (bottom, top) = self.limits
        return (x - left) / (right - left) * _WIDE, (y - bottom) / (top - bottom) * _HIGH
