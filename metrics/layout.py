"""What the metrics keep of a run beside numbers and differences."""

from __future__ import annotations

from dataclasses import dataclass

from polyculture.cache.store.layout import Table


@dataclass(frozen=True, slots=True)
class SaturationPoint:
    """A cell at a number of its responses; the last point of a cell is all of them."""

    model: str
    language: str
    topic: str
    condition: str
    country: str | None
    wording: str
    responses: int  # as many as are drawn from the cell's: 1, 2, 5, 10, 20, 50, ..., all
    entities: float  # distinct items expected in them
    coverage: float | None  # share of all mentions that fall on items of so many responses; None: it names nothing
    inputs: str  # as in `numbers`


SATURATION = Table("saturation", SaturationPoint, by_measure=True)
