"""Paired differences of Cultural Bias Scores: contexts with and without a prefix, or in two phrasings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from polyculture.cache.manifest import Manifest
from polyculture.instruments.cbs.score_tables import score_cell
from polyculture.reports.groups import Row, place_label
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import FormattedEstimate, count, lacking


@dataclass(frozen=True, slots=True)
class ContrastLine:
    """The same contexts under two conditions: their scores, and the difference where both exist."""

    model: str
    dataset: str
    label: str
    setting: str
    ways: tuple[str, str]
    cells: tuple[FormattedEstimate, FormattedEstimate, FormattedEstimate]
    contexts: str


@dataclass(frozen=True, slots=True)
class ContrastTable:
    """All paired differences under one rule."""

    rule: str
    lines: tuple[ContrastLine, ...]


def contrast_tables(rows: Sequence[Row], manifest: Manifest, names: Names) -> tuple[ContrastTable, ...]:
    """A table per rule from the rows of `bias.sql`; none without contexts under two conditions."""
    tables = []
    for rule, of_rule in groupby(rows, lambda row: row["rule"]):
        own = list(of_rule)
        models = ordered(manifest.models, [row["model"] for row in own])
        scores = {_place(row, row["phrasing"], row["context_prefix"]): row for row in own if row["metric"] == "cbs"}
        contrasts = [row for row in own if row["plain"] or row["other_phrasing"]]
        contrasts.sort(key=lambda row: models.index(row["model"]))
        if contrasts:
            tables.append(ContrastTable(rule, tuple(_line(row, scores, names) for row in contrasts)))
    return tuple(tables)


def _line(row: Row, scores: Mapping[tuple[Any, ...], Row], names: Names) -> ContrastLine:
    one = row["phrasing"], row["context_prefix"]
    other = (row["phrasing"], None) if row["plain"] else (row["other_phrasing"], row["context_prefix"])
    left, right = (_score(scores.get(_place(row, *way))) for way in (one, other))
    return ContrastLine(
        names.model(row["model"]),
        row["dataset"],
        place_label(row, names),
        row["setting"],
        (_way(*one), _way(*other)),
        (left, right, score_cell(row)),
        count(row["contexts"]),
    )


def _score(row: Row | None) -> FormattedEstimate:
    return score_cell(row) if row else lacking("not_asked")


def _place(row: Row, phrasing: str | None, context_prefix: str | None) -> tuple[Any, ...]:
    place = ("model", "dataset", "form", "language", "culture", "entity_type", "setting")
    return (*(row[name] for name in place), phrasing, context_prefix)


def _way(phrasing: str | None, context_prefix: str | None) -> str:
    return ", ".join(word for word in (phrasing, context_prefix) if word) or "plain"
