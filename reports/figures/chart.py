"""A chart: numbers, and how they are drawn. The page shows it as SVG, a paper as a file; it is the same drawing."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from polyculture.reports.figures.style import PAGE_COLOURS, ZOOM, label_width, plain, style

COLUMN = 238.0  # points: a column of a paper with two; the widest of what is as high as it is wide
_NARROWEST = 64.0  # of the axes beside their labels
_LETTERS_OF_ROOM = 0.13  # letters of a row's label per point of the whole width
_PHONE = 200.0  # of a whole drawing that a narrow screen shows as it is
_INCH = 72
_NO_METADATA: Mapping[str, Any] = {"Date": None, "Creator": None, "Type": None, "Format": None}

_IN_TAG = r"(?=[^<>]*>)"  # in a tag, and not in a text
_COLOUR = re.compile(f"(?:{'|'.join(PAGE_COLOURS)}){_IN_TAG}")
_NEEDLESS = re.compile(
    rf'</?g\b[^>]*>|(?:xlink:(?=href="#)| font-family: [^;"]*;| transform="rotate\(-0 [^"]*"){_IN_TAG}'
)
_LONG_NUMBER = re.compile(r"(\d\.\d\d)\d+" + _IN_TAG)
_SPACES = re.compile(r"\s+" + _IN_TAG)
_BETWEEN_TAGS = re.compile(r">\s+<")
_STYLE = re.compile(rf'style="([^"]*)"{_IN_TAG}')
_LINK = re.compile(r'<a xlink:href="mark-(\d+)"[^>]*>')


@dataclass(frozen=True, slots=True)
class Mark:
    """One number of a figure: what it says, and where it leads.

    `place` names axes of the evidence (model, language, topic, condition, country); `to` is the id of another part of
    the page.
    """

    label: str
    place: Mapping[str, str] = field(default_factory=dict)
    to: str = "evidence"


class Margins(NamedTuple):
    """Room around the axes, in points."""

    left: float
    top: float
    right: float
    bottom: float


class Links:
    """The marks of one drawing, in the order in which they were drawn; a file has none."""

    def __init__(self, *, followed: bool) -> None:
        self.followed = followed
        self.marks: list[Mark] = []

    def urls(self, marks: Iterable[Mark]) -> list[str | None]:
        """An address for each of the marks, which the page's SVG replaces."""
        first = len(self.marks)
        self.marks.extend(marks)
        return [f"mark-{number}" if self.followed else None for number in range(first, len(self.marks))]


Paint = Callable[[Axes, Links], None]


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing that is made when it is needed.

    `frame` holds the numbers that `paint` draws, `alternative` tells them to those who do not see them, and keeps the
    ids of this drawing apart: no two charts of a page have the same. `rows` are labels of rows, the first at the top,
    which make room for themselves. Height and width are those of the axes; without a height it is `aspect` times the
    width. `place` is where all marks are.
    """

    alternative: str
    frame: pd.DataFrame
    paint: Paint
    width: float
    margins: Margins
    height: float = 0.0
    aspect: float = 1.0
    rows: Sequence[str] = ()
    place: Mapping[str, str] = field(default_factory=dict)

    def draw(self) -> Markup:
        """The chart as an `<svg>` element: a picture, or a group of marks that lead somewhere."""
        links = Links(followed=True)
        buffer = io.StringIO()
        with style(self.alternative):
            self._figure(self.width, 36, links).savefig(buffer, format="svg", metadata=_NO_METADATA)
        return _inline(buffer.getvalue(), self.alternative, self.place, links.marks)

    def picture(self, width: float, above: float = 0.0) -> Figure:
        """The chart for a file, `width` points wide as a whole, with room for a legend above."""
        letters = int(_LETTERS_OF_ROOM * width)
        around = self._around(letters)
        room = max(_NARROWEST, width - around.left - around.right)
        wide = room if self.height else min(room, COLUMN - around.left - around.right)
        return self._figure(wide, letters, Links(followed=False), above)

    def _around(self, letters: int) -> Margins:
        labels = [plain(label, letters) for label in self.rows]
        return self.margins._replace(left=self.margins.left + label_width(labels))

    def _figure(self, wide: float, letters: int, links: Links, above: float = 0.0) -> Figure:
        around = self._around(letters)
        high = self.height or self.aspect * wide
        figure, axes = canvas(wide, high, around._replace(top=around.top + above))
        self.paint(axes, links)
        if self.rows:
            axes.set_yticks(range(len(self.rows)), [plain(label, letters) for label in self.rows])
            axes.set_ylim(len(self.rows) - 0.5, -0.5)
        for artist in figure.findobj():
            artist.set_clip_on(False)  # a mark on the edge is whole
        return figure


def canvas(wide: float, high: float, around: Margins) -> tuple[Figure, Axes]:
    """A figure with one axes of this size, in points."""
    whole = (around.left + wide + around.right, around.top + high + around.bottom)
    figure = Figure(figsize=(whole[0] / _INCH, whole[1] / _INCH), dpi=_INCH)
    FigureCanvasSVG(figure)
    axes = figure.add_axes((around.left / whole[0], around.bottom / whole[1], wide / whole[0], high / whole[1]))
    figure.patch.set_visible(False)
    axes.patch.set_visible(False)
    return figure, axes


def _inline(svg: str, alternative: str, place: Mapping[str, str], marks: Sequence[Mark]) -> Markup:
    """Matplotlib's SVG as an element of the page: in its colours and fonts, magnified, with marks to reach by keys."""
    body = svg[svg.index("</defs>") + len("</defs>") : svg.rindex("</svg>")]  # less matplotlib's style sheet
    body = _NEEDLESS.sub("", body)
    body = _COLOUR.sub(lambda found: PAGE_COLOURS[found.group()], body)
    body = _SPACES.sub(" ", _BETWEEN_TAGS.sub("><", _LONG_NUMBER.sub(r"\1", body)))
    body = _LINK.sub(lambda found: _link(marks[int(found[1])], first=found[1] == "0"), body)
    wide, high = (float(side) for side in svg.partition('viewBox="0 0 ')[2].partition('"')[0].split())
    body, sheet = _with_classes(body, f"s{hashlib.sha256(alternative.encode()).hexdigest()[:6]}-")
    size = f'viewBox="0 0 {wide:g} {high:g}" width="{wide * ZOOM:.0f}" height="{high * ZOOM:.0f}"'
    role = "group" if marks else "img"
    wider = ' class="wide"' if wide > _PHONE else ""
    head = f'<svg {size}{wider} role="{role}" aria-label="{escape(alternative)}"{_data(place)}>'
    return Markup(f"{head}{sheet}{body}</svg>")  # noqa: S704  matplotlib escapes texts, `escape` and `_link` the rest


def _with_classes(body: str, prefix: str) -> tuple[str, str]:
    """The drawing with a class for each style, which takes a third of the bytes, and the sheet of these classes."""
    classes: dict[str, str] = {}
    body = _STYLE.sub(lambda found: f'class="{classes.setdefault(found[1], f"{prefix}{len(classes)}")}"', body)
    return body, f"<style>{''.join(f'.{name}{{{style}}}' for style, name in classes.items())}</style>"


def _link(mark: Mark, *, first: bool) -> str:
    """One stop of the Tab key in a figure: arrow keys move on from there."""
    tab = "" if first else ' tabindex="-1"'
    return f'<a href="#{escape(mark.to)}" aria-label="{escape(mark.label)}"{_data(mark.place)}{tab}>'


def _data(place: Mapping[str, str]) -> str:
    return "".join(f' data-{axis}="{escape(code)}"' for axis, code in place.items())
