"""A heat map as a drawing, for files: the page shows it as a table."""

from __future__ import annotations

import math
from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from polyculture.reports.figures.drawing import MUTED, STEPS, TEXT, Margins, canvas, label_width, plain, style
from polyculture.reports.figures.heat import AREAS, Heat
from polyculture.reports.figures.print_style import page_colours

_WIDE, _HIGH = 30.0, 20.0  # pixels of a cell
_GAP = 0.04  # of a cell
_DARK = {f"h{step}" for step in range(6, STEPS)} | {"g0", "g1", "g9", "g10"}  # white letters stand on these
_SMALL = 9.0


def heat_picture(heat: Heat) -> Figure:
    """The map with its colour key below, in the page's light colours."""
    rows, columns = heat.table.shape
    labels = [plain(label) for label in heat.rows]
    heads = [plain(label, 12) for label in heat.columns]
    slanted = label_width(heads) > _WIDE - 2
    above = label_width(heads) * 0.9 + 8 if slanted else 20
    with style():
        figure, axes = canvas(_WIDE * columns, _HIGH * rows, Margins(label_width(labels) + 14, above, 14, 40))
        axes.set(xlim=(0, columns), ylim=(rows, 0))
        axes.set_axis_off()
        for place, label in enumerate(labels):
            axes.text(-0.15, place + 0.5, label, ha="right", va="center", fontsize=11, color=TEXT)
        for place, head in enumerate(heads):
            turn = {"rotation": 90, "ha": "center", "va": "bottom"} if slanted else {"ha": "center", "va": "bottom"}
            axes.text(place + 0.5, -0.2, head, fontsize=10, color=MUTED, **turn)
        for row, (code, values) in enumerate(zip(heat.table.index, heat.table.to_numpy(dtype=float), strict=True)):
            for column, (other, value) in enumerate(zip(heat.table.columns, values, strict=True)):
                for artist in _cell(axes, heat, (code, other), (row, column), value):
                    axes.add_patch(artist)
        _blocks(axes, heat, rows, columns)
        _key(axes, heat, rows)
    return figure


def _cell(axes: Axes, heat: Heat, at: tuple[str, str], place: tuple[int, int], value: float) -> Iterator[Rectangle]:
    row, column = place
    if at[0] == at[1] or not (heat.asked is None or at in heat.asked):
        return
    if math.isnan(value):
        axes.text(column + 0.5, row + 0.5, "–", ha="center", va="center", fontsize=_SMALL, color=MUTED)
        return
    colour = heat.colour(value)
    thin = at in heat.thin and not heat.areas
    side = heat.size(*at) / AREAS if heat.areas else 1.0
    room = (1 - side) / 2 + _GAP
    hatch = ("//////" if heat.areas else "////") if thin or at in heat.hatched else None
    yield Rectangle(
        (column + room, row + room),
        1 - 2 * room,
        1 - 2 * room,
        facecolor="white" if thin else _page(colour),
        edgecolor=page_colours()["rule"] if thin else "white" if hatch else "none",
        linewidth=0.4,
        hatch=hatch,
    )
    if not heat.areas:
        ink = "white" if colour in _DARK and not thin else MUTED if thin else TEXT
        axes.text(column + 0.5, row + 0.5, heat.written(value), ha="center", va="center", fontsize=_SMALL, color=ink)
    if at in heat.outlined:
        yield Rectangle(
            (column + _GAP, row + _GAP), 1 - 2 * _GAP, 1 - 2 * _GAP, fill=False, edgecolor=TEXT, linewidth=1.6
        )


def _blocks(axes: Axes, heat: Heat, rows: int, columns: int) -> None:
    starts = heat.edges(list(heat.table.index), heat.blocks)
    lines = [row for row, code in enumerate(heat.table.index) if code in starts and row]
    axes.hlines(lines, 0, columns, color=MUTED, linewidth=0.8)
    starts = heat.edges(list(heat.table.columns), heat.column_blocks)
    lines = [column for column, code in enumerate(heat.table.columns) if code in starts and column]
    axes.vlines(lines, 0, rows, color=MUTED, linewidth=0.8)


def _key(axes: Axes, heat: Heat, rows: int) -> None:
    low, high = (f"{end:+.1f}".replace("-", "−") if heat.signed else f"{end:.1f}" for end in heat.limits)
    letter = "g" if heat.signed else "h"
    axes.text(0, rows + 1.0, low, fontsize=_SMALL, color=MUTED, va="center", ha="left")
    for step in range(STEPS):
        colour = _page(f"{letter}{step}")
        patch = Rectangle(
            (0.9 + 0.35 * step, rows + 0.75), 0.35, 0.5, facecolor=colour, edgecolor="none", clip_on=False
        )
        axes.add_patch(patch)
    axes.text(1.05 + 0.35 * STEPS, rows + 1.0, high, fontsize=_SMALL, color=MUTED, va="center", ha="left")


def _page(colour: str) -> str:
    return page_colours()[f"{'gain' if colour[0] == 'g' else 'heat'}-{colour[1:]}"]
