"""A figure as an `<svg>` element in a page: visible parts only, in the page's colours, with unique ids."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from xml.etree import ElementTree

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.figure import Figure

from polyculture.reports.figures.drawing import VARIABLES
from polyculture.reports.figures.mark import jump_at, mark_at

_INK = re.compile("|".join(VARIABLES))
_NUMBER = re.compile(r"-?\d+\.\d+")
_SVG = "{http://www.w3.org/2000/svg}"
_UNSEEN = ("metadata", "style", "clipPath")  # nothing is drawn outside the axes; the style sheet would reach further
_METADATA = {"Date": None, "Creator": None, "Type": None, "Format": None}


_taker: ContextVar[Callable[[Figure], None] | None] = ContextVar("taker", default=None)


@contextmanager
def taking(take: Callable[[Figure], None]) -> Iterator[None]:
    """While the block lasts, `take` gets what charts draw, instead of a page: to write it to files of other formats."""
    before = _taker.set(take)
    try:
        yield
    finally:
        _taker.reset(before)


def to_svg(figure: Figure, name: str, alternative: str, place: Mapping[str, str] | None = None) -> Markup:
    """The figure as an `<svg>` element: a picture, or a group where marks lead to the evidence.

    `name` prefixes its ids and classes; `place` is the place that all of its marks share.
    """
    take = _taker.get()
    if take:
        take(figure)
        return Markup()
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", metadata=_METADATA)
    root = ElementTree.fromstring(buffer.getvalue())  # noqa: S314  matplotlib's own output
    view = root.attrib["viewBox"]
    _, _, width, height = view.split()
    classes: dict[str, str] = {}
    drawn = [part for child in root for part in _seen(child, name, classes)]
    marks = [made for part in drawn for made in part.iter("a")]
    role = "group" if marks else "img"
    inlined = ElementTree.Element("svg", viewBox=view, width=width, height=height, role=role)
    inlined.set("aria-label", alternative)
    for key, value in (place or {}).items():
        inlined.set(f"data-{key}", value)
    for mark in marks[1:]:  # one stop of the Tab key; arrow keys move on from there
        mark.set("tabindex", "-1")
    sheet = ElementTree.SubElement(inlined, "style")
    sheet.text = "".join(f".{label}{{{style}}}" for style, label in classes.items())
    inlined.extend(drawn)
    return Markup(ElementTree.tostring(inlined, encoding="unicode"))  # noqa: S704  texts are escaped by the tree


def _seen(element: ElementTree.Element, name: str, classes: dict[str, str]) -> Iterator[ElementTree.Element]:
    """The element for the page: its children where it only groups them, nothing where it is invisible."""
    tag = element.tag.removeprefix(_SVG)
    if tag in _UNSEEN or _style(element.get("style", "")) == "fill:none":
        return
    children = [part for child in element for part in _seen(child, name, classes)]
    if tag == "g" or (tag == "defs" and not children):
        yield from children
        return
    made = ElementTree.Element(tag)
    made.text = element.text if tag == "text" else None
    made.extend(children)
    for key, value in element.attrib.items():
        _copy(made, key, value, name, classes)
    yield made


def _copy(made: ElementTree.Element, key: str, value: str, name: str, classes: dict[str, str]) -> None:
    if key == "id":
        made.set("id", f"{name}-{value}")
    elif key.endswith("href") and (mark := mark_at(value)):
        made.set("href", "#evidence")
        made.set("aria-label", mark.label)
        for axis, code in mark.place.items():
            made.set(f"data-{axis}", code)
    elif key.endswith("href") and (jump := jump_at(value)):
        made.set("href", f"#{jump.to}")
        made.set("aria-label", jump.label)
    elif key.endswith("href"):
        made.set("href", f"#{name}-{value.removeprefix('#')}")
    elif key == "style":
        made.set("class", classes.setdefault(_style(value), f"{name}-c{len(classes)}"))
    elif key == "d":
        made.set("d", re.sub(r"\s*([A-Za-z])\s*", r"\1", _rounded(value)))
    elif key not in ("clip-path", "target") and not value.startswith("rotate(-0 "):
        made.set(key, _rounded(value))


def _style(value: str) -> str:
    coloured = _INK.sub(lambda ink: VARIABLES[ink.group()], value)
    parts = [part.strip().replace(": ", ":") for part in coloured.split(";")]
    return ";".join(part for part in parts if part and not part.startswith("font-family"))


def _rounded(value: str) -> str:
    return _NUMBER.sub(lambda number: f"{float(number.group()):.1f}".removesuffix(".0"), value)
