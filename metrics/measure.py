"""The stage `measure`: the intervals of all numbers and the variance components, into files of the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from polyculture.cache.identity import content_id, file_sha256
from polyculture.cache.manifest import read_manifest
from polyculture.cache.outcome import Outcome, Progress, silent
from polyculture.cache.parquet import objects_to_table, read_metadata, write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import (
    EXTRACTIONS,
    INTERVALS,
    MENTIONS,
    RESPONSES,
    SATURATION_INTERVALS,
    VARIANCE_COMPONENTS,
    Interval,
    SaturationInterval,
)
from polyculture.cache.selections import MAIN, file_of, selection_files
from polyculture.cache.shards import committed_parts
from polyculture.cache.sql_files import read_sql
from polyculture.cache.store import open_store
from polyculture.metrics import CELLS, METRICS
from polyculture.metrics.cell_data import QUERIES, CellReader
from polyculture.metrics.components.rows import component_rows
from polyculture.metrics.intervals.levels import Aggregates
from polyculture.metrics.intervals.model import (
    companion_rows,
    consensus_rows,
    diversity_rows,
    granularity_rows,
    saturation_rows,
    specificity_rows,
)
from polyculture.metrics.intervals.wordings import wordings_interval

WHOLE_TABLES = ("prompts", "wanted_responses", "links", "entities", "entity_countries")


def measure(run: RunFolder, progress: Progress = silent, selection: str = MAIN) -> Outcome:
    """Writes the 95 % intervals of every metric of every cell and of the means over cells, and counts them; then the
    variance components.

    Nothing is done where the store, the experiment and the method are those of the last time. Memory is bounded by one
    model's responses, not by the run. A `selection` has intervals of its own. Raises `StoreError` where there is no run
    or the folder cannot be written.
    """
    path = run.table(file_of("intervals", selection))
    inputs = inputs_id(run, selection)
    if read_metadata(path).get("inputs") == inputs:
        rows = pq.read_metadata(path).num_rows
        return Outcome(done=rows, failed=0, reused=rows)
    found: list[Interval] = []
    curves: list[SaturationInterval] = []
    with open_store(run, METRICS, CELLS, selection) as store:
        for row in _intervals(store):
            if isinstance(row, SaturationInterval):
                curves.append(row)
                continue
            found.append(row)
            if len(found) % 1000 == 0:
                progress(Outcome(len(found), 0))
        found = _of_other_wordings(store, list(_with_base(store, found)))
        components = list(component_rows(store))
    curves_file = run.table(file_of(SATURATION_INTERVALS.name, selection))
    write_parquet(objects_to_table(SATURATION_INTERVALS, curves), curves_file)
    components_file = run.table(file_of(VARIANCE_COMPONENTS.name, selection))
    write_parquet(objects_to_table(VARIANCE_COMPONENTS, components), components_file)
    write_parquet(objects_to_table(INTERVALS, found), path, {"inputs": inputs})
    return Outcome(len(found), 0)


def inputs_id(run: RunFolder, selection: str = MAIN) -> str:
    """The hash of all that decides the intervals: what the run asks, its files, and the files of this package.

    The parts of sharded tables are known by name, size and time of writing: none is ever written to in place.
    """
    manifest = read_manifest(run.manifest)
    asked = manifest.model_dump(include={"models", "countries", "extractor_ids"}) if manifest else {}
    whole = {name: file_sha256(run.table(name)) for name in WHOLE_TABLES if run.table(name).exists()}
    parts = [
        (str(part.relative_to(run.root)), part.stat().st_size, part.stat().st_mtime_ns)
        for table in (EXTRACTIONS, MENTIONS) + ((RESPONSES,) if selection != MAIN else ())
        for part in committed_parts(run, table)
    ]
    package = Path(__file__).parent
    method = [file_sha256(file) for file in sorted(package.rglob("*")) if file.suffix in (".py", ".sql")]
    method += [file_sha256(file) for file in selection_files(selection)] if selection != MAIN else []
    return content_id(asked, whole, parts, method)


def _with_base(store: duckdb.DuckDBPyConnection, found: Sequence[Interval]) -> Iterator[Interval]:
    """The intervals with what their numbers rest on, as the views have it: so they are known to be of this data."""
    rested_on = {tuple(row[:-2]): row[-2:] for row in store.execute(read_sql(QUERIES, "rested_on")).fetchall()}
    for row in found:
        place = (row.model, row.language, row.other_language, row.topic, row.condition, row.country)
        responses, incidences = rested_on[row.metric, row.level, *place, row.wording]
        yield replace(row, responses=responses, incidences=incidences)


def _of_other_wordings(store: duckdb.DuckDBPyConnection, found: Sequence[Interval]) -> list[Interval]:
    """The intervals with those of other wordings, where there are as many as that needs."""
    [[enough]] = store.execute("SELECT count(DISTINCT wording) >= fewest_wordings() FROM cells").fetchall()
    if not enough:
        return list(found)
    means = {tuple(row[:-3]): row[-3:] for row in store.execute(read_sql(QUERIES, "wording_means")).fetchall()}
    return [_with_wordings(row, means) for row in found]


def _with_wordings(row: Interval, means: Mapping[tuple[object, ...], tuple[list[float], float, bool]]) -> Interval:
    place = (row.model, row.language, row.other_language, row.topic, row.condition, row.country)
    if row.level == "cell":
        return row
    found = wordings_interval(row.metric, row.estimate, *means.get((row.metric, row.level, *place), ([], 1.0, False)))
    return replace(row, wordings_low=found.low, wordings_high=found.high, no_wordings_interval=found.withheld)


def _intervals(store: duckdb.DuckDBPyConnection) -> Iterator[Interval | SaturationInterval]:
    reading = CellReader(store)
    sizes = [cell.responses for cells in reading.cells_of.values() for cell in cells if cell.diversity is not None]
    [common_coverage] = store.sql("SELECT any_value(common_coverage) FROM diversity_companions").fetchall()[0]
    means = Aggregates()
    for model, cells in reading.cells_of.items():
        reading.load(model)
        yield from granularity_rows(reading, model, means)
        yield from specificity_rows(reading, model, means)
        for topic, group in groupby(cells, key=lambda cell: cell.topic):
            of_topic = list(group)
            found = reading.assemblages(topic, of_topic)
            yield from diversity_rows(of_topic, found, means)
            yield from companion_rows(of_topic, found, min(sizes, default=0), common_coverage, means)
            yield from saturation_rows(of_topic, found)
            yield from consensus_rows(of_topic, found, means)
    yield from means.rows()
