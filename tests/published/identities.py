"""What printed numbers say about each other: sums, averages, differences, and the same cell printed twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from polyculture.published.cells import NONE, UNITS, PublishedCell, published

Table = Mapping[tuple[str, str], PublishedCell]


@dataclass(frozen=True)
class Identity:
    """A cell, what it should be by other cells of its paper, and by how much rounding alone can move both."""

    what: str
    cell: PublishedCell
    expected: Fraction
    tolerance: Fraction

    @property
    def holds(self) -> bool:
        return abs(value(self.cell) - self.expected) <= self.tolerance + half_unit(self.cell)

    def __str__(self) -> str:
        return f"{self.cell.table}: {self.cell.row}, {self.cell.column}: {self.what}"


def at(paper: str, table: str) -> Table:
    """The cells of a table by their heads."""
    return {(cell.row, cell.column): cell for cell in published(paper) if cell.table == table}


def value(cell: PublishedCell) -> Fraction:
    return Fraction(cell.value) * _scale(cell)


def half_unit(cell: PublishedCell) -> Fraction:
    """The most by which rounding moved the value; a whole number of things was not rounded."""
    places = -min(0, int(cell.value.as_tuple().exponent))
    exact = cell.unit == "count" and places == 0
    return Fraction(0) if exact else Fraction(1, 2) * Fraction(1, 10**places) * _scale(cell)


def _scale(cell: PublishedCell) -> Fraction:
    return Fraction(Decimal(str(UNITS[cell.unit])))


def linear(
    what: str, cell: PublishedCell, terms: Sequence[tuple[Fraction | int, PublishedCell]], constant: int = 0
) -> Identity:
    """The cell is a weighted sum of others."""
    expected = sum((weight * value(one) for weight, one in terms), Fraction(constant))
    return Identity(what, cell, expected, sum((abs(weight) * half_unit(one) for weight, one in terms), Fraction(0)))


def total(cell: PublishedCell, addends: Sequence[PublishedCell], what: str = "sum") -> Identity:
    return linear(what, cell, [(1, one) for one in addends])


def mean(cell: PublishedCell, of: Sequence[PublishedCell], what: str = "mean") -> Identity:
    return linear(what, cell, [(Fraction(1, len(of)), one) for one in of])


def same(cell: PublishedCell, other: PublishedCell) -> Identity:
    return linear(f"as in Table {other.table}", cell, [(1, other)])


def absolute(cell: PublishedCell, other: PublishedCell) -> Identity:
    return linear(f"size of Table {other.table}'s", cell, [(1 if other.value >= 0 else -1, other)])


def ratio(
    what: str,
    cell: PublishedCell,
    of: Callable[[Fraction, Fraction], Fraction],
    one: PublishedCell,
    other: PublishedCell,
) -> Identity:
    """The cell is a function of two others that grows or falls in each: its corners are its limits."""
    corners = [
        of(value(one) + left * half_unit(one), value(other) + right * half_unit(other))
        for left in (-1, 1)
        for right in (-1, 1)
    ]
    expected = of(value(one), value(other))
    return Identity(what, cell, expected, max(abs(corner - expected) for corner in corners))


def slips(stated: Iterable[Identity]) -> set[str]:
    """Those that do not hold, without the paper's name; each has a note that says so."""
    failed = [one for one in stated if not one.holds]
    assert NONE not in [one.cell.note for one in failed]
    return {str(one) for one in failed}
