"""Tables of entities' numbers: lines grouped by model and data set, and how a line is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from polyculture.cache.manifest import Manifest
from polyculture.reports.names import Names, ordered

Row = Mapping[str, Any]
Line = TypeVar("Line")


@dataclass(frozen=True, slots=True)
class Group(Generic[Line]):
    """A model's lines on a data set; `way` tells it from the model's other groups on that data set."""

    model: str
    name: str
    dataset: str
    way: str
    lines: tuple[Line, ...]


def groups(
    rows: Sequence[Row], way: str, manifest: Manifest, names: Names, lines: Callable[[Sequence[Row]], Iterable[Line]]
) -> tuple[Group[Line], ...]:
    """The groups of a table's rows, models in the experiment file's order; the column `way` splits them further."""
    keys = {(row["model"], row["dataset"], row[way]) for row in rows}
    models = ordered(manifest.models, [model for model, *_ in keys])
    found = []
    for key in sorted(keys, key=lambda key: (models.index(key[0]), *key[1:])):
        model, dataset, asked = key
        own = [row for row in rows if (row["model"], row["dataset"], row[way]) == key]
        found.append(Group(model, names.model(model), dataset, asked, tuple(lines(own))))
    return tuple(found)


def place_label(row: Row, names: Names) -> str:
    """The name of a line: language, culture and type; None in a column means all."""
    if row["language"] is None:
        return "All languages, cultures and types"
    return f"{names.language(row['language'])}, {row['culture']}: {row['entity_type'] or 'all types'}"
