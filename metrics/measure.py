"""The stage `measure`: all numbers of texts with their intervals, and their differences, into the run."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb

from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.layout import Measure
from polyculture.cache.manifest import require_run
from polyculture.cache.outcome import Outcome, Progress, silent
from polyculture.cache.parquet import read_rows
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import NUMBERS
from polyculture.cache.schema.measured import Difference, Number
from polyculture.cache.store import measure_file
from polyculture.metrics import KEPT, MEASURE, METRICS
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.means import DETERMINISTIC, FEW_DISTINCT, CellSizes, Value, model_numbers
from polyculture.metrics.measured import renew
from polyculture.metrics.responses import ALL
from polyculture.metrics.shared_cells import shared_cells
from polyculture.metrics.standard import standard_differences


def measure(run: RunFolder, progress: Progress = silent, catalog: Catalog | None = None) -> Outcome:
    """Writes every metric of every cell and the means over cells with their 95 % intervals, and counts them; then the
    differences that a reader expects (`standard`).

    Nothing is done where `renew` sees no change. Memory holds the responses, the numbers, and the views that DuckDB
    keeps, which spill to disk. `catalog` says which languages are native where; the default is the one that Polyculture
    ships. Raises `StoreError` where there is no run or the folder cannot be written.
    """
    manifest = require_run(run)
    native = (catalog or read_catalog()).native_pairs(manifest.languages)

    def compute(store: duckdb.DuckDBPyConnection, _: Measure, inputs: str) -> tuple[list[Number], list[Difference]]:
        numbers: list[Number] = []
        compared = ComparedRun(store, manifest.deterministic)
        for number in _numbers(compared, store, inputs):
            numbers.append(number)
            if len(numbers) % 1000 == 0:
                progress(Outcome(len(numbers), 0))
        return numbers, standard_differences(compared, manifest, native, inputs)

    renewed = renew(run, METRICS, [MEASURE], compute, {"native": native}, keep=KEPT)
    estimates = read_rows(measure_file(run, NUMBERS, MEASURE.name), NUMBERS, ["estimate"])["estimate"]
    count = len(estimates) - estimates.null_count
    return Outcome(count, 0, 0 if renewed else count)


def _numbers(compared: ComparedRun, store: duckdb.DuckDBPyConnection, inputs: str) -> Iterator[Number]:
    reader = compared.reader
    repeating = DETERMINISTIC if compared.deterministic else FEW_DISTINCT
    responses = [cell.responses for cell in reader.cells if cell.diversity is not None]
    rarefied = {cell.place: min(responses, default=0) for cell in reader.cells}
    shared = shared_cells(store, len(reader.models))
    for model in reader.models:
        cells = compared.metrics(model, ALL)
        values = [Value(*row) for row in reader.values(model)]
        rests_on = {v.place: (v.responses, v.incidences) for v in values if v.metric == "diversity"}
        texts = {cell.place: (cell.texts, cell.distinct_texts) for cell in reader.cells if cell.model == model}
        sizes = CellSizes(rests_on, texts, repeating, reader.uncovered)
        yield from model_numbers(values, sizes, cells, rarefied, shared, inputs)
