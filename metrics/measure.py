"""The stage `measure`: all numbers with their intervals, saturation curves and variance components, into the run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import duckdb

from polyculture.cache.identity import content_id, file_sha256
from polyculture.cache.layout import MAIN, file_of, selection_files
from polyculture.cache.manifest import read_manifest
from polyculture.cache.numbers import inputs_of, measure_file, write_numbers
from polyculture.cache.outcome import Outcome, Progress, silent
from polyculture.cache.parquet import objects_to_table, read_metadata, write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import NUMBERS, SATURATION_INTERVALS, VARIANCE_COMPONENTS, SaturationInterval
from polyculture.cache.schema.measured import Number
from polyculture.cache.store import open_store
from polyculture.metrics import KEPT, MEASURE, METRICS
from polyculture.metrics.assemblages import add_companions, add_consensus, add_diversity, saturation_rows
from polyculture.metrics.cells import CellReader, add_granularity, add_shares, add_specificity
from polyculture.metrics.components.rows import component_rows
from polyculture.metrics.intervals.estimate import Uncertainty
from polyculture.metrics.means import DETERMINISTIC, FEW_DISTINCT, CellSizes, Value, model_numbers


def measure(run: RunFolder, progress: Progress = silent, selection: str = MAIN) -> Outcome:
    """Writes every metric of every cell and the means over cells with their 95 % intervals, and counts them; then the
    saturation curves and the variance components.

    Nothing is done where the store, the experiment and the method are those of the last time. Memory holds one
    model's responses, the numbers, and the views that DuckDB keeps, which spill to disk. A `selection` has numbers of
    its own. Raises `StoreError` where there is no run or the folder cannot be written.
    """
    manifest = read_manifest(run.manifest)
    inputs = inputs_of(run, manifest, MEASURE) if manifest else ""  # without a run, `open_store` raises
    made_by = {"inputs": inputs, "method": method_id(selection)}
    path = measure_file(run, NUMBERS, MEASURE.name, selection)
    before = read_metadata(path)
    if made_by.items() <= before.items():
        count = int(before["estimates"])
        return Outcome(done=count, failed=0, reused=count)
    numbers: list[Number] = []
    curves: list[SaturationInterval] = []
    with open_store(run, METRICS, KEPT, selection) as store:
        for row in _rows(store, inputs, DETERMINISTIC if manifest and manifest.deterministic else FEW_DISTINCT):
            if isinstance(row, SaturationInterval):
                curves.append(row)
                continue
            numbers.append(row)
            if len(numbers) % 1000 == 0:
                progress(Outcome(len(numbers), 0))
        components = list(component_rows(store))
    curves_file = run.table(file_of(SATURATION_INTERVALS.name, selection))
    write_parquet(objects_to_table(SATURATION_INTERVALS, curves), curves_file)
    components_file = run.table(file_of(VARIANCE_COMPONENTS.name, selection))
    write_parquet(objects_to_table(VARIANCE_COMPONENTS, components), components_file)
    count = sum(number.estimate is not None for number in numbers)
    write_numbers(run, MEASURE.name, numbers, selection, {**made_by, "estimates": str(count)})
    return Outcome(count, 0)


def method_id(selection: str = MAIN) -> str:
    """The hash of the files that decide how numbers are computed: those of this package, and of the selection."""
    package = Path(__file__).parent
    files = [file for file in sorted(package.rglob("*")) if file.suffix in (".py", ".sql")]
    return content_id(
        [file_sha256(file) for file in [*files, *(selection_files(selection) if selection != MAIN else [])]]
    )


def _rows(store: duckdb.DuckDBPyConnection, inputs: str, repeating: str) -> Iterator[Number | SaturationInterval]:
    reading = CellReader(store)
    sizes = [cell.responses for cells in reading.cells_of.values() for cell in cells if cell.diversity is not None]
    shared_names = frozenset(store.sql("SELECT language, condition, country FROM shared_names").fetchall())
    for model, cells in reading.cells_of.items():
        reading.load(model)
        uncertainty = Uncertainty()
        add_granularity(reading, model, uncertainty)
        add_specificity(reading, model, uncertainty)
        add_shares(reading, model, uncertainty)
        for topic, group in groupby(cells, key=lambda cell: cell.topic):
            of_topic = list(group)
            assemblages = reading.assemblages(topic, of_topic)
            add_diversity(of_topic, assemblages, uncertainty)
            add_companions(of_topic, assemblages, min(sizes, default=0), None, uncertainty)
            yield from saturation_rows(of_topic, assemblages)
            add_consensus(of_topic, assemblages, uncertainty)
        values = [Value(*row) for row in reading.values(model)]
        rests_on = {v.place: (v.responses, v.incidences) for v in values if v.metric == "diversity"}
        texts = {cell.place: (cell.texts, cell.distinct_texts) for cell in cells}
        found = CellSizes(rests_on, texts, repeating, reading.uncovered)
        yield from model_numbers(values, found, uncertainty, shared_names, inputs)
