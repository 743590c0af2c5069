"""A drawing for paper: the page's light colours in place of its inks, fonts for every script, the size of a column.

What is drawn for the page is 12 pixels high where a paper's letters are 7 points: all is scaled by the same factor.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import font_manager
from matplotlib.artist import Artist
from matplotlib.collections import Collection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Annotation, Text

from polyculture.reports.figures.drawing import FONT_SIZE, MUTED, PAPER, RULE, SERIES, TEXT
from polyculture.reports.figures.figure import Key

LETTER = 7.0  # points: the page's 12 pixels on paper
SCALE = LETTER / FONT_SIZE
POINTS = 72  # of an inch
_CSS = Path(__file__).parents[1] / "report.css"
_VARIABLE = re.compile(r"--([a-z]+(?:-[0-9]+)?): (#[0-9a-f]{3,6});")
_FONTS = (
    "Noto Sans", "DejaVu Sans", "Arial", "Helvetica Neue", "Noto Sans Arabic", "Noto Naskh Arabic", "Geeza Pro",
    "Noto Sans Devanagari", "Nirmala UI", "Kohinoor Devanagari", "Noto Sans Thai", "Leelawadee UI", "Thonburi",
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "Yu Gothic", "Hiragino Sans", "Microsoft YaHei",
    "PingFang SC", "Malgun Gothic", "Apple SD Gothic Neo", "DejaVu Sans Mono",
)  # fmt: skip
_LEGEND = 16.0  # pixels of a line of the legend
_KEY_LETTER = 6.0  # and of a letter of it


@cache
def page_colours() -> Mapping[str, str]:
    """The page's light colours by the names of their CSS variables ('series-1', 'heat-0', 'ink')."""
    light = _CSS.read_text(encoding="utf-8").partition("@media")[0]
    return dict(_VARIABLE.findall(light))


@cache
def fonts() -> tuple[str, ...]:
    """Those of the fonts that this machine has; what a font lacks is taken from the next."""
    there = {font.name for font in font_manager.fontManager.ttflist}
    return tuple(name for name in _FONTS if name in there) or ("DejaVu Sans",)


@contextmanager
def print_fonts() -> Iterator[None]:
    """Fonts of files: text stays text in an SVG and in a PDF (TrueType, which publishers ask for)."""
    settings: dict[Any, Any] = {
        "font.family": list(fonts()),
        "svg.fonttype": "none",
        "pdf.fonttype": 42,
        "svg.hashsalt": "paper",
    }
    with mpl.rc_context(settings):
        yield


def for_paper(figure: Figure, keys: Sequence[Key], widest: float) -> None:
    """Turns a drawing of the page into one for paper, at most `widest` inches wide, with its legend above."""
    _add_legend(figure, keys)
    wide, high = (float(side) for side in figure.get_size_inches())
    scale = min(SCALE, widest / wide)
    colours = _colours()
    for artist in figure.findobj():
        _recolour(artist, colours)
        _rescale(artist, scale)
        artist.set_clip_on(False)  # a mark on the edge is whole, as in the page
        if isinstance(artist, Text):
            artist.set_fontfamily(list(fonts()))
    for axes in figure.axes:
        axes.tick_params(pad=7 * scale)
        for axis in (axes.xaxis, axes.yaxis):
            axis.labelpad *= scale
    figure.set_size_inches(wide * scale, high * scale)
    figure.set_facecolor("white")


def _colours() -> dict[str, str]:
    page = page_colours()
    series = {ink: page[f"series-{number}"] for number, ink in enumerate(SERIES, 1)}
    return {TEXT: page["ink"], MUTED: page["muted"], RULE: page["rule"], PAPER: "#ffffff", **series}


def _recolour(artist: Artist, colours: Mapping[str, str]) -> None:
    if isinstance(artist, Collection):
        artist.set_facecolor([_paper(one, colours) for one in artist.get_facecolor()])
        artist.set_edgecolor([_paper(one, colours) for one in artist.get_edgecolor()])
        artist.set_urls([])
    elif isinstance(artist, Patch):
        artist.set_facecolor(_paper(artist.get_facecolor(), colours))
        artist.set_edgecolor(_paper(artist.get_edgecolor(), colours))
        artist.set_url(None)
    elif isinstance(artist, Line2D | Text):
        artist.set_color(_paper(mpl.colors.to_rgba(artist.get_color()), colours))


def _paper(colour: Any, colours: Mapping[str, str]) -> tuple[float, float, float, float]:
    """The colour of the page that an ink stands for, as transparent as the ink; other colours stay."""
    red, green, blue, alpha = (float(part) for part in colour)
    found = colours.get(to_hex((red, green, blue)))
    return (*mpl.colors.to_rgb(found), alpha) if found else (red, green, blue, alpha)


def _rescale(artist: Artist, scale: float) -> None:
    if isinstance(artist, Text):
        artist.set_fontsize(float(artist.get_fontsize()) * scale)
    if isinstance(artist, Annotation) and artist.anncoords == "offset points":
        across, up = artist.xyann
        artist.xyann = (across * scale, up * scale)
    if isinstance(artist, Line2D):
        artist.set_linewidth(artist.get_linewidth() * scale)
        artist.set_markersize(artist.get_markersize() * scale)
    if isinstance(artist, Patch):
        artist.set_linewidth(artist.get_linewidth() * scale)
    if isinstance(artist, Collection):
        artist.set_linewidth([float(width) * scale for width in np.atleast_1d(artist.get_linewidth())])
    if isinstance(artist, PathCollection):
        artist.set_sizes(np.asarray(artist.get_sizes()) * scale**2)


def _add_legend(figure: Figure, keys: Sequence[Key]) -> None:
    """Room above the drawing, and in it lines for each key, broken where the drawing ends."""
    wide, high = (float(side) * POINTS for side in figure.get_size_inches())
    letters = max(20, int((wide - 24) / _KEY_LETTER))
    lines = [(key, part, not place) for key in keys for place, part in enumerate(textwrap.wrap(key.label, letters))]
    if not lines:
        return
    whole = high + _LEGEND * len(lines) + 4
    for axes in figure.axes:
        left, bottom, width, height = axes.get_position().bounds
        axes.set_position((left, bottom * high / whole, width, height * high / whole))
    figure.set_size_inches(wide / POINTS, whole / POINTS)
    for line, (key, part, first) in enumerate(lines):
        up = 1 - (line + 0.5) * _LEGEND / whole
        mark, ink = (
            ("□", TEXT) if key.mark == "outline" else (key.mark, SERIES[key.number - 1] if key.number else MUTED)
        )
        if first:
            figure.text(4 / wide, up, mark, color=ink, va="center", fontsize=11, transform=figure.transFigure)
        figure.text(20 / wide, up, part, color=TEXT, va="center", fontsize=11, transform=figure.transFigure)
