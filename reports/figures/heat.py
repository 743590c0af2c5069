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
AREAS = 10  # sizes of a square that is as large as what its number rests on


@dataclass(frozen=True, slots=True)
class Heat:
    """Rows x columns of numbers; a missing number is a dash without colour.

    `outlined` names the cells (row, column) that get a frame. `signed` numbers lie around 0. `axes` names what rows and
    columns are of the evidence, and `cell` where on its other axes all of them are: the page's script leads there. A
    heat map without axes leads nowhere. `notes` stand below numbers: their intervals. `thin` numbers have no colour,
    and below them the few linked items that they rest on.

    `details` are said of a number under the pointer or the keyboard: its interval, and what it rests on; where that is
    alike for most of them, `lacking` says why they have no interval. `blocks` names the group of rows that a row is in
    and `column_blocks` that of a column: a line stands between two groups. With `areas`, shares of the largest from 0
    to 1, a cell is a square of that area instead of a number, `hatched` where the number says little. `row_places` says
    where a row leads to, for rows that are no code of `axes`.
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
    details: Mapping[_Place, str] = field(default_factory=dict)
    lacking: str = ""
    blocks: Mapping[str, str] = field(default_factory=dict)
    column_blocks: Mapping[str, str] = field(default_factory=dict)
    areas: Mapping[_Place, float] = field(default_factory=dict)
    hatched: frozenset[_Place] = frozenset()
    row_places: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def draw(self) -> Markup:
        """The heat map as a `<table>` in which arrow keys move, and the key of its colours."""
        return Markup("").join(  # texts are escaped by the tree
            Markup(tostring(part, encoding="unicode", method="html"))  # noqa: S704
            for part in (self._table(), self._key())
        )

    def _table(self) -> Element:
        leads = {"class": "heat", "role": "grid", **_data(self.cell)} if self.axes else {"class": "heat still"}
        whole = Element("table", {**leads, **({"data-lacking": self.lacking} if self.lacking else {})})
        SubElement(whole, "caption").text = self.caption
        head = SubElement(SubElement(whole, "thead"), "tr")
        SubElement(head, "td")
        edges = self.edges(list(self.table.columns), self.column_blocks)
        for code, label in zip(self.table.columns, self.columns, strict=True):
            edge = {"class": "edge", "data-block": self.column_blocks[code]} if code in edges else {}
            SubElement(head, "th", {"scope": "col", **edge, **self._place(1, code)}).text = plain(label, 12)
        body = SubElement(whole, "tbody")
        numbers = self.table.to_numpy(dtype=float)
        blocks = self.edges(list(self.table.index), self.blocks)
        for code, label, values in zip(self.table.index, self.rows, numbers, strict=True):
            row = SubElement(body, "tr", {**({"class": "block"} if code in blocks else {}), **self._row_place(code)})
            SubElement(row, "th", {"scope": "row", **self._block(code, blocks)}).text = plain(label)
            row.extend(
                self._cell(code, column, value, edge=column in edges)
                for column, value in zip(self.table.columns, values, strict=True)
            )
        first = next((cell for cell in body.iter("td") if self._leads(cell)), None)
        if first is not None and self.axes:
            first.set("tabindex", "0")
        return whole

    def _leads(self, cell: Element) -> bool:
        return bool(cell.text or len(cell)) and "off" not in cell.get("class", "").split()

    def _block(self, code: str, blocks: frozenset[str]) -> dict[str, str]:
        return {"title": self.blocks[code]} if self.blocks.get(code) and code in blocks else {}

    @staticmethod
    def edges(codes: Sequence[str], blocks: Mapping[str, str]) -> frozenset[str]:
        """The rows, or columns, before which a block begins; of a single block none is drawn."""
        of = [blocks.get(code, "") for code in codes]
        starts = [code for place, code in enumerate(codes) if place == 0 or of[place] != of[place - 1]]
        return frozenset(starts) if blocks and len(starts) > 1 else frozenset()

    def _place(self, axis: int, code: str) -> dict[str, str]:
        return _data({self.axes[axis]: code}) if self.axes else {}

    def _row_place(self, code: str) -> dict[str, str]:
        return _data(self.row_places[code]) if code in self.row_places else self._place(0, code)

    def _cell(self, row: str, column: str, value: float, *, edge: bool) -> Element:
        if row == column or not (self.asked is None or (row, column) in self.asked):
            return Element("td", {"class": "off edge" if edge else "off"})  # with itself, or without a prompt
        frame = f"{' native' if (row, column) in self.outlined else ''}{' edge' if edge else ''}"
        missing = math.isnan(value)
        few = self.thin.get((row, column))
        if self.areas and not missing:
            return self._square(row, column, value, frame)
        shade = "off" if missing else "thin" if few is not None else self.colour(value)
        cell = Element("td", {"class": shade + frame})
        cell.text = "–" if missing else self.written(value)
        if (row, column) in self.details and not missing:
            cell.set("data-says", self.details[row, column])
        if few is not None and not missing:
            SubElement(cell, "small").text = f"n {few}"
        if (row, column) in self.notes:
            SubElement(cell, "small").text = self.notes[row, column]
        return cell

    def _square(self, row: str, column: str, value: float, frame: str) -> Element:
        cell = Element("td", {"class": f"square{frame}"})
        hatch = " hatch" if (row, column) in self.hatched else ""
        square = SubElement(cell, "i", {"class": f"{self.colour(value)} a{self.size(row, column)}{hatch}"})
        SubElement(square, "b").text = self.written(value)
        cell.set("data-says", self.details.get((row, column), ""))
        return cell

    def size(self, row: str, column: str) -> int:
        """The side of a cell's square in tenths of the cell: its area is the share."""
        return max(1, round(AREAS * math.sqrt(self.areas.get((row, column), 0.0))))

    def colour(self, value: float) -> str:
        """The class of a number's colour: h0 to h10, or g0 to g10 for signed numbers."""
        low, high = self.limits
        step = min(STEPS - 1, max(0, int((value - low) / (high - low) * STEPS)))
        return f"{'g' if self.signed else 'h'}{step}"

    def written(self, value: float) -> str:
        """A number in a cell: '.42', '+.10', '0'."""
        number = f"{value:+.2f}" if self.signed else f"{value:.2f}"
        return number.replace("0.", ".", 1).replace("-", "−") if float(number) else "0"

    def _key(self) -> Element:
        """The scale: its colours between the numbers at its two ends."""
        whole = Element("p", {"class": "scale"})
        low, high = (f"{end:+.1f}" if self.signed else f"{end:.1f}" for end in self.limits)
        SubElement(whole, "span").text = low.replace("-", "−")
        steps = SubElement(whole, "span", {"class": "steps", "aria-hidden": "true"})
        for step in range(STEPS):
            SubElement(steps, "i", {"class": f"{'g' if self.signed else 'h'}{step}"})
        SubElement(whole, "span").text = high
        return whole


def _data(place: Mapping[str, str]) -> dict[str, str]:
    return {f"data-{axis}": code for axis, code in place.items()}
