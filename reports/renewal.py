"""Tells whether a run's report is still that of what it shows: then it need not be written again.

The rule is that of numbers (`metrics.measured`). A report, unlike a number, takes in all of a run: its files count by
their contents, the catalogue by what it says, and our code with its templates by every file. Loads neither DuckDB
nor pandas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from polyculture.cache.catalog import Catalog
from polyculture.cache.files import replacing
from polyculture.cache.identity import code_id, content_id, file_sha256
from polyculture.cache.store.data_identity import measure_files
from polyculture.cache.store.layout import Layout
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.shards import committed_parts

_LIBRARIES = ("babel", "duckdb", "jinja2", "matplotlib", "numpy", "pandas", "scipy", "seaborn")


def shown_id(run: RunFolder, catalog: Catalog, layout: Layout) -> str:
    """The hash of all that decides what the report of a run says.

    Taken before the report is read from the run: what changes meanwhile makes another hash, and the next run writes
    the report again.
    """
    files = {str(path.relative_to(run.root)): file_sha256(path) for path in _shown_files(run, layout)}
    tables = [table.name for table in layout.tables]  # whether instruments have sections at all
    return content_id(files, tables, catalog.model_dump(mode="json", exclude={"packs"}), code_id(libraries=_LIBRARIES))


def is_written(run: RunFolder, shown: str) -> bool:
    """Whether the report, its parts and `store.duckdb` are there as they were written for what the run shows now."""
    try:
        written = {path.name: file_sha256(path) for path in (run.report, *run.report_data.glob("*.js"))}
        return run.report_made.read_text(encoding="ascii") == _made_id(run, shown, written)
    except OSError:  # one of them is missing
        return False


def keep_made(run: RunFolder, shown: str, written: Mapping[str, str]) -> None:
    """Notes what a report was made of; `written` are the hashes of its files by name. The last step of writing it."""
    with replacing(run.report_made) as temporary:
        temporary.write_text(_made_id(run, shown, written), encoding="ascii")


def _made_id(run: RunFolder, shown: str, written: Mapping[str, str]) -> str:
    # `store.duckdb` is tied to its place, and written with the report: that of a copied run is written again.
    return content_id(shown, written, str(run.root.resolve()), file_sha256(run.store))


def _shown_files(run: RunFolder, layout: Layout) -> Iterator[Path]:
    yield run.manifest
    for table in layout.tables:
        if table.sharded:
            yield from committed_parts(run, table)
        elif table.by_measure:
            yield from measure_files(run, table)
        elif run.table(table.name).exists():
            yield run.table(table.name)
