"""Draws figures: text stays text, which the browser shapes; a unit is a CSS pixel.

A figure is drawn in *inks*, hexadecimal colours that nothing else uses; in the page they become its CSS variables, so
that one drawing is right in light, in dark and on paper.
"""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

TEXT, MUTED, RULE, PAPER = "#010101", "#020202", "#030303", "#040404"
SERIES = tuple(f"#0a000{number}" for number in range(1, 9))
STEPS = 11  # colours of a heat map, from least to most
VARIABLES = {
    TEXT: "currentColor",
    MUTED: "var(--muted)",
    RULE: "var(--rule)",
    PAPER: "var(--paper)",
    **{ink: f"var(--series-{number})" for number, ink in enumerate(SERIES, 1)},
}
FONT_SIZE = 12.0
_PIXELS_PER_INCH = 72  # an SVG point of matplotlib is taken as a CSS pixel


@dataclass(frozen=True, slots=True)
class Margins:
    """Room around the axes, in pixels."""

    left: float
    top: float
    right: float = 12
    bottom: float = 40


@contextmanager
def style() -> Iterator[None]:
    """Seaborn's plain style in the page's inks."""
    settings: dict[Any, Any] = {
        "text.color": TEXT, "axes.labelcolor": MUTED, "axes.edgecolor": RULE, "grid.color": RULE,
        "xtick.color": MUTED, "ytick.color": TEXT, "figure.facecolor": "none", "axes.facecolor": "none",
        "savefig.facecolor": "none", "svg.fonttype": "none", "text.parse_math": False,  # a $ in a name is a $
        "font.size": FONT_SIZE, "axes.labelsize": FONT_SIZE, "xtick.labelsize": FONT_SIZE, "ytick.labelsize": FONT_SIZE,
    }  # fmt: skip
    with sns.axes_style("ticks"), mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "Glyph .* missing from font"
        )  # the browser has the fonts, this process has not
        yield


def canvas(width: float, height: float, margins: Margins) -> tuple[Figure, Axes]:
    """A figure whose one axes measures `width` x `height` pixels inside `margins`."""
    whole = (margins.left + width + margins.right, margins.top + height + margins.bottom)
    figure = Figure(figsize=(whole[0] / _PIXELS_PER_INCH, whole[1] / _PIXELS_PER_INCH), dpi=_PIXELS_PER_INCH)
    FigureCanvasSVG(figure)
    place = (margins.left / whole[0], margins.bottom / whole[1], width / whole[0], height / whole[1])
    return figure, figure.add_axes(place)


def finish_rows(axes: Axes, labels: Sequence[str], label: str, limits: tuple[float, float]) -> None:
    """The scales of a chart with a labelled row for each whole number from 0, the first at the top."""
    axes.set(xlabel=label, ylabel="", xlim=limits, ylim=(len(labels) - 0.5, -0.5))
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params(length=0, pad=7)
    axes.grid(axis="x", linewidth=1)
    axes.set_axisbelow(True)
    sns.despine(ax=axes, left=True, bottom=True)


def label_width(labels: Sequence[str]) -> float:
    """The approximate width of the longest label, in pixels."""
    return FONT_SIZE * max((sum(map(_em, label)) for label in labels), default=0.0)


def plain(label: str, longest: int = 36) -> str:
    """A label for a figure: one line, no invisible characters, cut with an ellipsis."""
    line = "".join(letter for letter in label if unicodedata.category(letter)[0] != "C")
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _em(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    return 1.0 if unicodedata.east_asian_width(letter) in "WF" else 0.54
