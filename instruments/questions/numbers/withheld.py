"""The one rule by which a number is withheld: fewer than half of the answers that it is about could be read.

Such a number would describe how answers are read, not what they say. Its row stays, with the reason in place of the
number. A refusal is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from polyculture.cache.store.schema.measured import Difference, Number
from polyculture.instruments.differences import ComparedFacets, difference_rows
from polyculture.metrics.inference.family import UNTESTABLE
from polyculture.metrics.inference.paired import PairedDifference

FEW_READ = "fewer than half of the answers are read"  # why there is no number
LEAST_READ = 0.5  # of the answers that came


def few_are_read(came: float, unread: float) -> bool:
    """Could fewer than half of the answers that came be read? Without any answer there is nothing to withhold."""
    return came > 0 and 1 - unread / came < LEAST_READ


def withheld(row: Number) -> Number:
    """The row with the reason in place of its number."""
    return replace(row, estimate=None, no_estimate=FEW_READ, low=None, high=None, no_interval=FEW_READ)


def withheld_differences(
    sides: ComparedFacets, *, unit: str, units: int, inputs: str, missing: tuple[int, int] = (0, 0), sampled: bool
) -> Iterator[Difference]:
    """The rows of a difference of which a side is withheld."""
    rows: Iterable[Difference] = difference_rows(
        sides, PairedDifference(0.0, 0.0, lacking=FEW_READ), unit=unit, units=units, inputs=inputs, missing=missing,
        sampled=sampled,
    )  # fmt: skip
    for row in rows:
        yield replace(row, a_estimate=None, b_estimate=None, difference=None, reason=FEW_READ, verdict=UNTESTABLE)
