"""Boxes: for each row the spread of its numbers, with those that matter marked among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes

from polyculture.reports.figures.charts import MARKERS, WIDE
from polyculture.reports.figures.drawing import (
    MUTED,
    PAPER,
    RULE,
    SERIES,
    TEXT,
    Margins,
    canvas,
    finish_rows,
    label_width,
    plain,
    style,
)
from polyculture.reports.figures.inline import to_svg

FEWEST_IN_BOX = 5  # numbers: fewer are drawn one by one, since their quartiles would say nothing
_ROW = 17  # pixels
_HALF = 0.29  # of a row: half of a box's height


@dataclass(frozen=True, slots=True)
class Marked:
    """A number that is marked among the others of its row; `address` is its `Mark`."""

    value: float
    low: float | None
    high: float | None
    address: str
    thin: bool = False  # it rests on few linked items: hollow and grey


@dataclass(frozen=True, slots=True)
class Box:
    """A row: all of its numbers, and those that are marked. `thin`: most of them rest on few linked items."""

    label: str
    values: Sequence[float]
    address: str
    marked: Sequence[Marked] = ()
    thin: bool = False
    begins: bool = False  # a block of rows: a line stands above it


@dataclass(frozen=True, slots=True)
class Boxes:
    """A box per row: its middle half, its median, and lines to the least and the largest number.

    A row with fewer than `FEWEST_IN_BOX` numbers has a hollow mark for each instead.
    """

    name: str
    alternative: str
    boxes: Sequence[Box]
    label: str
    limits: tuple[float, float]
    place: Mapping[str, str]
    width: float = WIDE

    def draw(self) -> Markup:
        """The chart as an `<svg>` element."""
        labels = [plain(box.label) for box in self.boxes]
        with style():
            margins = Margins(left=label_width(labels) + 16, top=8, bottom=48)
            figure, axes = canvas(self.width, _ROW * len(self.boxes), margins)
            _draw_boxes(axes, self.boxes, self.limits)
            for thin in (False, True):
                _draw_marked(axes, self.boxes, thin=thin)
            finish_rows(axes, labels, self.label, self.limits)
            return to_svg(figure, self.name, self.alternative, self.place)


def _draw_boxes(axes: Axes, boxes: Sequence[Box], limits: tuple[float, float]) -> None:
    axes.hlines([row - 0.5 for row, box in enumerate(boxes) if box.begins], *limits, color=MUTED, linewidth=0.6)
    single = [(value, row) for row, box in enumerate(boxes) for value in _singles(box)]
    if single:
        values, rows = zip(*single, strict=True)
        axes.scatter(values, rows, s=26, marker="o", facecolor=PAPER, edgecolor=MUTED, linewidth=1)
    for thin in (False, True):
        own = [(row, box) for row, box in enumerate(boxes) if box.thin == thin and not _singles(box)]
        if own:
            _draw_alike(axes, own, thin=thin)


def _draw_alike(axes: Axes, own: Sequence[tuple[int, Box]], *, thin: bool) -> None:
    rows = np.array([row for row, _ in own])
    quarters = np.array([np.quantile(box.values, (0, 0.25, 0.5, 0.75, 1)) for _, box in own]).T
    least, low, middle, high, most = quarters
    ink, face = (RULE, PAPER) if thin else (MUTED, RULE)
    axes.hlines(rows, least, most, color=ink, linewidth=1.2)
    bars = axes.barh(rows, high - low, left=low, height=2 * _HALF, facecolor=face, edgecolor=ink, zorder=2.5)
    for bar, (_, box) in zip(bars, own, strict=True):
        bar.set_url(box.address)
    axes.vlines(middle, rows - _HALF, rows + _HALF, color=ink if thin else TEXT, linewidth=2, zorder=2.6)


def _singles(box: Box) -> Sequence[float]:
    return box.values if len(box.values) < FEWEST_IN_BOX else ()


def _draw_marked(axes: Axes, boxes: Sequence[Box], *, thin: bool) -> None:
    own = [(row, one) for row, box in enumerate(boxes) for one in box.marked if one.thin == thin]
    if not own:
        return
    ink = MUTED if thin else SERIES[0]
    face, edge = (PAPER, MUTED) if thin else (SERIES[0], PAPER)
    known = [(row, one.low, one.high) for row, one in own if one.low is not None and one.high is not None]
    if known:
        axes.hlines(*zip(*known, strict=True), color=ink, linewidth=1.8, alpha=0.9, zorder=2.7)
    axes.scatter(
        [one.value for _, one in own],
        [row for row, _ in own],
        s=50,
        marker=MARKERS[3],
        facecolor=face,
        edgecolor=edge,
        zorder=3,
        urls=[one.address for _, one in own],
    )
