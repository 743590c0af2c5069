"""Small drawings of the pages: an interval in its row, and numbers over runs. Lengths are in units of the drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polyculture.cache.schema.measured import Difference

WIDE, HIGH = 520.0, 130.0  # of a trend, inside its margins
ROW = 220.0  # the width of an interval's drawing


@dataclass(frozen=True, slots=True)
class IntervalMark:
    """Where a difference stands in its row; `low` and `high` are None where it has no interval."""

    zero: float
    at: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class TrendMark:
    """A number of a model in a run."""

    x: float
    y: float
    low: float | None
    high: float | None
    says: str


@dataclass(frozen=True, slots=True)
class Trend:
    """A metric over runs: the marks of each model in the order of the runs, and the values at the ends of the scale."""

    metric: str
    models: tuple[tuple[str, tuple[TrendMark, ...]], ...]
    least: float
    most: float


def interval_marks(rows: Sequence[Difference]) -> list[IntervalMark | None]:
    """The differences of one metric on one scale, which has 0 in the middle; None for a missing one."""
    known = [row for row in rows if row.difference is not None]
    reach = max((abs(v) for e in known for v in (e.low, e.high, e.difference) if v is not None), default=0.0) or 1.0

    def place(value: float | None) -> float | None:
        return None if value is None else round(ROW / 2 * (1 + 0.95 * value / reach), 1)

    return [
        None if e.difference is None else IntervalMark(ROW / 2, place(e.difference) or 0.0, place(e.low), place(e.high))
        for e in rows
    ]


def trends(runs: Sequence[tuple[str, Sequence[Mapping[str, Any]]]], metrics: Sequence[str]) -> list[Trend]:
    """A drawing per metric that has a number; `runs` are the names of runs with their rows, oldest first."""
    found = (_trend(metric, runs) for metric in metrics)
    return [trend for trend in found if trend is not None]


def _trend(metric: str, runs: Sequence[tuple[str, Sequence[Mapping[str, Any]]]]) -> Trend | None:
    rows = [
        (place, name, row)
        for place, (name, all_rows) in enumerate(runs)
        for row in all_rows
        if row["metric"] == metric and row["estimate"] is not None
    ]
    if not rows:
        return None
    values = [row[key] for _, _, row in rows for key in ("estimate", "low", "high") if row[key] is not None]
    least, most = min(values), max(values)
    span = most - least

    def high(value: float | None) -> float | None:
        return None if value is None else round(HIGH * (1 - (value - least) / span if span else 0.5), 1)

    def mark(place: int, name: str, row: Mapping[str, Any]) -> TrendMark:
        interval = "" if row["low"] is None else f" [{row['low']:.3g}, {row['high']:.3g}]"
        x = WIDE / 2 if len(runs) == 1 else WIDE * place / (len(runs) - 1)
        says = f"{row['model']}, {name}: {row['estimate']:.3g}{interval}"
        return TrendMark(round(x, 1), high(row["estimate"]) or 0.0, high(row["low"]), high(row["high"]), says)

    models = dict.fromkeys(row["model"] for _, _, row in rows)
    marks = {model: tuple(mark(*one) for one in rows if one[2]["model"] == model) for model in models}
    return Trend(metric, tuple(marks.items()), least, most)
