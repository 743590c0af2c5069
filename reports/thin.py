"""Numbers that rest on little: on fewer linked items than a stated number."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyculture.reports.names import Names
from polyculture.reports.numbers import count, decimal, known
from polyculture.reports.texts import texts

FEWEST = 10  # linked items, each counted once per response: a share of fewer moves by a tenth and more with each
_SHOWN = 6  # of each metric
_SQL = Path(__file__).parent / "sql" / "thin.sql"

Row = Mapping[Hashable, Any]


@dataclass(frozen=True, slots=True)
class ThinMetric:
    """How many numbers of a metric rest on fewer than `FEWEST` linked items, and those that rest on the fewest."""

    metric: str
    thin: str
    numbers: str
    places: tuple[str, ...]
    more: str  # how many others; empty for none


def rests_on(incidences: Any) -> str | None:
    """'n = 6' where a number rests on fewer than `FEWEST` linked items; None where it rests on more, or on unknown."""
    found = known(incidences)
    return f"n = {count(found)}" if found is not None and found < FEWEST else None


def thin_metrics(rows: Sequence[Row], names: Names) -> tuple[ThinMetric, ...]:
    """A line per metric that has thin numbers, from rows in the order of `sql/thin.sql`."""
    found = []
    for metric in dict.fromkeys(row["metric"] for row in rows):
        own = [row for row in rows if row["metric"] == metric]
        places = tuple(_place(row, names) for row in own[:_SHOWN])
        more = count(len(own) - _SHOWN) if len(own) > _SHOWN else ""
        name = texts().metrics[metric].name
        found.append(ThinMetric(name, count(len(own)), count(own[0]["numbers"]), places, more))
    return tuple(found)


def place_of(row: Row, names: Names) -> str:
    """'Spanish, neutral, smollm2'."""
    parts = [names.language(row["language"])]
    if known(row["other_language"]):
        parts = [f"{parts[0]} with {names.language(row['other_language'])}"]
    if known(row["country"]):
        parts.append(names.country(row["country"]))
    if known(row["condition"]):
        parts.append(names.condition(row["condition"]))
    if len(names.models) > 1:
        parts.append(names.model(row["model"]))
    return ", ".join(parts)


def _place(row: Row, names: Names) -> str:
    """'Spanish, neutral, smollm2: 1.00 of 6 items'."""
    items, value = int(row["incidences"]), decimal(row["estimate"], row["metric"])
    return f"{place_of(row, names)}: {value} of {items} {'item' if items == 1 else 'items'}"
