"""What help before a context changes, and what another phrasing: paired differences of Cultural Bias Scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from cache.manifest import Manifest
from reports.bias import BiasCell, bias_cell, line_label
from reports.names import Names, ordered
from reports.numbers import count

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ContrastLine:
    """The same contexts asked in two ways: their scores, and the difference where both were asked."""

    model: str
    dataset: str
    label: str
    setting: str
    ways: tuple[str, str]
    cells: tuple[BiasCell, BiasCell, BiasCell]
    contexts: str


@dataclass(frozen=True, slots=True)
class ContrastTable:
    """All paired differences under one rule."""

    rule: str
    lines: tuple[ContrastLine, ...]


def contrast_tables(rows: Sequence[Row], manifest: Manifest, names: Names) -> list[ContrastTable]:
    """A table per rule from the rows of `sql/bias.sql`; none where nothing was asked in two ways."""
    tables = []
    for rule, of_rule in groupby(rows, lambda row: row["rule"]):
        own = list(of_rule)
        models = ordered(manifest.models, [row["model"] for row in own])
        lines = sorted(_lines(own, names), key=lambda found: models.index(found[0]))
        if lines:
            tables.append(ContrastTable(rule, tuple(line for _, line in lines)))
    return tables


def _lines(rows: Sequence[Row], names: Names) -> Iterator[tuple[str, ContrastLine]]:
    scores = {_place(row, row["phrasing"], row["help"]): row for row in rows if row["metric"] == "cbs"}
    for row in rows:
        if not (row["plain"] or row["other_phrasing"]):
            continue
        other = (row["phrasing"], None) if row["plain"] else (row["other_phrasing"], row["help"])
        both = (scores.get(_place(row, *way)) for way in ((row["phrasing"], row["help"]), other))
        one, two = (bias_cell(found, "not_asked") for found in both)
        ways = _way(row["phrasing"], row["help"]), _way(*other)
        label = line_label(row["language"], row["culture"], row["entity_type"], names)
        cells = (one, two, bias_cell(row, "not_asked"))
        yield (
            row["model"],
            ContrastLine(
                names.model(row["model"]), row["dataset"], label, row["setting"], ways, cells, count(row["contexts"])
            ),
        )


def _place(row: Row, phrasing: str | None, help: str | None) -> tuple[Any, ...]:
    place = ("model", "dataset", "form", "language", "culture", "entity_type", "setting")
    return (*(row[name] for name in place), phrasing, help)


def _way(phrasing: str | None, help: str | None) -> str:
    return ", ".join(word for word in (phrasing, help) if word) or "plain"
