"""What SQL cannot compute: read from a run's store, and kept in it as numbers, or as a table of its own.

    renew(run, compose(CORE, CBS), [MEASURE], compute)
    renew_table(run, compose(CORE, PROBE), PROBE_SIMILARITIES, rows)

Either is computed again only where something has changed that may change what it finds.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from polyculture.cache.identity import code_id, content_id, file_sha256
from polyculture.cache.store.data_identity import data_of, inputs_of, measure_file
from polyculture.cache.store.layout import Layout, Measure, Table
from polyculture.cache.store.manifest import TEXTS, Manifest, require_run
from polyculture.cache.store.parquet import objects_to_table, read_metadata, read_rows, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import DIFFERENCES, NUMBERS
from polyculture.cache.store.schema.measured import Difference, Number
from polyculture.cache.store.store import Store, open_store

Row = TypeVar("Row")
# What a measure finds in a store, given the hash of its data: its numbers, and its differences. None: it has none.
Compute = Callable[[Store, Measure, str], tuple[Iterable[Number], Iterable[Difference] | None]]
_MEASURING = ("cache", "metrics", "instruments")  # the packages whose code decides numbers
_LIBRARIES = ("duckdb", "numpy", "scipy", "scikit-learn")  # of an extra where it is installed
_MADE_BY = "made_by"
# Of the manifest: versions, whose code has a hash of its own; what no number rests on; and what instruments ask, of
# which each measure names its part in its settings.
_OF_OTHERS = {
    *("polyculture", "packages", "prices", "model_facts", "notes"),
    *("asked", "setups", "former_setups"),
}

_ORDER = attrgetter(
    *("metric", "level", "model", "dataset", "language", "topic", "condition", "country", "wording", "method", "reader")
)

_DIFFERENCES = attrgetter(
    *("dimension", "metric", "target", "selection", "a", "b", "model", "dataset", "language", "topic", "condition"),
    *("country", "wording", "method", "reader"),
)


def renew(
    run: RunFolder,
    layout: Layout,
    measures: Sequence[Measure],
    compute: Compute,
    options: Mapping[str, Any] | None = None,
    *,
    keep: Sequence[str] = (),
    beside: Sequence[Path] = (),
) -> list[Measure]:
    """Writes the numbers and differences of the measures that something has changed for, and returns these.

    That is: what the run asks, the data of any table of the layout, the `options` of `compute`, the code that measures,
    the versions of the libraries that it computes with; or a file that is missing, of numbers, differences, or those
    `beside` them, which `compute` writes. `keep` as in `open_store`. Raises `StoreError` where there is no run or the
    folder cannot be written.
    """
    manifest = require_run(run)
    # Of all tables, not of the measure's alone: a view may read one that says nothing of which rows count. Not of those
    # of which measures say what they read: `inputs` are of these.
    named = [table for one in layout.measures for table in one.tables]
    common = _rests_on(run, manifest, layout, options, named), _code(compute)
    inputs = {one: inputs_of(run, manifest, one) for one in measures}
    made_by = {one: content_id(common, inputs[one]) for one in measures}
    there = all(path.exists() for path in (*beside, *(measure_file(run, DIFFERENCES, one.name) for one in measures)))
    stale = [
        one
        for one in measures
        if not there or read_metadata(measure_file(run, NUMBERS, one.name)).get(_MADE_BY) != made_by[one]
    ]
    if not stale:
        return []
    with open_store(run, layout, keep) as store:
        for one in stale:
            numbers, differences = compute(store, one, inputs[one])
            found = list(numbers)
            if differences is not None:
                write_differences(run, one.name, differences)
            # Last: this file says that all is written.
            write_numbers(run, one.name, found, {_MADE_BY: made_by[one]})
    return stale


def renew_table(
    run: RunFolder,
    layout: Layout,
    table: Table[Row],
    rows: Callable[[Store], Iterable[Row]],
    options: Mapping[str, Any] | None = None,
) -> None:
    """Writes the rows of a table that `rows` makes of the store, where something has changed as in `renew`, or in what
    instruments ask. Raises as `renew`.
    """
    manifest = require_run(run)
    asked = {name: sorted((*one.key, one.id) for one in some) for name, some in manifest.asked.items()}, manifest.setups
    made_by = content_id(_rests_on(run, manifest, layout, options, [table]), asked, _code(rows))
    if read_metadata(run.table(table.name)).get(_MADE_BY) == made_by:
        return
    with open_store(run, layout) as store:
        found = list(rows(store))
    write_parquet(objects_to_table(table, found), run.table(table.name), {_MADE_BY: made_by})


def write_numbers(
    run: RunFolder, measure: str, numbers: Iterable[Number], metadata: Mapping[str, str] | None = None
) -> None:
    """Replaces the numbers of a measure; `metadata` goes into the file's footer.

    Raises `StoreError` where the folder cannot be written.
    """
    rows = sorted(numbers, key=lambda row: (_ORDER(row), sorted(row.facets.items())))
    _write(run, NUMBERS, measure, rows, metadata)


def write_differences(run: RunFolder, measure: str, differences: Iterable[Difference]) -> None:
    """Replaces the differences of a measure, whose rows are of all selections. Raises as `write_numbers`."""
    rows = sorted(differences, key=lambda row: (_DIFFERENCES(row), sorted(row.facets.items())))
    _write(run, DIFFERENCES, measure, rows, None)


def _write(
    run: RunFolder, table: Table[Any], measure: str, rows: Sequence[object], metadata: Mapping[str, str] | None
) -> None:
    path = measure_file(run, table, measure)
    path.parent.mkdir(exist_ok=True)
    write_parquet(objects_to_table(table, rows), path, metadata)


def read_numbers(run: RunFolder, measure: str) -> list[Number]:
    """The numbers that a measure wrote last."""
    rows = read_rows(measure_file(run, NUMBERS, measure), NUMBERS).to_pylist()
    return [Number(**{**row, "facets": dict(row["facets"]), "sizes": dict(row["sizes"])}) for row in rows]


def _rests_on(
    run: RunFolder, manifest: Manifest, layout: Layout, options: Mapping[str, Any] | None, but: Sequence[Table[Any]]
) -> object:
    """What the run asks, the data of the layout's tables but for some, and options."""
    tables = [one for one in layout.tables if not one.by_measure and one not in but]
    texts = sorted((*one.key, one.id) for one in manifest.asked.get(TEXTS, []))
    return manifest.model_dump(mode="json", exclude=_OF_OTHERS), texts, data_of(run, tables), options


def _code(compute: Callable[..., object]) -> str:
    """The hash of what computes: our packages, the module of `compute`, and libraries."""
    file = Path(inspect.getfile(getattr(compute, "func", compute)))
    return content_id(code_id(_MEASURING, _LIBRARIES), file_sha256(file))
