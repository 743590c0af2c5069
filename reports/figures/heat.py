"""The heat map: in the page a table of numbers as colours, so that every cell can be read and reached; in a file a
drawing of the same cells."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from polyculture.reports.figures.chart import Margins, canvas
from polyculture.reports.figures.style import GAIN, HEAT, INK, LETTER, MUTED, RULE, label_width, plain

_STEPS = len(HEAT)  # colours, from least to most
_CELL, _HIGH = 17.5, 11.5  # points of a cell in a file
_SMALL = 5.2  # and of its letters
_SCALE = 110.0  # points of the scale below, with the numbers at its ends


@dataclass(frozen=True, slots=True)
class Head:
    """A row or a column: its label, where it is on the axes of the evidence, and the block that it is in."""

    label: str
    place: Mapping[str, str] = field(default_factory=dict)
    block: str = ""


@dataclass(frozen=True, slots=True)
class Heat:
    """A map of the cells of `frame`, which has a row for each; what has no row is empty, a NaN is a dash.

    Columns: row, column (keys of `rows` and `columns`) and value; and these, where they are there: `framed` (it gets a
    frame), `note` (small print below the number), `says` (the tooltip: its interval), `uncoloured` (a number that is
    none of the scale) and `thin` (the few items it rests on, for a number that gets no colour; else NaN).

    `signed` numbers lie around 0. With `place`, where all cells are on the axes of the evidence, they lead there.
    `lacking` is why numbers have no interval, where most have the same reason. A line is drawn between two blocks.
    """

    alternative: str
    frame: pd.DataFrame
    rows: Mapping[str, Head]
    columns: Mapping[str, Head]
    limits: tuple[float, float]
    place: Mapping[str, str] | None = None
    signed: bool = False
    lacking: str = ""
    digits: int = 2

    def draw(self) -> Markup:
        """The map as a `<table>` in which arrow keys move, and the key of its colours."""
        leads = "heat still" if self.place is None else 'heat" role="grid'
        lacking = f' data-lacking="{escape(self.lacking)}"' if self.lacking else ""
        heads = "".join(
            f'<th scope="col"{_data(head.place)}>{escape(plain(head.label, 12))}</th>' for head in self.columns.values()
        )
        cells = {(str(one["row"]), str(one["column"])): one for one in self.frame.to_dict("records")}
        begins, tab = self._begins(), self.place is not None
        lines = []
        for row, head in self.rows.items():
            block = f' title="{escape(head.block)}"' if row in begins and head.block else ""
            line = [f'<th scope="row"{block}>{escape(plain(head.label))}</th>']
            for column in self.columns:
                one = cells.get((row, column))
                line.append(self._cell(one, tab=tab and one is not None and not math.isnan(one["value"])))
                tab = tab and "tabindex" not in line[-1]
            blocked = ' class="block"' if row in begins else ""
            lines.append(f"<tr{blocked}{_data(head.place)}>{''.join(line)}</tr>")
        return Markup(  # noqa: S704  all texts are escaped
            f'<table class="{leads}"{_data(self.place or {})}{lacking}><caption>{escape(self.alternative)}</caption>'
            f"<thead><tr><td></td>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>{self._key()}"
        )

    def _cell(self, one: Mapping[Hashable, Any] | None, *, tab: bool) -> str:
        if one is None:
            return '<td class="off"></td>'
        value, frame = float(one["value"]), " native" if one.get("framed") else ""
        note = f"<small>{escape(one['note'])}</small>" if one.get("note") else ""
        if math.isnan(value):
            return f'<td class="off{frame}">–{note}</td>'
        says = f' data-says="{escape(one["says"])}"' if one.get("says") is not None else ""
        stop = ' tabindex="0"' if tab else ""
        few = one.get("thin")
        thin = few is not None and not math.isnan(few)
        note = f"<small>n {few:.0f}</small>{note}" if thin else note
        shade = "thin" if thin else "plain" if one.get("uncoloured") else self._class(value)
        return f'<td class="{shade}{frame}"{says}{stop}>{self.written(value)}{note}</td>'

    def written(self, value: float) -> str:
        """A number in a cell: '.42', '+.10', '0', '12.5'."""
        number = f"{value:+.{self.digits}f}" if self.signed else f"{value:.{self.digits}f}"
        short = number.replace("0.", ".", 1) if abs(float(number)) < 1 else number
        return short.replace("-", "−") if float(number) else "0"

    def _begins(self) -> set[str]:
        """The rows with which a block begins; none where there is only one."""
        before, found = None, []
        for row, head in self.rows.items():
            if head.block != before:
                found.append(row)
            before = head.block
        return set(found) if len(found) > 1 else set()

    def _class(self, value: float) -> str:
        """The class of a number's colour: h0 to h10, or g0 to g10 for signed numbers."""
        low, high = self.limits
        step = min(_STEPS - 1, max(0, int((value - low) / (high - low) * _STEPS)))
        return f"{'g' if self.signed else 'h'}{step}"

    def _ends(self) -> tuple[str, str]:
        low, high = (f"{end:+.1f}" if self.signed else f"{end:.1f}" for end in self.limits)
        return low.replace("-", "−"), high

    def _key(self) -> str:
        low, high = self._ends()
        steps = "".join(f'<i class="{"g" if self.signed else "h"}{step}"></i>' for step in range(_STEPS))
        steps = f'<span class="steps" aria-hidden="true">{steps}</span>'
        return f'<p class="scale"><span>{low}</span>{steps}<span>{high}</span></p>'

    def picture(self, width: float, above: float = 0.0) -> Figure:
        """The map for a file, at most `width` points wide: with many columns its cells are small, and their letters."""
        labels = [plain(head.label, int(0.13 * width)) for head in self.rows.values()]
        heads = [plain(head.label, 12) for head in self.columns.values()]
        left = label_width(labels) + 9
        cell = min(_CELL, (width - left - 9) / len(heads))
        turned = label_width(heads) > cell - 1
        right = max(8.0, _SCALE - cell * len(heads))
        top = above + (label_width(heads) * 0.9 + 6 if turned else 15)
        figure, axes = canvas(cell * len(heads), _HIGH * len(labels), Margins(left, top, right, 24))
        self._paint(axes, _SMALL * cell / _CELL)
        axes.set_xticks(np.arange(len(heads)) + 0.5, heads, rotation=90 if turned else 0, color=MUTED)
        axes.set_yticks(np.arange(len(labels)) + 0.5, labels, rotation=0)
        axes.tick_params(top=False, labeltop=True, labelbottom=False)
        axes.tick_params(axis="x", length=0, pad=2)  # heads close to their columns, and not to a legend above
        self._paint_key(figure, axes)
        return figure

    def _paint(self, axes: Axes, letter: float) -> None:
        values = pd.DataFrame(np.nan, list(self.rows), list(self.columns))
        texts = pd.DataFrame("", list(self.rows), list(self.columns))
        shown = self.frame[self.frame["row"].isin(list(self.rows)) & self.frame["column"].isin(list(self.columns))]
        for one in shown.to_dict("records"):
            at = values.index.get_loc(one["row"]), values.columns.get_loc(one["column"])
            self._paint_cell(axes, values, texts, at, one, letter)
        import seaborn as sns  # here: the page has no drawing of a map, and seaborn loads all of scipy.stats

        colours = ListedColormap(list(GAIN if self.signed else HEAT))
        sns.heatmap(
            values, ax=axes, cmap=colours, vmin=self.limits[0], vmax=self.limits[1], cbar=False, annot=texts,
            fmt="", annot_kws={"fontsize": letter}, linewidths=0.8, linecolor="white", zorder=0,
            xticklabels=False, yticklabels=False,
        )  # fmt: skip
        begins = self._begins()
        lines = [number for number, row in enumerate(self.rows) if row in begins and number]
        axes.hlines(lines, 0, len(self.columns), color=MUTED, linewidth=0.5)
        axes.set(xlim=(0, len(self.columns)), ylim=(len(self.rows), 0), xlabel="", ylabel="")

    def _paint_cell(
        self,
        axes: Axes,
        values: pd.DataFrame,
        texts: pd.DataFrame,
        at: tuple[Any, Any],
        one: Mapping[Hashable, Any],
        letter: float,
    ) -> None:
        row, column = at
        value, few = float(one["value"]), one.get("thin")
        thin = few is not None and not math.isnan(few)
        if math.isnan(value) or thin or one.get("uncoloured"):
            text = "–" if math.isnan(value) else self.written(value)
            axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=letter, color=MUTED)
        else:
            values.iloc[row, column], texts.iloc[row, column] = value, self.written(value)
        if thin:
            corner = (column + 0.04, row + 0.04)
            axes.add_patch(Rectangle(corner, 0.92, 0.92, facecolor="none", edgecolor=RULE, linewidth=0.3, hatch="////"))
        if one.get("framed"):
            axes.add_patch(Rectangle((column + 0.05, row + 0.05), 0.9, 0.9, fill=False, edgecolor=INK, linewidth=0.9))

    def _paint_key(self, figure: Figure, axes: Axes) -> None:
        """The scale: its colours between the numbers at its two ends, below the map."""
        wide, high = figure.get_size_inches() * 72
        left = axes.get_position().x0
        scale = figure.add_axes((left + 16 / wide, 6 / high, 68 / wide, 7 / high))
        scale.imshow([range(_STEPS)], cmap=ListedColormap(list(GAIN if self.signed else HEAT)), aspect="auto")
        scale.set_axis_off()
        low, high_end = self._ends()
        for x, text, side in ((-1, low, "right"), (_STEPS, high_end, "left")):
            scale.text(x, 0, text, ha=side, va="center", color=MUTED, fontsize=LETTER - 1)


def codes(axis: str, labels: Mapping[str, str], blocks: Mapping[str, str] | None = None) -> dict[str, Head]:
    """Rows or columns that are codes of an axis of the evidence, from their labels by code."""
    return {code: Head(label, {axis: code}, (blocks or {}).get(code, "")) for code, label in labels.items()}


def plain_heads(labels: Sequence[str]) -> dict[str, Head]:
    """Rows or columns that lead nowhere."""
    return {label: Head(label) for label in labels}


def _data(place: Mapping[str, str]) -> str:
    return "".join(f' data-{axis}="{escape(code)}"' for axis, code in place.items())
