"""A Parquet file that cannot be read, or is gone: what is wrong with it, and a remedy by where its rows came from.

DuckDB names a file whose end is damaged, and hardly one with a damaged page. It does not look at the pages' checksums
either: of 40 files with up to 64 changed bytes it read 5 without an error, and wrongly; Arrow, which looks, found all.
So the file itself is opened here, whatever DuckDB says of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from polyculture.cache.errors import StoreError
from polyculture.cache.store.inventory import (
    COPY,
    LostPart,
    lost_parts,
    read_records,
    record_file,
    recorded_parts,
    remedy_of_part,
)
from polyculture.cache.store.layout import Layout, Table
from polyculture.cache.store.parquet import SUFFIX, opened_parquet
from polyculture.cache.store.run_folder import RunFolder, read_job
from polyculture.cache.store.schema import (
    CORE,
    IMPORT_FAILURES,
    IMPORTED_FILES,
    IMPORTED_PROMPTS,
    JUDGEMENTS,
    PROMPT_REVIEWS,
    PROMPTS,
    PUBLISHED_ITEMS,
)
from polyculture.cache.store.store import opened_runs

_NAMED = re.compile(r"(/[^'\"\n]+\.parquet)")
# Mistakes in a query's words: no file is to blame, and none is read through for it.
_OF_THE_QUERY = (
    duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException, duckdb.PermissionException,
    duckdb.SyntaxException,
)  # fmt: skip
_OF_PEOPLE = frozenset({JUDGEMENTS.name, PROMPT_REVIEWS.name})
_OF_IMPORTS = frozenset({IMPORTED_FILES.name, IMPORTED_PROMPTS.name, PUBLISHED_ITEMS.name, IMPORT_FAILURES.name})


def damaged_file(fault: Exception, layout: Layout = CORE, runs: Iterable[Path] | None = None) -> StoreError | None:
    """DuckDB's or Arrow's error about a Parquet file as a `StoreError`; None for any other error, and for an error
    about a file that is whole.

    Where the error names no file, those of `runs` are read until one is damaged; by default of all runs that this
    process has opened.
    """
    if not isinstance(fault, (duckdb.Error, pa.ArrowException)):
        return None
    named = _NAMED.search(str(fault))
    if isinstance(fault, _OF_THE_QUERY):
        return None
    path = Path(named[1]) if named else _first_damaged(opened_runs() if runs is None else runs)
    if path is None or (what := damage(path)) is None:
        return None
    return StoreError(what, where=path, remedy=_remedy(path, layout))


def damage(path: Path) -> str | None:
    """What is wrong with a Parquet file, by reading all of it; None where it is whole."""
    if path.is_symlink() and not path.exists():
        return f"is a link to {path.readlink()}, which is not there"
    run = _run_of(path)
    if run is not None and not path.resolve().is_relative_to(run.root.resolve()):
        return f"is a link to {path.resolve()}, out of the run's folder, which no query may leave"
    try:
        with opened_parquet(path) as file:
            for _ in file.iter_batches():
                pass
    except FileNotFoundError:
        return "is gone"
    except OSError as fault:
        return f"cannot be read: {fault.strerror or fault}"
    except pa.ArrowException:
        return "is not valid Parquet: another program truncated or overwrote it"
    return None


def unreadable_parts(run: RunFolder, table: Table[Any]) -> Iterator[LostPart]:
    """The recorded parts of a table whose rows cannot be read: gone, changed, or damaged. Reads every part whole."""
    lost = {one.path: one for one in lost_parts(run, table)}
    for path, rows, source in recorded_parts(run, table):
        if path in lost:
            yield lost[path]
        elif (what := damage(path)) is not None:
            yield LostPart(path, table.name, rows, source, damage=what)


def _first_damaged(runs: Iterable[Path]) -> Path | None:
    """The first Parquet file of these folders that is damaged."""
    return next((path for run in runs for path in sorted(run.rglob(f"*{SUFFIX}")) if damage(path)), None)


def _run_of(path: Path) -> RunFolder | None:
    """The run that a file stands in; None for a file of the user's own."""
    return next((RunFolder(above) for above in path.absolute().parents if (above / "manifest.json").is_file()), None)


def _remedy(path: Path, layout: Layout) -> str:
    """What brings the rows of a file back. Nothing that cannot be computed again is to be deleted."""
    run = _run_of(path)
    if run is None:
        return "Name another file, or get this one again from where it came from."
    if not path.resolve().is_relative_to(run.root.resolve()):
        return "Move the file itself to this place."
    name = path.absolute().relative_to(run.root.absolute()).parts[0].removesuffix(SUFFIX)
    table = {table.name: table for table in layout.tables}.get(name)
    if table is not None and table.sharded:
        return remedy_of_part(table, _source(run, table, path), is_there=path.exists())
    if name in _OF_PEOPLE:
        return f"{COPY}: what people said cannot be made again."
    imported = run.table(IMPORTED_FILES.name).exists()
    if name in _OF_IMPORTS or (imported and name == PROMPTS.name):
        return f"{COPY}. Without one, move the run's folder away, and import its files again."
    return "Delete it, and run again: its rows are computed again." if path.exists() else "Check that you may read it."


def _source(run: RunFolder, table: Table[Any], path: Path) -> str | None:
    """The imported file that the rows of a part came from."""
    job = read_job(path.parent)
    if job is None:
        return None
    commit = Table(table.commit, table.row) if table.commit else table
    record = read_records(record_file(run, commit, job)).get(path.name)
    return record.source if record else None
