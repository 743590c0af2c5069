"""Rankings of models and of languages: as far as differences tell them apart, with ties where they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polyculture.cache.manifest import Manifest
from polyculture.reports.headline import METRICS
from polyculture.reports.names import Names, ordered
from polyculture.reports.texts import texts

FEWEST = 3  # of two the finding says it
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rank:
    """'1', '2 to 4'; `place` is 'best' or 'worst' where it is told apart from all others."""

    rank: str
    place: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """A table: a line for each model or language, a column for each metric in which any two are told apart."""

    title: str
    heads: tuple[str, ...]
    lines: tuple[tuple[str, tuple[Rank | None, ...]], ...]
    alike: tuple[str, ...]  # metrics in which none are told apart


def rankings(rows: Sequence[Row], manifest: Manifest, names: Names) -> tuple[Ranking, ...]:
    """The tables from the rows of `sql/ranks.sql`; none of fewer than `FEWEST` models or languages."""
    found = []
    for dimension, title, asked in (
        ("model", "Models", manifest.models),
        ("language", "Languages", manifest.languages),
    ):
        own = [row for row in rows if row["dimension"] == dimension and row["ranked"] >= FEWEST]
        apart = {row["metric"] for row in own if row["rank_low"] > 1}
        metrics = [metric for metric in METRICS if metric in apart]
        alike = [metric for metric in METRICS if metric in {row["metric"] for row in own} - apart]
        ranks = {(row["metric"], row["name"]): _rank(row) for row in own}
        lines = tuple(
            (getattr(names, dimension)(name), tuple(ranks.get((metric, name)) for metric in metrics))
            for name in ordered(asked, [row["name"] for row in own])
        )
        if metrics:
            found.append(Ranking(title, _names(metrics), lines, _names(alike)))
    return tuple(found)


def _names(metrics: Sequence[str]) -> tuple[str, ...]:
    return tuple(texts().metrics[metric].name for metric in metrics)


def _rank(row: Row) -> Rank:
    low, high, last = row["rank_low"], row["rank_high"], row["ranked"]
    place = {(1, 1): "best", (last, last): "worst"}.get((low, high), "")
    return Rank(str(low) if low == high else f"{low} to {high}", place)
