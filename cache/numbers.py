"""Writes the numbers of a measure: one file for each, replaced as a whole by its measure and by nobody else.

    write_numbers(run, "entities", rows)

`inputs_of` is the hash of the data that numbers rest on. Each row keeps it, and the view `numbers` shows the rows whose
hash is that of the run's present data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from pathlib import Path

from polyculture.cache.identity import content_id, file_sha256
from polyculture.cache.layout import MAIN, Measure, file_of
from polyculture.cache.manifest import Manifest
from polyculture.cache.parquet import SUFFIX, objects_to_table, write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import NUMBERS
from polyculture.cache.schema.measured import Number
from polyculture.cache.shards import committed_parts

_ORDER = attrgetter(
    *("metric", "level", "model", "dataset", "language", "topic", "condition", "country", "wording", "method", "reader")
)


def inputs_of(run: RunFolder, manifest: Manifest, measure: Measure) -> str:
    """The hash of the data that a measure's numbers rest on: what the run asks, and the files of its tables.

    Parts of sharded tables are known by name and size: none is ever written to in place. The time of writing is not
    used, so that the numbers of a copied run are still those of its data.
    """
    whole = {
        table.name: file_sha256(run.table(table.name))
        for table in measure.tables
        if not table.sharded and run.table(table.name).exists()
    }
    parts = [
        (str(part.relative_to(run.root)), part.stat().st_size)
        for table in measure.tables
        if table.sharded
        for part in committed_parts(run, table)
    ]
    return content_id(measure.settings(run, manifest), whole, parts)


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
    path = numbers_file(run, measure, selection)
    path.parent.mkdir(exist_ok=True)
    write_parquet(objects_to_table(NUMBERS, rows), path, metadata)


def numbers_file(run: RunFolder, measure: str, selection: str = MAIN) -> Path:
    """The file of a measure's numbers."""
    return run.root / file_of(NUMBERS.name, selection) / f"{measure}{SUFFIX}"


def numbers_files(run: RunFolder, selection: str = MAIN) -> list[Path]:
    """The files of all measures."""
    return sorted(numbers_file(run, "x", selection).parent.glob(f"*{SUFFIX}"))
