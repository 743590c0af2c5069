"""What a run holds: a record of each part that was written, so that one which somebody removed is named.

The records stand in a folder of their own, `inventory/<table>/model=<m>/language=<l>/topic=<t>/parts.json`: whoever
removes a part, or the whole folder of a job, leaves them there. Only the process that holds a job's lock writes its
record, after the parts. So a kill leaves a part without a record, which the next process adds, and never a record
without a part.

A table in one file is recorded where nobody can compute it again: what people said, and what an import brought.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from polyculture.cache.errors import StoreError
from polyculture.cache.files import replacing
from polyculture.cache.store.layout import Table
from polyculture.cache.store.run_folder import Job, RunFolder, sealed_import

FOLDER = "inventory"
PARTS = "parts.json"
COPY = "Restore it from a copy"


@dataclass(frozen=True, slots=True)
class PartRecord:
    """A part as it was written: by table, its rows and its bytes. `source` is the imported file that it came from."""

    rows: Mapping[str, int]
    sizes: Mapping[str, int]  # empty while the part is being replaced
    source: str | None = None


def record_file(run: RunFolder, commit: Table[Any], job: Job) -> Path:
    """Where the records of a job's parts stand; `commit` is the table that commits them."""
    return run.root / FOLDER / run.shards(commit.name, job).relative_to(run.root) / PARTS


def read_records(file: Path) -> dict[str, PartRecord]:
    """The records of a job by the name of the part; empty where there is no file, or one that is no record."""
    try:
        found = orjson.loads(file.read_bytes())
        return {str(name): PartRecord(**record) for name, record in found.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError):  # another program changed it: what is there is recorded anew
        return {}


def write_records(file: Path, records: Mapping[str, PartRecord]) -> None:
    """Writes the records of a job, whole or not at all."""
    with replacing(file) as temporary:
        temporary.write_bytes(orjson.dumps({name: asdict(records[name]) for name in sorted(records)}))


@dataclass(frozen=True, slots=True)
class LostPart:
    """A part that was written and is not there, has other rows now, or cannot be read; `rows` is how many it had."""

    path: Path
    table: str
    rows: int
    source: str | None
    is_changed: bool = False
    damage: str | None = None  # what is wrong with a file that is there and cannot be read

    @property
    def place(self) -> Path:
        """The folder of its job within that of any table."""
        return Path(*self.path.parts[-4:-1])

    @property
    def what(self) -> str:
        """What happened to it, in words."""
        rows = "1 row" if self.rows == 1 else f"{self.rows} rows"
        if self.damage is not None:
            return f"{self.damage}; it held {rows} of {self.table}"
        if self.is_changed:
            return f"does not hold the {rows} of {self.table} that were written to it"
        return f"is gone: it held {rows} of {self.table}"


def lost_parts(run: RunFolder, table: Table[Any]) -> Iterator[LostPart]:
    """The parts of a table that are recorded, and are gone or hold another number of rows."""
    of_commit = run.root / FOLDER / (table.commit or table.name)
    for file in sorted(of_commit.glob(f"model=*/language=*/topic=*/{PARTS}")):
        yield from _lost(run, table, file.parent.relative_to(of_commit), read_records(file))


def recorded_parts(run: RunFolder, table: Table[Any]) -> Iterator[tuple[Path, int, str | None]]:
    """The parts of a table that are recorded, whether they are there or not: path, rows, and the imported file."""
    of_commit = run.root / FOLDER / (table.commit or table.name)
    for file in sorted(of_commit.glob(f"model=*/language=*/topic=*/{PARTS}")):
        folder = run.root / table.name / file.parent.relative_to(of_commit)
        for name, record in read_records(file).items():
            if table.name in record.rows:
                yield folder / name, record.rows[table.name], record.source


def lost_of_job(run: RunFolder, job: Job, tables: Sequence[Table[Any]]) -> list[LostPart]:
    """The same of one job, of tables that are written together."""
    commit = tables[-1]
    records, place = read_records(record_file(run, commit, job)), run.shards("", job).relative_to(run.root)
    return [lost for table in tables for lost in _lost(run, table, place, records)]


def jobs_with_records(run: RunFolder, commit: Table[Any]) -> list[Job]:
    """The jobs of a table that have records, whether their folders are there or not."""
    return RunFolder(run.root / FOLDER).jobs(commit.name)


def forget_part(run: RunFolder, commit: Table[Any], part: LostPart) -> None:
    """Forgets a part: the file that it came from is being imported again."""
    file = run.root / FOLDER / commit.name / part.place / PARTS
    records = read_records(file)
    if records.pop(part.path.name, None) is not None:
        write_records(file, records)


def _lost(run: RunFolder, table: Table[Any], place: Path, records: Mapping[str, PartRecord]) -> Iterator[LostPart]:
    folder, committed = run.root / table.name / place, run.root / (table.commit or table.name) / place
    for name, record in records.items():
        rows, size = record.rows.get(table.name), record.sizes.get(table.name)
        if rows is None:
            continue
        if not (committed / name).exists() or (found := _size(folder / name)) is None:
            yield LostPart(folder / name, table.name, rows, record.source)
        elif size is not None and found != size and _rows(folder / name) not in (None, rows):
            yield LostPart(folder / name, table.name, rows, record.source, is_changed=True)


def check_parts(run: RunFolder, table: Table[Any]) -> None:
    """Raises `StoreError` where a part that was written is gone, or has other rows now."""
    lost = next(lost_parts(run, table), None)
    if lost is not None:
        remedy = remedy_of_part(table, lost.source, is_there=lost.is_changed)
        raise StoreError(lost.what, where=lost.path, remedy=remedy)


def remedy_of_part(table: Table[Any], source: str | None, *, is_there: bool) -> str:
    """What brings back the rows of a part, by where they came from: the imported file `source`, or a model."""
    if source is not None:
        return f"{COPY}. Without one, import {source} again: its rows are made again."
    aside = "move it out of the run's folder, and " if is_there else ""
    return f"{COPY}. Without one, {aside}give the command again that made it: its {table.unit} are asked for again."


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _rows(path: Path) -> int | None:
    """How many rows a file has; None for one that is no Parquet, which whoever reads it names."""
    import pyarrow as pa
    from pyarrow.parquet import read_metadata

    try:
        return int(read_metadata(path).num_rows)
    except (OSError, pa.ArrowException):
        return None


def record_table(run: RunFolder, name: str) -> None:
    """Records that a table in one file was written."""
    file = run.root / FOLDER / f"{name}.written"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()


def require_table(run: RunFolder, name: str) -> None:
    """Raises `StoreError` where a recorded table in one file is gone."""
    if (run.root / FOLDER / f"{name}.written").exists() and not run.table(name).exists():
        raise StoreError("is gone", where=run.table(name), remedy="Restore it from a copy: it cannot be made again.")


def require_moved_in(run: RunFolder) -> None:
    """Raises `StoreError` where an import was cut off between taking the old texts out and putting all new ones in."""
    if sealed_import(run).exists():
        what = "an import is being moved into this run, or was cut off there"
        raise StoreError(what, where=run.root, remedy="Give the import command again: it finishes.")
