"""What becomes of tasks when entities are swapped: a table per task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from polyculture.cache.manifest import Manifest
from polyculture.reports.groups import Group, Row, groups, place_label
from polyculture.reports.names import Names
from polyculture.reports.numbers import Estimate, count, estimate, known, lacking

SIDES = ("native", "western", "difference")


@dataclass(frozen=True, slots=True)
class SwapLine:
    """A rate of a type of entities: each side and their difference, and what they rest on."""

    label: str
    setting: str
    metric: str
    cells: tuple[Estimate, ...]
    sizes: tuple[str, ...]  # contexts, native and Western entities, failed answers


@dataclass(frozen=True, slots=True)
class SwapTable:
    """All rates of a task."""

    task: str
    groups: tuple[Group[SwapLine], ...]


def swap_tables(rows: Sequence[Row], manifest: Manifest, names: Names) -> list[SwapTable]:
    """A table per task from the rows of `sql/swaps.sql`; none where nothing was asked."""

    def lines(own: Sequence[Row]) -> list[SwapLine]:
        return [_line(row, names) for row in own]

    by_task = groupby(rows, lambda row: row["task"])
    return [SwapTable(task, groups(list(found), "instrument", manifest, names, lines)) for task, found in by_task]


def _line(row: Row, names: Names) -> SwapLine:
    sizes = tuple(count(row[name]) for name in ("contexts", "native_entities", "western_entities", "failed"))
    cells = tuple(_cell(row, side) for side in SIDES)
    return SwapLine(place_label(row, names), row["setting"], row["metric"].replace("_", " "), cells, sizes)


def _cell(row: Row, side: str) -> Estimate:
    if known(row[side]) is None:
        return lacking("not_asked")
    limits = row[f"{side}_low"], row[f"{side}_high"]
    if side == "difference":
        return estimate("swap_difference", row[side], *limits, row["p"])
    return estimate("rate", row[side], *limits)
