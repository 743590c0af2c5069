"""How probable native and Western entities are: the Cultural Bias Scores, a table for each rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from cache.manifest import Manifest
from reports.names import Names, ordered
from reports.numbers import Estimate, count, decimal, known, share
from reports.words import words

SETTINGS = ("grounded", "neutral")  # those of the published data sets come first
DIFFERENCE = "difference"

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BiasCell:
    """A score, or the difference of two settings with its p-value."""

    estimate: Estimate
    p: str | None = None


@dataclass(frozen=True, slots=True)
class BiasLine:
    """A type of entities of a culture, in the order of the table's columns, and what it rests on."""

    label: str
    cells: tuple[BiasCell, ...]
    sizes: tuple[str, ...]  # contexts, native and Western entities, failed scores, share of broken seams


@dataclass(frozen=True, slots=True)
class BiasGroup:
    """A model's lines on a data set."""

    model: str
    name: str
    dataset: str
    form: str
    lines: tuple[BiasLine, ...]


@dataclass(frozen=True, slots=True)
class BiasTable:
    """All scores under one rule."""

    rule: str
    columns: tuple[str, ...]
    groups: tuple[BiasGroup, ...]


def bias_tables(rows: Sequence[Row], manifest: Manifest, names: Names) -> list[BiasTable]:
    """A table per rule from the rows of `sql/bias.sql`, of plain contexts; none where nothing was scored."""
    rows = [row for row in rows if not (row["help"] or row["phrasing"])]
    return [_table(rule, list(of_rule), manifest, names) for rule, of_rule in groupby(rows, lambda row: row["rule"])]


def _table(rule: str, rows: Sequence[Row], manifest: Manifest, names: Names) -> BiasTable:
    settings = ordered(SETTINGS, [row["setting"] for row in rows])
    columns = [*settings, DIFFERENCE] if any(row["other_setting"] for row in rows) else settings
    keys = {(row["model"], row["dataset"], row["form"]) for row in rows}
    models = ordered(manifest.models, [model for model, *_ in keys])
    sorted_keys = sorted(keys, key=lambda key: (models.index(key[0]), *key[1:]))
    return BiasTable(rule, tuple(columns), tuple(_group(key, rows, columns, names) for key in sorted_keys))


def _group(key: tuple[str, str, str], rows: Sequence[Row], columns: Sequence[str], names: Names) -> BiasGroup:
    own = [row for row in rows if (row["model"], row["dataset"], row["form"]) == key]
    by_place = groupby(own, _place)
    model, dataset, form = key
    lines = tuple(_line(place, list(found), columns, names) for place, found in by_place)
    return BiasGroup(model, names.model(model), dataset, form, lines)


def _line(
    place: tuple[str | None, str | None, str | None], rows: Sequence[Row], columns: Sequence[str], names: Names
) -> BiasLine:
    found = {DIFFERENCE if row["other_setting"] else row["setting"]: row for row in rows}
    scores = [found[column] for column in columns if column in found and column != DIFFERENCE]
    counts = [_sizes(row[size] for row in scores) for size in ("contexts", "native_entities", "western_entities")]
    health = rows[0]  # the same in all of them
    unpaired = "per_type" if place[2] is None else "no_pairing"
    cells = tuple(bias_cell(found.get(column), unpaired if column == DIFFERENCE else "not_asked") for column in columns)
    sizes = (*counts, count(health["failed"]), share(health["broken_seams"], health["scored"]) or "")
    return BiasLine(line_label(*place, names), cells, sizes)


def _place(row: Row) -> tuple[str | None, str | None, str | None]:
    return row["language"], row["culture"], row["entity_type"]


def line_label(language: str | None, culture: str | None, entity_type: str | None, names: Names) -> str:
    """What a line of a table is about; None stands for all."""
    if language is None:
        return "All languages, cultures and types"
    return f"{names.language(language)}, {culture}: {entity_type or 'all types'}"


def bias_cell(row: Row | None, missing: str) -> BiasCell:
    """A score or a difference with its interval; without a row, the word for why there is none."""
    if row is None:
        return BiasCell(Estimate(None, None, words().missing[missing]))
    value = decimal(row["estimate"], row["metric"])
    low, high = known(row["low"]), known(row["high"])
    if low is None or high is None:
        return BiasCell(Estimate(value, None, words().missing["no_interval"]), _p(row["p"]))
    interval = f"{decimal(low, row['metric'])} to {decimal(high, row['metric'])}"
    return BiasCell(Estimate(value, interval, None), _p(row["p"]))


def _p(p: float | None) -> str | None:
    if known(p) is None:
        return None
    return "p < 0.001" if p is not None and p < 0.001 else f"p = {p:.3f}"


def _sizes(numbers: Iterable[int]) -> str:
    """A number; where settings differ, that of each in their order."""
    each = [count(number) for number in numbers]
    return each[0] if len(set(each)) == 1 else " / ".join(each)
