"""The stage `measure`: all numbers of texts with their intervals, and their differences, into the run.

The differences are those that a reader of a run expects, and that its report shows:

- each pair of models; of more than `MOST_PAIRED` models each against the rest
- a country's own language against the other languages, by model and by country
- each language against the rest
- each condition against neutral prompts

Each is there once for all texts and for each selection that leaves a text out, and for each target; those of one
selection and target are one family of tests (`in_families`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.store.data_identity import measure_file
from polyculture.cache.store.layout import Measure
from polyculture.cache.store.manifest import Manifest, require_run
from polyculture.cache.store.parquet import objects_to_table, read_rows, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import NUMBERS
from polyculture.cache.store.schema.measured import Difference, Number
from polyculture.cache.store.store import Store
from polyculture.cache.work.outcome import Outcome, Progress, silent
from polyculture.metrics import KEPT, MEASURE, METRICS_LAYOUT
from polyculture.metrics.cell_changes import NEUTRAL
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.comparison.compare import Terms, compare
from polyculture.metrics.comparison.sides import Sides, native_sides, one_against_rest
from polyculture.metrics.inference.family import in_families
from polyculture.metrics.layout import SATURATION
from polyculture.metrics.limits import disqualified
from polyculture.metrics.means import all_numbers
from polyculture.metrics.measured import renew
from polyculture.metrics.responses import ALL
from polyculture.metrics.saturation import saturation

MOST_PAIRED = 12  # models whose pairs are all compared: of 12 there are 66


def measure(run: RunFolder, progress: Progress = silent, catalog: Catalog | None = None) -> Outcome:
    """Writes every metric of every cell and the means over cells with their 95 % intervals, and counts them; then the
    differences that a reader expects.

    Nothing is done where `renew` sees no change. Memory holds the responses, the numbers, and the views that DuckDB
    keeps, which spill to disk. `catalog` says which languages are native where; the default is the one that Polyculture
    ships. Raises `StoreError` where there is no run or the folder cannot be written.
    """
    manifest = require_run(run)
    native = (catalog or read_catalog()).native_pairs(manifest.languages)

    def compute(store: Store, _: Measure, inputs: str) -> tuple[list[Number], list[Difference]]:
        numbers: list[Number] = []
        compared = ComparedRun(store, manifest.deterministic)
        cells = {model: compared.metrics(model, ALL) for model in compared.reader.models}
        for number in all_numbers(compared.reader, cells, manifest.deterministic, inputs):
            numbers.append(number)
            if len(numbers) % 1000 == 0:
                progress(Outcome(len(numbers), 0))
        points = [point for of_model in cells.values() for point in saturation(of_model, inputs)]
        curves.parent.mkdir(exist_ok=True)
        write_parquet(objects_to_table(SATURATION, points), curves)
        return numbers, standard_differences(compared, manifest, native, inputs)

    curves = measure_file(run, SATURATION, MEASURE.name)
    renewed = renew(run, METRICS_LAYOUT, [MEASURE], compute, {"native": native}, keep=KEPT, beside=[curves])
    estimates = read_rows(measure_file(run, NUMBERS, MEASURE.name), NUMBERS, ["estimate"])["estimate"]
    count = len(estimates) - estimates.null_count
    return Outcome(count, 0, 0 if renewed else count)


def standard_differences(
    run: ComparedRun,
    manifest: Manifest,
    native: Sequence[tuple[str, str]],
    inputs: str,
) -> list[Difference]:
    """All rows of a run; `native` are its languages with the countries in which they are native.

    Memory holds the responses of all models, of one selection at a time.
    """
    several = list(_sides(run, native))
    rows: list[Difference] = []
    for selection in run.selections:
        terms = Terms(selections=(selection,), fixed=disqualified(manifest))
        compared = (row.difference for row in compare([run], several, terms, inputs))
        # Of which anything was asked on both sides: a gain, for one, is of no neutral prompt.
        rows += [row for row in compared if row.cells or row.missing_a or row.missing_b]
        run.forget(selection)
    return in_families(rows, lambda row: (row.selection, row.target))


def _sides(run: ComparedRun, native: Sequence[tuple[str, str]]) -> Iterator[Sides]:
    cells = run.reader.cells
    models, languages = run.reader.models, sorted({cell.language for cell in cells})
    if len(models) <= MOST_PAIRED:
        yield from (Sides("model", a, b) for a, b in combinations(models, 2))
    else:
        yield from _against_rest("model", models)
    for column in ("model", "country") if native else ():
        yield replace(native_sides(native), by=(column,))
    yield from _against_rest("language", languages)
    conditions = sorted({cell.condition for cell in cells})
    if NEUTRAL in conditions:
        yield from (Sides("condition", condition, NEUTRAL) for condition in conditions if condition != NEUTRAL)


def _against_rest(dimension: str, values: Sequence[str]) -> list[Sides]:
    if len(values) < 2:
        return []
    return [one_against_rest(dimension, one, values) for one in values]
