"""Davies-Bouldin indices and maps of entities, for the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from polyculture.instruments.embeddings.entity_map import EntityMap
from polyculture.reports.figures.figure import Panel
from polyculture.reports.names import Names, short
from polyculture.reports.numbers import FormattedEstimate, count, decimal, estimate, probability

SHOWN_MAPS = 12  # a page holds no more; `polyculture embeddings --plots` writes all

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SeparationLine:
    """A type of entities at a layer of a model."""

    model: str
    name: str
    label: str
    layer: str
    estimate: FormattedEstimate
    by_chance: str
    p: str
    sizes: tuple[str, ...]  # contexts, native and Western entities


def separation_lines(rows: Sequence[Row], names: Names) -> tuple[SeparationLine, ...]:
    """The lines of the table from the rows of `separations.sql`."""
    return tuple(_line(row, names) for row in rows)


def entity_maps(frame: pd.DataFrame, names: Names) -> tuple[Panel, ...]:
    """A panel per map from the rows of `entity_positions.sql`, at most `SHOWN_MAPS`."""
    keys = ["model", "dataset", "language", "culture", "entity_type", "layer", "contexts"]
    panels = []
    for number, (key, points) in enumerate(frame.groupby(keys, sort=True)):
        model, _, language, culture, entity_type, layer, _ = (short(str(part)) for part in key)
        title = f"{names.model(model)}, {names.language(language)}, {culture}: {entity_type}, layer {layer}"
        panels.append(Panel(title, EntityMap(f"apart-{number}", f"Map of entities. {title}", points)))
        if len(panels) == SHOWN_MAPS:
            break
    return tuple(panels)


def _line(row: Row, names: Names) -> SeparationLine:
    return SeparationLine(
        row["model"],
        names.model(row["model"]),
        f"{names.language(row['language'])}, {row['culture']}: {row['entity_type']}",
        str(row["layer"]),
        estimate("index", row["estimate"], row["low"], row["high"]),
        decimal(row["by_chance"], "index"),
        probability(row["p"]),
        tuple(count(row[name]) for name in ("contexts", "native_entities", "western_entities")),
    )
