"""Writes the report's figures as files for a paper: a file per drawing, in the size of a column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from matplotlib.figure import Figure as Drawing

from polyculture.cache.catalog import Catalog
from polyculture.cache.files import replacing
from polyculture.cache.layout import Layout
from polyculture.cache.run_folder import RunFolder
from polyculture.metrics import METRICS
from polyculture.reports.building import build_sections, open_report
from polyculture.reports.figures.figure import Chart, Figure, Key, Panel
from polyculture.reports.figures.heat import Heat
from polyculture.reports.figures.heat_picture import heat_picture
from polyculture.reports.figures.inline import taking
from polyculture.reports.figures.print_style import POINTS, SCALE, for_paper, print_fonts
from polyculture.reports.section import Section
from polyculture.reports.sections import OWN_SECTIONS

_NARROWEST = 110.0  # pixels of a chart beside its labels
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


@dataclass(frozen=True)
class Drawn:
    """A drawing of a section: the figure that it is of, its own title, and its legend."""

    section: str
    figure: str
    title: str
    caption: str
    chart: Chart
    keys: tuple[Key, ...] = ()


def write_figures(
    run: RunFolder,
    folder: Path,
    formats: Iterable[FigureFormat],
    inches: float,
    catalog: Catalog | None = None,
    layout: Layout = METRICS,
    sections: Sequence[Section] = OWN_SECTIONS,
) -> list[Path]:
    """Writes every drawing of all `sections` that have something to show, at most `inches` wide; returns the paths.

    Letters are 7 points, and smaller only where a map has too many columns for the width. The same store gives the same
    bytes on the same machine: letters are shaped with its fonts. `captions.tsv` beside them says what each file shows.
    For `catalog` and `layout` see `open_report`. Raises `StoreError` where there is no run or a file cannot be written.
    """
    with open_report(run, catalog, layout, sections) as data:
        drawn = [one for built in build_sections(data, sections) for one in _drawn(built.section.name, built.context)]
    wanted = tuple(dict.fromkeys(formats))
    written, lines = [], ["file\tfigure\tdrawing\tcaption"]
    for name, one in _named(drawn):
        lines.append("\t".join((name, *(" ".join(said.split()) for said in (one.figure, one.title, one.caption)))))
        for format in wanted:
            path = folder / f"{name}.{format}"
            _write(one, path, format, inches)
            written.append(path)
    with replacing(folder / "captions.tsv") as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return written


def _drawn(section: str, context: object) -> Iterator[Drawn]:
    """All drawings in a section's context, wherever in it they stand."""
    if isinstance(context, Figure):
        for panel in (*(panel for row in context.rows for panel in row), *context.folded):
            caption = f"{panel.says} {context.caption}".strip()
            yield Drawn(section, context.title, panel.title, caption, panel.chart, context.keys)
    elif isinstance(context, Panel):
        yield Drawn(section, "", context.title, context.says, context.chart)
    elif is_dataclass(context) and not isinstance(context, type):
        if hasattr(context, "draw"):
            chart = cast(Chart, context)
            yield Drawn(section, "", getattr(chart, "name", ""), getattr(chart, "alternative", ""), chart)
        else:
            for field in fields(context):
                yield from _drawn(section, getattr(context, field.name))
    elif isinstance(context, Mapping):
        for value in context.values():
            yield from _drawn(section, value)
    elif isinstance(context, tuple | list):
        for value in context:
            yield from _drawn(section, value)


def _named(drawn: Sequence[Drawn]) -> Iterator[tuple[str, Drawn]]:
    """Each drawing with its file's name: 'diversity-03-gpt-4o-mini'."""
    numbers: dict[str, int] = {}
    for one in drawn:
        numbers[one.section] = numbers.get(one.section, 0) + 1
        words = re.sub(r"[^a-z0-9]+", "-", one.title.lower()).strip("-")[:40].strip("-")
        yield "-".join(filter(None, (one.section, f"{numbers[one.section]:02}", words))), one


def _write(one: Drawn, path: Path, format: FigureFormat, inches: float) -> None:
    with print_fonts():
        drawing = _drawing(one.chart, inches)
        for_paper(drawing, one.keys, inches)
        with replacing(path) as temporary:
            drawing.savefig(temporary, format=str(format), dpi=_DPI, metadata=_NO_DATE[format], transparent=False)


def _drawing(chart: Chart, inches: float) -> Drawing:
    """The chart, as wide as the column where it has a width of its own to change."""
    if isinstance(chart, Heat):
        return heat_picture(chart)
    drawing = _taken(chart)
    width = getattr(chart, "width", None)
    if width is None:
        return drawing
    wanted = inches * POINTS / SCALE
    fitting = max(_NARROWEST, width + wanted - drawing.get_size_inches()[0] * POINTS)
    return _taken(replace(chart, width=fitting))  # type: ignore[type-var]


def _taken(chart: Chart) -> Drawing:
    taken: list[Drawing] = []
    with taking(taken.append):
        chart.draw()
    return taken[0]
