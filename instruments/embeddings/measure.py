"""The separation of cultures for every type and layer of a run, its mean over types, and the maps, into the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress, groupby
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from polyculture.cache.layout import compose
from polyculture.cache.parquet import objects_to_table, write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.cache.sql_file import read_sql
from polyculture.cache.store import open_store
from polyculture.instruments.embeddings.layout import ENTITY_POSITIONS, LAYOUT, SEPARATIONS, EntityPosition, Separation
from polyculture.instruments.embeddings.separation import (
    SeparationEstimate,
    Sides,
    Vectors,
    WeightedPart,
    mean_separation,
    permuted_sides,
    positions,
    separation,
)

_OWN = Path(__file__).parent
_TYPE = ("model", "dataset", "language", "culture", "entity_type", "form", "setting")
_COMPARISON = (*_TYPE, "gender", "comparison", "layer")
FEWEST = 4  # entities of a map
MOST = 500  # of each culture on a map: those with the lowest ids, which are hashes; more are no more readable
NO_INDEX = "fewer than two entities of a culture, or all in one place"
Unit = dict[str, Any]  # a row of units.sql


@dataclass(frozen=True)
class Compared:
    """The entities of a comparison at a layer."""

    unit: Unit
    entity_ids: Sequence[str]
    entities: Sequence[str]
    native: Sides
    vectors: Vectors


@dataclass(frozen=True)
class Measured:
    """The row of a comparison, and what it adds to the mean over types; None where it has no index."""

    row: Separation
    part: WeightedPart | None
    native: frozenset[str]  # entity ids
    western: frozenset[str]
    contexts: frozenset[str]


def measure_separation(run: RunFolder) -> list[Separation]:
    """Writes and returns the separation of every type and layer and the means over types, and writes the maps.

    Raises `StoreError` where there is no run or the folder cannot be written, `MissingDependencyError` without
    scikit-learn.
    """
    with open_store(run, compose(CORE, LAYOUT)) as store:
        found = store.execute(read_sql(_OWN, "units"))
        names = [column[0] for column in found.description or ()]
        units = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        last = {_place(unit): unit["layer"] for unit in sorted(units, key=lambda unit: unit["layer"])}
        measured: list[Measured] = []
        points: list[EntityPosition] = []
        for of_type in _grouped(units, (*_TYPE, "layer")):
            compared = [_read(store, unit) for unit in of_type]
            measured += _of_type(compared)
            for one in compared:
                if one.unit["place"] == 1 and one.unit["layer"] == last[_place(one.unit)]:
                    points += _positions(one)
    rows = [one.row for one in measured]
    rows += [row for of_layer in _by_layer(measured) for row in _mean(of_layer)]
    write_parquet(objects_to_table(SEPARATIONS, rows), run.table("separations"))
    write_parquet(objects_to_table(ENTITY_POSITIONS, points), run.table("entity_positions"))
    return rows


def _read(store: duckdb.DuckDBPyConnection, unit: Unit) -> Compared:
    wanted = {name: unit[name] for name in _COMPARISON}
    table: Any = store.sql(read_sql(_OWN, "vectors"), params=wanted).to_arrow_table()
    flat = table.column("vector").combine_chunks().flatten().to_numpy(zero_copy_only=False)
    vectors = np.asarray(flat, np.float64).reshape(len(table), -1)
    native = np.array(table.column("native").to_pylist(), bool)
    return Compared(unit, table.column("entity_id").to_pylist(), table.column("entity").to_pylist(), native, vectors)


def _of_type(compared: Sequence[Compared]) -> Iterator[Measured]:
    """The rows of a type at a layer. Its comparisons share their permutations, as they share entities."""
    sides = {e: side for one in compared for e, side in zip(one.entity_ids, one.native.tolist(), strict=True)}
    members = [frozenset(one.entity_ids) for one in compared]
    strata = [tuple(entity_id in each for each in members) for entity_id in sides]
    labels = permuted_sides(np.array(list(sides.values()), bool), strata, seed=1)
    place = {entity_id: number for number, entity_id in enumerate(sides)}
    genders = len({one.unit["gender"] for one in compared if one.unit["place"] == 1})
    for one in compared:
        found = separation(
            one.vectors, one.native, labels=labels[:, [place[entity_id] for entity_id in one.entity_ids]]
        )
        part = None
        if found is not None and one.unit["place"] == 1:
            part = WeightedPart(1 / genders, one.entity_ids, found, one.unit["entity_type"])
        native = frozenset(compress(one.entity_ids, one.native))
        contexts = frozenset(one.unit["context_ids"])
        yield Measured(_row(one.unit, found), part, native, frozenset(one.entity_ids) - native, contexts)


def _mean(of_layer: Sequence[Measured]) -> Iterator[Separation]:
    """The mean over the types that have an index, of two or more; genders of a type are averaged first."""
    known = [one for one in of_layer if one.part is not None]
    kinds = {one.row.entity_type for one in known}
    if len(kinds) < 2:
        return
    parts = [one.part for one in known if one.part is not None]
    whole = {kind: sum(part.weight for part in parts if part.kind == kind) for kind in kinds}
    parts = [replace(part, weight=part.weight / whole[part.kind] / len(kinds)) for part in parts]
    rows = [one.row for one in known]
    contexts = frozenset[str]().union(*(one.contexts for one in known))
    names = sorted({row.layer_name for row in rows if row.layer_name})
    unit = {name: getattr(rows[0], name) for name in (*_TYPE, "layer")} | {
        "entity_type": None,
        "gender": None,
        "comparison": None,
        "layer_name": ", ".join(names) or None,
        "types": len(kinds),
        "contexts": len(contexts),
        "contexts_fewest": min(row.contexts_fewest or 0 for row in rows),
        "contexts_most": max(row.contexts_most or 0 for row in rows),
        "native_entities": len(frozenset[str]().union(*(one.native for one in known))),
        "western_entities": len(frozenset[str]().union(*(one.western for one in known))),
        "failed": sum(row.failed or 0 for row in rows),
    }
    yield _row(unit, mean_separation(parts))


def _row(unit: Unit, found: SeparationEstimate | None) -> Separation:
    columns = {name: value for name, value in unit.items() if name not in ("place", "context_ids")}
    if found is None:
        return Separation(**columns, estimate=None, by_chance=None, p=None, lacking=NO_INDEX)
    corrected = found.corrected
    return Separation(
        **columns,
        estimate=found.index,
        by_chance=found.by_chance,
        p=found.p,
        corrected=corrected.value,
        corrected_low=corrected.low,
        corrected_high=corrected.high,
        lacking=corrected.lacking,
    )


def _positions(one: Compared) -> Iterator[EntityPosition]:
    if len(one.entity_ids) < FEWEST:
        return
    one = _mapped(one)
    wanted = (*_TYPE, "gender", "layer", "contexts")
    place = {name: one.unit[name] for name in wanted}
    spots = zip(one.entity_ids, one.entities, one.native.tolist(), positions(one.vectors).tolist(), strict=True)
    for entity_id, entity, native, (x, y) in spots:
        yield EntityPosition(**place, entity_id=entity_id, entity=entity, native=native, x=x, y=y)


def _mapped(one: Compared) -> Compared:
    """At most `MOST` entities of each culture; the rows are in the order of the ids."""
    kept = np.zeros(len(one.native), bool)
    for side in (one.native, ~one.native):
        kept[np.flatnonzero(side)[:MOST]] = True
    return replace(
        one,
        entity_ids=list(compress(one.entity_ids, kept)),
        entities=list(compress(one.entities, kept)),
        native=one.native[kept],
        vectors=one.vectors[kept],
    )


def _by_layer(measured: Sequence[Measured]) -> Iterator[list[Measured]]:
    """The comparisons that a mean over types may hold, layer by layer."""

    def key(one: Measured) -> tuple[Any, ...]:
        row = one.row
        return row.model, row.dataset, row.language, row.culture, row.form, row.setting, row.layer

    for _, of_layer in groupby(sorted(measured, key=key), key=key):
        yield list(of_layer)


def _grouped(units: Sequence[Unit], names: Sequence[str]) -> Iterator[list[Unit]]:
    def key(unit: Unit) -> tuple[Any, ...]:
        return tuple(unit[name] for name in names)

    for _, group in groupby(sorted(units, key=key), key=key):
        yield list(group)


def _place(unit: Unit) -> tuple[Any, ...]:
    return tuple(unit[name] for name in (*_TYPE, "gender"))
