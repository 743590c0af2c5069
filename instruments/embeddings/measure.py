"""The separation of cultures for every type and layer, its mean over types, into `numbers`; and maps of entities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress, groupby
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from polyculture.cache.store.data_identity import measure_file
from polyculture.cache.store.layout import Measure, compose
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.schema.measured import CELL, EVERY, Difference, Number
from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import Store
from polyculture.instruments.embeddings.layout import ENTITY_POSITIONS, LAYOUT, MEASURE, EntityPosition
from polyculture.instruments.embeddings.separation import (
    NativeMask,
    SeparationEstimate,
    Vectors,
    WeightedPart,
    mean_separation,
    permuted_sides,
    positions,
    separation,
)
from polyculture.metrics.measured import renew

_OWN = Path(__file__).parent
_TYPE = ("model", "dataset", "language", "culture", "entity_type", "form", "setting")
_COMPARISON = (*_TYPE, "gender", "comparison", "layer")
FEWEST = 4  # entities of a map
MOST = 500  # of each culture on a map: those with the lowest ids, which are hashes; more are no more readable
_SIZES = ("contexts", "contexts_fewest", "contexts_most", "native_entities", "western_entities", "failed")
NO_INDEX = "fewer than two entities of a culture, or all in one place"
ComparisonUnit = dict[str, Any]  # a row of units.sql
T = TypeVar("T")


@dataclass(frozen=True)
class ComparedEntities:
    """The entities of a comparison at a layer."""

    unit: ComparisonUnit
    entity_ids: Sequence[str]
    entities: Sequence[str]
    native: NativeMask
    vectors: Vectors


@dataclass(frozen=True)
class MeasuredSeparation:
    """What a comparison comes to, and what it adds to the mean over types; None where it has no index."""

    unit: ComparisonUnit
    found: SeparationEstimate | None
    part: WeightedPart | None
    native: frozenset[str]  # entity ids
    western: frozenset[str]
    contexts: frozenset[str]


def measure_separation(run: RunFolder) -> None:
    """Writes the separation of every type and layer, the means over types, and the maps, where they are to be renewed.

    Raises as `renew`, and `MissingDependencyError` without scikit-learn.
    """
    maps = measure_file(run, ENTITY_POSITIONS, MEASURE.name)
    renew(run, compose(CORE, LAYOUT), [MEASURE], partial(_measured, maps), beside=[maps])


def _measured(maps: Path, store: Store, _: Measure, inputs: str) -> tuple[list[Number], list[Difference]]:
    found = store.execute(read_sql(_OWN, "units"))
    names = [column[0] for column in found.description or ()]
    units = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    last = {_place(unit): unit["layer"] for unit in sorted(units, key=lambda unit: unit["layer"])}
    measured: list[MeasuredSeparation] = []
    points: list[EntityPosition] = []
    for of_type in _grouped(units, lambda unit: tuple(unit[name] for name in (*_TYPE, "layer"))):
        compared = [_read(store, unit) for unit in of_type]
        measured += _of_type(compared)
        for one in compared:
            if one.unit["place"] == 1 and one.unit["layer"] == last[_place(one.unit)]:
                points += _positions(one, inputs)
    write_parquet(objects_to_table(ENTITY_POSITIONS, points), maps)
    over_types = [name for name in (*_TYPE, "layer") if name != "entity_type"]
    by_layer = _grouped(measured, lambda one: tuple(one.unit[name] for name in over_types))
    means = [one for of_layer in by_layer for one in _mean(of_layer)]
    every = [(one.unit, one.found) for one in measured] + means
    return [row for unit, estimate in every for row in separation_numbers(unit, estimate, inputs)], []


def _read(store: Store, unit: ComparisonUnit) -> ComparedEntities:
    wanted = {name: unit[name] for name in _COMPARISON}
    table: Any = store.sql(read_sql(_OWN, "vectors"), params=wanted).to_arrow_table()
    flat = table.column("vector").combine_chunks().flatten().to_numpy(zero_copy_only=False)
    vectors = np.asarray(flat, np.float64).reshape(len(table), -1)
    native = np.array(table.column("native").to_pylist(), bool)
    return ComparedEntities(
        unit, table.column("entity_id").to_pylist(), table.column("entity").to_pylist(), native, vectors
    )


def _of_type(compared: Sequence[ComparedEntities]) -> Iterator[MeasuredSeparation]:
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
            part = WeightedPart(1 / genders, found, one.unit["entity_type"])
        native = frozenset(compress(one.entity_ids, one.native))
        contexts = frozenset(one.unit["context_ids"])
        yield MeasuredSeparation(one.unit, found, part, native, frozenset(one.entity_ids) - native, contexts)


def _mean(of_layer: Sequence[MeasuredSeparation]) -> Iterator[tuple[ComparisonUnit, SeparationEstimate]]:
    """The mean over the types that have an index, of two or more; genders of a type are averaged first."""
    known = [one for one in of_layer if one.part is not None]
    kinds = {one.unit["entity_type"] for one in known}
    if len(kinds) < 2:
        return
    parts = [one.part for one in known if one.part is not None]
    whole = {kind: sum(part.weight for part in parts if part.kind == kind) for kind in kinds}
    parts = [replace(part, weight=part.weight / whole[part.kind] / len(kinds)) for part in parts]
    units = [one.unit for one in known]
    names = sorted({unit["layer_name"] for unit in units if unit["layer_name"]})
    unit = {name: units[0][name] for name in (*_TYPE, "layer")} | {
        "entity_type": None,
        "gender": None,
        "comparison": None,
        "layer_name": ", ".join(names) or None,
        "types": len(kinds),
        "contexts": len(frozenset[str]().union(*(one.contexts for one in known))),
        "contexts_fewest": min(unit["contexts_fewest"] for unit in units),
        "contexts_most": max(unit["contexts_most"] for unit in units),
        "native_entities": len(frozenset[str]().union(*(one.native for one in known))),
        "western_entities": len(frozenset[str]().union(*(one.western for one in known))),
        "failed": sum(unit["failed"] for unit in units),
    }
    yield unit, mean_separation(parts)


def separation_numbers(unit: ComparisonUnit, found: SeparationEstimate | None, inputs: str) -> Iterator[Number]:
    """The index of these entities, by chance, and its p."""
    facets = {name: unit[name] for name in ("comparison", "form", "gender", "layer", "layer_name")}
    entities = unit["native_entities"] + unit["western_entities"]
    index = Number(
        measure=MEASURE.name,
        metric="davies_bouldin",
        level=CELL if unit["entity_type"] else "model, dataset, language, country, condition",
        model=unit["model"],
        dataset=unit["dataset"],
        language=unit["language"],
        country=unit["culture"],
        topic=unit["entity_type"] or EVERY,
        condition=unit["setting"],
        facets={name: str(value) for name, value in facets.items() if value is not None},
        estimate=found.index if found else None,
        no_estimate=None if found else NO_INDEX,
        no_interval="of these entities" if found else None,
        no_wide="one wording",
        unit="entity",
        units=entities,
        n=entities,
        sizes={name: unit[name] for name in _SIZES},
        cells=unit.get("types", 1),
        inputs=inputs,
    )
    yield index
    if found is not None:
        yield replace(index, metric="by_chance", estimate=found.by_chance)
        yield replace(index, metric="p", estimate=found.p)


def _positions(one: ComparedEntities, inputs: str) -> Iterator[EntityPosition]:
    if len(one.entity_ids) < FEWEST:
        return
    one = _mapped(one)
    wanted = (*_TYPE, "gender", "layer", "contexts")
    place = {name: one.unit[name] for name in wanted}
    spots = zip(one.entity_ids, one.entities, one.native.tolist(), positions(one.vectors).tolist(), strict=True)
    for entity_id, entity, native, (x, y) in spots:
        yield EntityPosition(**place, entity_id=entity_id, entity=entity, native=native, x=x, y=y, inputs=inputs)


def _mapped(one: ComparedEntities) -> ComparedEntities:
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


def _grouped(items: Iterable[T], key: Callable[[T], tuple[Any, ...]]) -> list[list[T]]:
    return [list(group) for _, group in groupby(sorted(items, key=key), key=key)]


def _place(unit: ComparisonUnit) -> tuple[Any, ...]:
    return tuple(unit[name] for name in (*_TYPE, "gender"))
