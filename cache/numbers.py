"""Writes the numbers and differences of a measure: a file each, replaced as a whole by its measure and by nobody else.

    write_numbers(run, "entities", rows)

`inputs_of` is the hash of the data that numbers rest on. Each row keeps it, and the view `numbers` shows the rows whose
hash is that of the run's present data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

from polyculture.cache.identity import content_id, file_sha256
from polyculture.cache.layout import MAIN, Measure, Table, file_of
from polyculture.cache.manifest import Manifest
from polyculture.cache.parquet import SUFFIX, objects_to_table, write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import DIFFERENCES, NUMBERS
from polyculture.cache.schema.measured import Difference, Number
from polyculture.cache.shards import committed_parts

_ORDER = attrgetter(
    *("metric", "level", "model", "dataset", "language", "topic", "condition", "country", "wording", "method", "reader")
)

_DIFFERENCES = attrgetter(
    *("dimension", "metric", "target", "selection", "a", "b", "model", "dataset", "language", "topic", "condition"),
    *("country", "wording", "method", "reader"),
)


def inputs_of(run: RunFolder, manifest: Manifest, measure: Measure) -> str:
    """The hash of the data that a measure's numbers rest on: what the run asks, and the files of its tables.

    Parts of sharded tables are known by name and size: none is ever written to in place. The time of writing is not
    used, so that the numbers of a copied run are still those of its data.
    """
    return content_id(measure.settings(run, manifest), *data_of(run, measure.tables, measure.topics))


def data_of(
    run: RunFolder, tables: Sequence[Table[Any]], topics: str = ""
) -> tuple[dict[str, str], list[tuple[str, int]]]:
    """What tells whether tables have changed: the hashes of whole files, the names and sizes of parts.

    `topics` as in `Measure`.
    """
    whole = {
        table.name: file_sha256(run.table(table.name))
        for table in tables
        if not table.sharded and run.table(table.name).exists()
    }
    parts = [
        (str(part.relative_to(run.root)), part.stat().st_size)
        for table in tables
        if table.sharded
        for part in committed_parts(run, table)
        if part.parent.name.startswith(f"topic={topics}")
    ]
    return whole, parts


def write_numbers(
    run: RunFolder,
    measure: str,
    numbers: Iterable[Number],
    selection: str = MAIN,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Replaces the numbers of a measure; `metadata` goes into the file's footer.

    Raises `StoreError` where the folder cannot be written.
    """
    rows = sorted(numbers, key=lambda row: (_ORDER(row), sorted(row.facets.items())))
    _write(run, NUMBERS, measure, rows, selection, metadata)


def write_differences(run: RunFolder, measure: str, differences: Iterable[Difference]) -> None:
    """Replaces the differences of a measure, whose rows are of all selections. Raises as `write_numbers`."""
    rows = sorted(differences, key=lambda row: (_DIFFERENCES(row), sorted(row.facets.items())))
    _write(run, DIFFERENCES, measure, rows, MAIN, None)


def _write(
    run: RunFolder,
    table: Table[Any],
    measure: str,
    rows: Sequence[object],
    selection: str,
    metadata: Mapping[str, str] | None,
) -> None:
    path = measure_file(run, table, measure, selection)
    path.parent.mkdir(exist_ok=True)
    write_parquet(objects_to_table(table, rows), path, metadata)


def measure_file(run: RunFolder, table: Table[Any], measure: str, selection: str = MAIN) -> Path:
    """The file of what a measure computed: its numbers, or its differences."""
    return run.root / file_of(table.name, selection) / f"{measure}{SUFFIX}"


def measure_files(run: RunFolder, table: Table[Any], selection: str = MAIN) -> list[Path]:
    """The files of all measures."""
    return sorted(measure_file(run, table, "x", selection).parent.glob(f"*{SUFFIX}"))
