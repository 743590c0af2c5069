"""The separation of cultures for every type and layer of a run, and the map of its last layer, into the store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from polyculture.cache.layout import compose
from polyculture.cache.parquet import objects_to_table, write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import CORE, open_store
from polyculture.instruments.embeddings.layout import EMBEDDINGS
from polyculture.instruments.embeddings.rows import ENTITY_POSITIONS, SEPARATIONS, EntityPosition, Separation
from polyculture.instruments.embeddings.separation import positions, separation

_KEY = ("model", "dataset", "language", "culture", "entity_type", "layer", "contexts")
_UNITS = f"SELECT DISTINCT {', '.join(_KEY)} FROM representations WHERE status = 'ok' ORDER BY ALL"  # noqa: S608
_VECTORS = (Path(__file__).parent / "vectors.sql").read_text(encoding="utf-8")
FEWEST = 4  # entities of a map


def measure_separation(run: RunFolder) -> list[Separation]:
    """Writes and returns the separation of every type and layer, and writes the maps.

    Raises `StoreError` where there is no run or the folder cannot be written, `MissingDependencyError` without
    scikit-learn.
    """
    with open_store(run, compose(CORE, EMBEDDINGS)) as store:
        units = [dict(zip(_KEY, row, strict=True)) for row in store.execute(_UNITS).fetchall()]
        last = {_place(unit): unit["layer"] for unit in units}  # in order: the last stays
        rows, points = [], []
        for unit in units:
            entities, native, vectors = _read(store, unit)
            rows += _separation(unit, native, vectors)
            if unit["layer"] == last[_place(unit)] and len(entities) >= FEWEST:
                points += list(_positions(unit, entities, native, vectors))
    write_parquet(objects_to_table(SEPARATIONS, rows), run.table("separations"))
    write_parquet(objects_to_table(ENTITY_POSITIONS, points), run.table("entity_positions"))
    return rows


def _read(store: duckdb.DuckDBPyConnection, unit: dict[str, Any]) -> tuple[list[Any], Any, Any]:
    rows = store.execute(_VECTORS, unit).fetchall()
    return rows, np.array([row[2] for row in rows], bool), np.array([row[3] for row in rows], np.float64)


def _separation(unit: dict[str, Any], native: Any, vectors: Any) -> list[Separation]:
    found = separation(vectors, native)
    if found is None:
        return []
    row = Separation(
        **unit,
        estimate=found.index,
        low=found.low,
        high=found.high,
        by_chance=found.by_chance,
        p=found.p,
        native_entities=int(native.sum()),
        western_entities=int((~native).sum()),
    )
    return [row]


def _positions(unit: dict[str, Any], entities: list[Any], native: Any, vectors: Any) -> Iterator[EntityPosition]:
    for (entity_id, entity, *_), side, (x, y) in zip(entities, native, positions(vectors), strict=True):
        yield EntityPosition(**unit, entity_id=entity_id, entity=entity, native=bool(side), x=float(x), y=float(y))


def _place(unit: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(value for name, value in unit.items() if name != "layer")
