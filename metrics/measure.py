"""The stage `measure`: all numbers with their intervals, saturation curves and variance components, into the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import duckdb

from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.layout import MAIN, Measure, file_of
from polyculture.cache.manifest import require_run
from polyculture.cache.numbers import measure_file
from polyculture.cache.outcome import Outcome, Progress, silent
from polyculture.cache.parquet import objects_to_table, read_rows, write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import NUMBERS, SATURATION_INTERVALS, VARIANCE_COMPONENTS, SaturationInterval
from polyculture.cache.schema.measured import Difference, Number
from polyculture.metrics import KEPT, MEASURE, METRICS
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.components.rows import component_rows
from polyculture.metrics.means import DETERMINISTIC, FEW_DISTINCT, CellSizes, Value, model_numbers
from polyculture.metrics.measured import renew
from polyculture.metrics.responses import ALL
from polyculture.metrics.saturation import saturation_rows
from polyculture.metrics.shared_cells import shared_cells
from polyculture.metrics.standard import standard_differences


def measure(
    run: RunFolder, progress: Progress = silent, selection: str = MAIN, catalog: Catalog | None = None
) -> Outcome:
    """Writes every metric of every cell and the means over cells with their 95 % intervals, and counts them; then the
    saturation curves, the variance components, and the differences that a reader expects (`standard`).

    Nothing is done where `renew` sees no change. Memory holds the
    responses, the numbers, and the views that DuckDB keeps, which spill to disk. A `selection` has numbers of its own,
    and no differences: these have theirs. `catalog` says which languages are native where; the default is the one that
    Polyculture ships. Raises `StoreError` where there is no run or the folder cannot be written.
    """
    manifest = require_run(run)
    native = (catalog or read_catalog()).native_pairs(manifest.languages)
    curves_file = run.table(file_of(SATURATION_INTERVALS.name, selection))
    components_file = run.table(file_of(VARIANCE_COMPONENTS.name, selection))

    def compute(
        store: duckdb.DuckDBPyConnection, _: Measure, inputs: str
    ) -> tuple[list[Number], Iterable[Difference] | None]:
        numbers: list[Number] = []
        curves: list[SaturationInterval] = []
        compared = ComparedRun(store, manifest.deterministic)
        for row in _rows(compared, store, inputs):
            if isinstance(row, SaturationInterval):
                curves.append(row)
                continue
            numbers.append(row)
            if len(numbers) % 1000 == 0:
                progress(Outcome(len(numbers), 0))
        write_parquet(objects_to_table(SATURATION_INTERVALS, curves), curves_file)
        write_parquet(objects_to_table(VARIANCE_COMPONENTS, list(component_rows(store, inputs))), components_file)
        if selection != MAIN:
            return numbers, None
        return numbers, standard_differences(compared, manifest, native, inputs)

    beside = (curves_file, components_file)
    options = {"native": native}
    renewed = renew(run, METRICS, [MEASURE], compute, options, keep=KEPT, selection=selection, beside=beside)
    estimates = read_rows(measure_file(run, NUMBERS, MEASURE.name, selection), NUMBERS, ["estimate"])["estimate"]
    count = len(estimates) - estimates.null_count
    return Outcome(count, 0, 0 if renewed else count)


def _rows(
    compared: ComparedRun, store: duckdb.DuckDBPyConnection, inputs: str
) -> Iterator[Number | SaturationInterval]:
    reader = compared.reader
    repeating = DETERMINISTIC if compared.deterministic else FEW_DISTINCT
    responses = [cell.responses for cell in reader.cells if cell.diversity is not None]
    rarefied = {cell.place: min(responses, default=0) for cell in reader.cells}
    shared = shared_cells(store, len(reader.models))
    for model in reader.models:
        cells = compared.metrics(model, ALL)
        yield from saturation_rows(cells, inputs)
        values = [Value(*row) for row in reader.values(model)]
        rests_on = {v.place: (v.responses, v.incidences) for v in values if v.metric == "diversity"}
        texts = {cell.place: (cell.texts, cell.distinct_texts) for cell in reader.cells if cell.model == model}
        sizes = CellSizes(rests_on, texts, repeating, reader.uncovered)
        yield from model_numbers(values, sizes, cells, rarefied, shared, inputs)
