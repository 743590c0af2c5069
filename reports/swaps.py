"""What becomes of tasks when entities are swapped: a table per task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from cache.manifest import Manifest
from reports.names import Names, ordered
from reports.numbers import Estimate, count, decimal, known
from reports.words import words

SIDES = ("native", "western", "difference")
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SwapLine:
    """A rate of a type of entities: each side and their difference, and what they rest on."""

    label: str
    setting: str
    metric: str
    cells: tuple[Estimate, ...]
    p: str | None
    sizes: tuple[str, ...]  # contexts, native and Western entities, failed answers


@dataclass(frozen=True, slots=True)
class SwapGroup:
    """A model's lines on a data set."""

    model: str
    name: str
    dataset: str
    lines: tuple[SwapLine, ...]


@dataclass(frozen=True, slots=True)
class SwapTable:
    """All rates of a task."""

    task: str
    groups: tuple[SwapGroup, ...]


def swap_tables(rows: Sequence[Row], manifest: Manifest, names: Names) -> list[SwapTable]:
    """A table per task from the rows of `sql/swaps.sql`; none where nothing was asked."""
    return [_table(task, list(found), manifest, names) for task, found in groupby(rows, lambda row: row["task"])]


def _table(task: str, rows: Sequence[Row], manifest: Manifest, names: Names) -> SwapTable:
    keys = {(row["model"], row["dataset"], row["instrument"]) for row in rows}
    models = ordered(manifest.models, [model for model, *_ in keys])
    in_order = sorted(keys, key=lambda key: (models.index(key[0]), *key[1:]))
    return SwapTable(task, tuple(_group(key, rows, names) for key in in_order))


def _group(key: tuple[str, str, str], rows: Sequence[Row], names: Names) -> SwapGroup:
    model, dataset, _ = key
    own = [row for row in rows if (row["model"], row["dataset"], row["instrument"]) == key]
    return SwapGroup(model, names.model(model), dataset, tuple(_line(row, names) for row in own))


def _line(row: Row, names: Names) -> SwapLine:
    sizes = tuple(count(row[name]) for name in ("contexts", "native_entities", "western_entities", "failed"))
    cells = tuple(_cell(row, side) for side in SIDES)
    return SwapLine(_label(row, names), row["setting"], row["metric"].replace("_", " "), cells, _p(row["p"]), sizes)


def _label(row: Row, names: Names) -> str:
    if row["language"] is None:
        return "All languages, cultures and types"
    return f"{names.language(row['language'])}, {row['culture']}: {row['entity_type'] or 'all types'}"


def _cell(row: Row, side: str) -> Estimate:
    value, low, high = (known(row[name]) for name in (side, f"{side}_low", f"{side}_high"))
    kind = "swap_difference" if side == "difference" else "rate"
    if value is None:
        return Estimate(None, None, words().missing["not_asked"])
    if low is None or high is None:
        return Estimate(decimal(value, kind), None, words().missing["no_interval"])
    return Estimate(decimal(value, kind), f"{decimal(low, kind)} to {decimal(high, kind)}", None)


def _p(p: float | None) -> str | None:
    if known(p) is None:
        return None
    return "p < 0.001" if p is not None and p < 0.001 else f"p = {p:.3f}"
