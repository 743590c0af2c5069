"""Writes the report's figures as files for a paper: a file per drawing, in the size of a column."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from fontTools import subset
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D
from matplotlib.text import Text

from polyculture.cache.catalog import Catalog
from polyculture.cache.files import replacing
from polyculture.cache.log import get_logger
from polyculture.cache.store.layout import Layout
from polyculture.cache.store.run_folder import RunFolder
from polyculture.metrics import METRICS_LAYOUT
from polyculture.reports.building import build_sections, open_report
from polyculture.reports.figures.figure import Drawable, Figure, Key, Panel
from polyculture.reports.figures.style import INK, MUTED, SERIES, SHAPES, fonts_for, installed_fonts, style
from polyculture.reports.opening import picture
from polyculture.reports.section import Section
from polyculture.reports.sections import OWN_SECTIONS

_log = get_logger(__name__)
_MARKERS = {**{letter: marker for marker, letter in SHAPES.items()}, "◇": "D", "○": "o"}
_HOLLOW = ("outline", "◇", "○")
_INCH = 72  # points
_LETTER_WIDTH = 4.2  # points, of 7-point letters of DejaVu Sans: the mean of English text, and a little more
_LINE = 9.5  # points of a line of the legend
_DPI = 600  # of a PNG
_NO_DATE: Mapping[str, Mapping[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


class FigureFormat(StrEnum):
    """How a figure is written."""

    SVG = "svg"
    PDF = "pdf"
    PNG = "png"


class DrawnFigure(NamedTuple):
    """A drawing of a section: the figure that it is of, its own title, and its legend."""

    section: str
    figure: str
    title: str
    caption: str
    chart: Drawable
    keys: tuple[Key, ...] = ()


def write_figures(
    run: RunFolder,
    folder: Path,
    formats: Iterable[FigureFormat],
    inches: float,
    catalog: Catalog | None = None,
    layout: Layout = METRICS_LAYOUT,
    sections: Sequence[Section] = OWN_SECTIONS,
) -> list[Path]:
    """Writes the picture of the first page, and every drawing of all `sections` with something to show; returns paths.

    A drawing is at most `inches` wide.

    Letters are 7 points, and smaller only where a map has too many columns for the width. The same store gives the same
    bytes on the same machine: letters are shaped with its fonts. `captions.tsv` beside them says what each file shows.
    For `catalog` and `layout` see `open_report`. Raises `StoreError` where there is no run or a file cannot be written.
    """
    with open_report(run, catalog, layout, sections) as data:
        shown = [(built.section.name, built.context) for built in build_sections(data, sections)]
        drawn = [one for name, context in (("asked-about", picture(data)), *shown) for one in _drawn(name, context)]
    wanted = tuple(dict.fromkeys(formats))
    written: list[Path] = []
    missing: set[str] = set()
    lines = ["file\tfigure\tdrawing\tcaption"]
    for name, one in _named(drawn):
        lines.append("\t".join((name, *(" ".join(said.split()) for said in (one.figure, one.title, one.caption)))))
        files = {format: folder / f"{name}.{format}" for format in wanted}
        missing |= set(write_figure(one.chart, one.keys, files, inches))
        written += files.values()
    if missing:
        some = "".join(sorted(missing)[:20])
        _log.warning(
            "No font of this machine has %s: figures show boxes for them. Install one that does: all of Noto's are "
            "Debian's fonts-noto and fonts-noto-cjk.",
            some,
        )
    with replacing(folder / "captions.tsv") as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return written


def write_figure(
    chart: Drawable, keys: Sequence[Key], files: Mapping[FigureFormat, Path], inches: float, title: str = ""
) -> str:
    """Writes one drawing with its legend, and its title below that where it has one, to a file of each format.

    Returns the letters that no installed font has: the files show boxes for them.
    """
    with style("paper", installed_fonts()[:1]), _fonts_without_layout():
        drawing = _with_legend(chart, [*keys, *([Key(title, "")] if title else [])], inches * _INCH)
        words = [text for text in drawing.findobj(Text) if text.get_text()]
        fonts, missing = fonts_for(frozenset("".join(text.get_text() for text in words)))
        for text in words:
            text.set_fontfamily(list(fonts))
        for format, path in files.items():
            with replacing(path) as temporary:
                drawing.savefig(temporary, format=str(format), dpi=_DPI, metadata=_NO_DATE[format])
    return missing


@contextmanager
def _fonts_without_layout() -> Iterator[None]:
    """PDFs place each glyph themselves: the tables of how letters combine are not embedded.

    To cut them down to a figure's letters takes fontTools four fifths of the time in which a PDF is written, and
    Matplotlib has no setting for it.
    """
    dropped = subset.Options._drop_tables_default
    subset.Options._drop_tables_default = [*dropped, "GSUB", "GPOS", "GDEF", "BASE", "MATH"]
    try:
        yield
    finally:
        subset.Options._drop_tables_default = dropped


def _drawn(section: str, context: object) -> Iterator[DrawnFigure]:
    """All drawings in a section's context, wherever in it they are."""
    if isinstance(context, Figure):
        panels = (*(panel for row in context.rows for panel in row), *context.folded)
        for panel in (one for one in panels if not one.drawn_above):
            caption = " ".join(filter(None, (panel.says, context.caption, context.details)))
            yield DrawnFigure(section, context.title, panel.title, caption, panel.chart, context.keys)
    elif isinstance(context, Panel):
        yield DrawnFigure(section, "", context.title, context.says or context.chart.alternative, context.chart)
    elif is_dataclass(context) and not isinstance(context, type):
        for field in fields(context):
            yield from _drawn(section, getattr(context, field.name))
    elif isinstance(context, Mapping):
        for value in context.values():
            yield from _drawn(section, value)
    elif isinstance(context, tuple | list):
        for value in context:
            yield from _drawn(section, value)


def _named(drawn: Sequence[DrawnFigure]) -> Iterator[tuple[str, DrawnFigure]]:
    """Each drawing with its file's name: 'diversity-03-gpt-6-luna'."""
    numbers: dict[str, int] = {}
    for one in drawn:
        numbers[one.section] = numbers.get(one.section, 0) + 1
        words = re.sub(r"[^a-z0-9]+", "-", one.title.lower()).strip("-")[:40].strip("-")
        yield "-".join(filter(None, (one.section, f"{numbers[one.section]:02}", words))), one


def _with_legend(chart: Drawable, keys: Sequence[Key], width: float) -> Drawing:
    """The drawing with its legend above: a line for each key, more where it would be wider than the drawing."""
    letters = int((width - 12) / _LETTER_WIDTH)
    lines = [(key, part, not place) for key in keys for place, part in enumerate(textwrap.wrap(key.label, letters))]
    drawing = chart.picture(width, _LINE * len(lines))
    wide, high = (float(side) * _INCH for side in drawing.get_size_inches())
    for number, (key, part, first) in enumerate(lines):
        up = 1 - (number + 0.6) * _LINE / high
        drawing.text(12 / wide, up, part, va="center_baseline")
        if first and key.mark:
            colour = SERIES[key.number - 1] if key.number else MUTED if key.mark != "outline" else INK
            shape = _MARKERS.get(key.mark, "s")  # a letter would put a second font into the file
            face = "none" if key.mark in _HOLLOW else colour
            look = {"color": colour, "marker": shape, "markerfacecolor": face, "markersize": 4.5}
            drawing.add_artist(Line2D([6 / wide], [up], **look))
    drawing.patch.set_visible(True)
    drawing.patch.set_facecolor("white")
    return drawing
