"""The heat map: an HTML table of numbers as colours, so that every cell can be read and reached."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, SubElement, tostring

import pandas as pd
from markupsafe import Markup

from polyculture.reports.figures.drawing import STEPS, plain

_Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Heat:
    """Rows x columns of numbers; a missing number is a dash without colour.

    `outlined` names the cells (row, column) that get a frame. `signed` numbers lie around 0. `axes` names what rows and
    columns are of the evidence, and `cell` where on its other axes all of them are: the page's script leads there. A
    heat map without axes leads nowhere. `notes` stand below numbers: their intervals. `thin` numbers have no colour,
    and below them the few linked items that they rest on.
    """

    caption: str
    table: pd.DataFrame
    rows: Sequence[str]  # the labels of the rows of `table`
    columns: Sequence[str]  # and of its columns
    limits: tuple[float, float]
    axes: tuple[str, str] | None = None
    cell: Mapping[str, str] = field(default_factory=dict)
    outlined: frozenset[_Place] = frozenset()
    signed: bool = False
    asked: frozenset[_Place] | None = None  # the cells that a prompt is about; None for all
    notes: Mapping[_Place, str] = field(default_factory=dict)
    thin: Mapping[_Place, int] = field(default_factory=dict)

    def draw(self) -> Markup:
        """The heat map as a `<table>` in which arrow keys move."""
        leads = {"class": "heat", "role": "grid", **_data(self.cell)} if self.axes else {"class": "heat still"}
        whole = Element("table", leads)
        SubElement(whole, "caption").text = self.caption
        head = SubElement(SubElement(whole, "thead"), "tr")
        SubElement(head, "td")
        for code, label in zip(self.table.columns, self.columns, strict=True):
            SubElement(head, "th", {"scope": "col", **self._place(1, code)}).text = plain(label, 12)
        body = SubElement(whole, "tbody")
        numbers = self.table.to_numpy(dtype=float)
        for code, label, values in zip(self.table.index, self.rows, numbers, strict=True):
            row = SubElement(body, "tr", self._place(0, code))
            SubElement(row, "th", scope="row").text = plain(label)
            row.extend(
                self._cell(code, column, value) for column, value in zip(self.table.columns, values, strict=True)
            )
        first = next((cell for cell in body.iter("td") if cell.text and "off" not in cell.get("class", "")), None)
        if first is not None and self.axes:
            first.set("tabindex", "0")
        return Markup(tostring(whole, encoding="unicode", method="html"))  # noqa: S704  texts are escaped by the tree

    def _place(self, axis: int, code: str) -> dict[str, str]:
        return _data({self.axes[axis]: code}) if self.axes else {}

    def _cell(self, row: str, column: str, value: float) -> Element:
        if row == column or not (self.asked is None or (row, column) in self.asked):
            return Element("td", {"class": "off"})  # a language with itself, or a cell without a prompt
        frame = " native" if (row, column) in self.outlined else ""
        missing = math.isnan(value)
        few = self.thin.get((row, column))
        shade = "off" if missing else "thin" if few is not None else self._colour(value)
        cell = Element("td", {"class": shade + frame})
        cell.text = "–" if missing else _hundredths(value, self.signed)
        if few is not None and not missing:
            SubElement(cell, "small").text = f"n {few}"
        if (row, column) in self.notes:
            SubElement(cell, "small").text = self.notes[row, column]
        return cell

    def _colour(self, value: float) -> str:
        low, high = self.limits
        step = min(STEPS - 1, max(0, int((value - low) / (high - low) * STEPS)))
        return f"{'g' if self.signed else 'h'}{step}"


def _data(place: Mapping[str, str]) -> dict[str, str]:
    return {f"data-{axis}": code for axis, code in place.items()}


def _hundredths(value: float, signed: bool) -> str:
    number = f"{value:+.2f}" if signed else f"{value:.2f}"
    return number.replace("0.", ".", 1).replace("-", "−") if float(number) else "0"
