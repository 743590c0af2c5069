"""The heat map: a table of numbers as colours, with the numbers in them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import seaborn as sns
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Rectangle

from reports.figures.drawing import GAIN, HEAT, MUTED, PAPER, STEPS, TEXT, Margins, canvas, label_width, plain, style
from reports.figures.inline import to_svg

_WIDTH, _HEIGHT = 40, 26


@dataclass(frozen=True, slots=True)
class Heat:
    """Rows x columns of numbers; what is missing has no colour and a dash.

    `outlined` names the cells (row, column) that get a frame. `signed` numbers lie around 0.
    """

    name: str
    alternative: str
    table: pd.DataFrame
    rows: Sequence[str]  # what is written beside the rows of `table`
    columns: Sequence[str]  # and above its columns
    limits: tuple[float, float]
    outlined: frozenset[tuple[str, str]] = frozenset()
    signed: bool = False
    asked: frozenset[tuple[str, str]] | None = None  # the cells that a prompt is about; None for all
    cell: Mapping[str, str] | None = None  # what rows and columns leave open of a cell, where they lead to its evidence

    def draw(self) -> Markup:
        """The heat map as an `<svg>` element."""
        rows, columns = [plain(row) for row in self.rows], [plain(column, 12) for column in self.columns]
        margins = Margins(left=label_width(rows) + 14, top=26, right=4, bottom=4)
        with style():
            figure, axes = canvas(_WIDTH * len(columns), _HEIGHT * len(rows), margins)
            self._colour(axes)
            self._write(axes)
            self._outline(axes)
            axes.set(xlabel="", ylabel="")
            axes.set_xticks(np.arange(len(columns)) + 0.5, columns, rotation=0)
            axes.set_yticks(np.arange(len(rows)) + 0.5, rows, rotation=0)
            axes.tick_params(length=0, pad=6, top=True, labeltop=True, bottom=False, labelbottom=False)
            return to_svg(figure, self.name, self.alternative, self._places(margins))

    def _places(self, margins: Margins) -> dict[str, str]:
        """What the page's script needs to tell which cell was clicked."""
        if self.cell is None:
            return {}
        sides = {"rows": list(self.table.index), "columns": list(self.table.columns)}
        size = {"left": margins.left, "top": margins.top, "width": _WIDTH, "height": _HEIGHT}
        return {**self.cell, **{k: json.dumps(v) for k, v in sides.items()}, **{k: str(v) for k, v in size.items()}}

    def _colour(self, axes: Axes) -> None:
        sns.heatmap(
            self.table, ax=axes, cmap=ListedColormap(GAIN if self.signed else HEAT), vmin=self.limits[0],
            vmax=self.limits[1], mask=self.table.isna(), cbar=False, xticklabels=False, yticklabels=False,
            linewidths=1.5, linecolor=PAPER,
        )  # fmt: skip

    def _write(self, axes: Axes) -> None:
        for row, values in enumerate(self.table.to_numpy(dtype=float)):
            for column, value in enumerate(values):
                place = (self.table.index[row], self.table.columns[column])
                if place[0] == place[1] or not (self.asked is None or place in self.asked):
                    continue  # a language with itself, or what nobody asked
                text, ink = ("–", MUTED) if np.isnan(value) else (_hundredths(value, self.signed), self._ink(value))
                axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=ink)

    def _ink(self, value: float) -> str:
        """The page's text colour, or its paper where the cell's colour is far from it (both in light and in dark)."""
        low, high = self.limits
        step = min(STEPS - 1, max(0, int((value - low) / (high - low) * STEPS)))
        strong = abs(step - STEPS // 2) >= 4 if self.signed else step > STEPS // 2
        return PAPER if strong else TEXT

    def _outline(self, axes: Axes) -> None:
        for row, label in enumerate(self.table.index):
            for column, other in enumerate(self.table.columns):
                if (label, other) in self.outlined:
                    place = (column + 0.03, row + 0.05)
                    axes.add_patch(Rectangle(place, 0.94, 0.9, fill=False, edgecolor=TEXT, linewidth=2))


def _hundredths(value: float, signed: bool) -> str:
    number = f"{value:+.2f}" if signed else f"{value:.2f}"
    return number.replace("0.", ".", 1).replace("-", "−") if float(number) else "0"
