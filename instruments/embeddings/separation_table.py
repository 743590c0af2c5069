"""Davies-Bouldin indices and maps of entities, for the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from polyculture.instruments.embeddings.entity_map import MAP_KEY, entity_map, subject
from polyculture.reports.figures.figure import Panel
from polyculture.reports.names import Names, short
from polyculture.reports.numbers import FormattedEstimate, count, decimal, estimate, known, lacking, probability

SHOWN_MAPS = 12  # a page holds no more; `polyculture probe embeddings --plots` writes all

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SeparationLine:
    """A type of entities at a layer of a model."""

    model: str
    name: str
    label: str
    layer: str
    estimate: FormattedEstimate
    corrected: FormattedEstimate
    by_chance: str
    p: str
    sizes: tuple[str, ...]  # contexts, native and Western entities, failed ones


def separation_lines(rows: Sequence[Row], names: Names) -> tuple[SeparationLine, ...]:
    """The lines of the table from the rows of `separations.sql`."""
    return tuple(_line(row, names) for row in rows)


def entity_maps(frame: pd.DataFrame, names: Names) -> tuple[Panel, ...]:
    """A panel per map from the rows of `entity_positions.sql`, at most `SHOWN_MAPS`."""
    panels: list[Panel] = []
    for key, points in frame.groupby(list(MAP_KEY), sort=True):
        named = dict(zip(MAP_KEY, (short(str(part)) for part in key), strict=True))
        place = f"{names.model(named['model'])}, {names.language(named['language'])}, {named['culture']}"
        title = f"{place}: {subject(named)}"
        alternative = f"{title} ({named['dataset']}, {named['contexts']} contexts)"
        panels.append(Panel(title, entity_map(points, alternative)))
        if len(panels) == SHOWN_MAPS:
            break
    return tuple(panels)


def _line(row: Row, names: Names) -> SeparationLine:
    return SeparationLine(
        row["model"],
        names.model(row["model"]),
        f"{names.language(row['language'])}, {row['culture']}: {_type(row)}",
        str(row["layer"]) + (f" ({row['layer_name']})" if known(row["layer_name"]) else ""),
        _index(row),
        _corrected(row),
        "" if known(row["by_chance"]) is None else decimal(row["by_chance"], "index"),
        "" if known(row["p"]) is None else probability(row["p"]),
        (_contexts(row), *(_count(row[name]) for name in ("native_entities", "western_entities", "failed"))),
    )


def _type(row: Row) -> str:
    """The type with its gender, and how its contexts differ from the neutral causal ones."""
    kind = known(row["entity_type"]) or f"mean of {row['types']:.0f} types"
    setting = known(row["setting"])
    apart = [
        known(row["gender"]),
        "masked" if row["form"] == "masked" else None,
        setting if setting != "neutral" else None,
    ]
    return ", ".join(filter(None, (kind, *apart)))


def _index(row: Row) -> FormattedEstimate:
    """The index of these entities, which has no interval."""
    if known(row["estimate"]) is None:
        return lacking("no index")
    return FormattedEstimate(decimal(row["estimate"], "index"), None, None)


def _corrected(row: Row) -> FormattedEstimate:
    value, reason = known(row["corrected"]), known(row["lacking"])
    if value is None:
        return lacking("not apart" if reason == "not apart" else "not computed")
    return estimate("index", value, row["corrected_low"], row["corrected_high"], without=reason or "no_interval")


def _contexts(row: Row) -> str:
    """The number of contexts, and per entity where not all fit each."""
    every, fewest = count(row["contexts"]), known(row["contexts_fewest"])
    if known(row["entity_type"]) is None or fewest is None or fewest == row["contexts"]:
        return every
    return f"{every} ({count(fewest)} to {count(row['contexts_most'])} an entity)"


def _count(value: float | None) -> str:
    return "" if value is None or known(value) is None else count(value)
