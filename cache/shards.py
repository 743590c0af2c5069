"""The shards of a job: answers go to a journal as they come, and from the journal into Parquet parts.

A job's folder of a table holds `part-00000.parquet`, `part-00001.parquet`, ... Each part is whole or absent. Between
parts, every appended record is a line of the journal, so a killed process loses at most the answers in flight.
Opening the job again recovers from a kill.

A record may span several tables (an extraction and its mentions). Parts of the same number belong together, and the
last table's part is the commit: parts of other tables without it are not part of the store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from polyculture.cache.errors import JobHeldError
from polyculture.cache.files import replacing, store_faults
from polyculture.cache.job_lock import JobLock
from polyculture.cache.layout import Table
from polyculture.cache.parquet import SUFFIX, objects_to_table, read_rows, rows_to_table, write_parquet
from polyculture.cache.run_folder import NAME_FILE, Job, RunFolder, adopt_nested

PART_ROWS = 20_000
JOURNAL = "journal.jsonl"

# One unit of work that is done or not done: table name -> rows, objects of the table's row type. What is read back from
# a journal has dictionaries in their place.
Record = Mapping[str, Sequence[Any]]


class JobShards:
    """The shards of one job, locked by this process for the `with` block.

    `tables` are written together; the last one is the commit, whose key says which work is done.
    Raises `JobHeldError` where another process holds the job, `StoreError` where the folder cannot be written.
    """

    def __init__(self, run: RunFolder, job: Job, tables: Sequence[Table[Any]], part_rows: int = PART_ROWS) -> None:
        self._run, self.job, self.part_rows = run, job, part_rows
        self.tables = {table.name: table for table in tables}
        self.commit = tables[-1]
        self._key = self.commit.key or ""
        self._folders = {name: run.shards(name, job) for name in self.tables}
        self._commit = self._folders[self.commit.name]
        self._journal_path = self._commit / JOURNAL
        self._lock = JobLock(self._commit, f"job {job}")
        self._journal: BinaryIO | None = None
        self._pending: list[Record] = []
        self._pending_rows = 0

    def __enter__(self) -> Self:
        with store_faults(self._commit):
            for name, folder in self._folders.items():
                adopt_nested(self._run, name, self.job)
                folder.mkdir(parents=True, exist_ok=True)
                self._write_name(folder)
            self._lock.acquire()
        try:
            self._recover()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.seal()
            # A process that took the job over seals it. Any other exception, such as Ctrl-C, may have come between two
            # steps: what is on disk counts.
            elif not issubclass(kind, (OSError, JobHeldError)):
                self._recover()
        finally:
            if self._journal is not None:
                self._journal.close()
            self._lock.release()

    def append(self, record: Record) -> None:
        """Writes one finished unit of work; it survives a kill of this process once the call returns."""
        self.append_many([record])

    def append_many(self, records: Sequence[Record]) -> None:
        """The same for many units, with one write."""
        self._lock.check()
        lines = b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records)  # rows, too
        with store_faults(self._journal_path):
            _write_whole(self._open_journal(), lines)
        self._pending.extend(records)
        self._pending_rows += sum(len(rows) for record in records for rows in record.values())
        if self._pending_rows >= self.part_rows:
            self.seal()

    def seal(self) -> None:
        """Moves what the journal holds into a part of each table, the commit last."""
        if self._pending:
            self._write_part(self._pending)
        self._pending, self._pending_rows = [], 0
        if self._journal is not None:
            self._journal.close()
            self._journal = None
        self._journal_path.unlink(missing_ok=True)

    def append_part(self, tables: Mapping[str, pa.Table]) -> None:
        """Writes Arrow tables as a part of their own, bypassing the journal: for bulk work."""
        self._lock.check()
        name = self._next_part()
        for table, folder in self._folders.items():
            write_parquet(tables[table], folder / name)

    def read(self, table: str, columns: Sequence[str] | None = None) -> pa.Table:
        """All committed rows of a table of this job."""
        names = sorted(part.name for part in self._commit.glob(f"part-*{SUFFIX}"))
        kept = self.tables[table]
        wanted = list(columns or kept.columns)
        parts = [read_rows(self._folders[table] / name, kept, wanted) for name in names]
        return pa.concat_tables(parts) if parts else rows_to_table(kept, []).select(wanted)

    def read_journal(self) -> list[Record]:
        """The records that are in no part yet: of a killed process, or of one that works on the job now."""
        return _read_journal(self._journal_path)

    def retire(self, failed: set[str]) -> None:
        """Takes failed work out of the commit table, so that it counts as not done and is tried again.

        Work that failed has no rows in the other tables.
        """
        if not failed:
            return
        doomed = pa.array(sorted(failed), pa.string())
        for part in sorted(self._commit.glob(f"part-*{SUFFIX}")):
            with pq.ParquetFile(part) as file:
                rows = file.read()
            kept = rows.filter(pc.invert(pc.is_in(rows[self._key], value_set=doomed)))
            if kept.num_rows < rows.num_rows:
                write_parquet(kept, part)

    def _recover(self) -> None:
        for folder in self._folders.values():
            for stale in folder.glob(".*.tmp"):
                stale.unlink(missing_ok=True)
        for folder in list(self._folders.values())[:-1]:
            for part in folder.glob(f"part-*{SUFFIX}"):
                if not (self._commit / part.name).exists():
                    part.unlink()
        there = self.read(self.commit.name, [self._key]) if self._journal_path.exists() else None
        done = set() if there is None else set(there[self._key].to_pylist())
        left = [record for record in _read_journal(self._journal_path) if self._key_of(record) not in done]
        if left:
            self._write_part(left)
        self._journal_path.unlink(missing_ok=True)

    def _write_name(self, folder: Path) -> None:
        """The job's name, where the folder's path cannot hold it: before any row."""
        name = self._run.name_of(folder, self.job)
        if name is not None and not (folder / NAME_FILE).exists():
            with replacing(folder / NAME_FILE) as temporary:
                temporary.write_text(name, encoding="utf-8")

    def _key_of(self, record: Record) -> Any:
        return value_of(record[self.commit.name][0], self._key)

    def _write_part(self, records: Sequence[Record]) -> None:
        self.append_part(
            {
                name: _to_table(table, [row for record in records for row in record.get(name, ())])
                for name, table in self.tables.items()
            }
        )

    def _next_part(self) -> str:
        numbers = [int(part.stem.removeprefix("part-")) for part in self._commit.glob(f"part-*{SUFFIX}")]
        return f"part-{max(numbers, default=-1) + 1:05d}{SUFFIX}"

    def _open_journal(self) -> BinaryIO:
        if self._journal is None:
            self._journal = self._journal_path.open("ab", buffering=0)
        return self._journal


def value_of(row: Any, column: str) -> Any:
    """A value of a row, which is an object, or a dictionary where a journal was read."""
    return row[column] if isinstance(row, dict) else getattr(row, column)


def recover(run: RunFolder, job: Job, tables: Sequence[Table[Any]]) -> None:
    """Commits a job's journal that a killed process left; does nothing without one, or where the job is locked."""
    if not (run.shards(tables[-1].name, job) / JOURNAL).exists():
        return
    try:
        with JobShards(run, job, tables):
            pass
    except JobHeldError:
        return


def unsealed(run: RunFolder) -> int:
    """How many shards have rows that are only in their journal: of killed jobs, or of running ones."""
    journals = run.root.glob(f"*/model=*/language=*/topic=*/{JOURNAL}")
    return sum(journal.stat().st_size > 0 for journal in journals)


def _write_whole(file: BinaryIO, data: bytes) -> None:
    """An unbuffered write may be short (a full disk): continue until all is written or the system raises."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def _read_journal(path: Path) -> list[Record]:
    """The journal's whole lines; a line that a kill or a full disk cut is not a record."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:  # there is none, or another process has just sealed it
        return []
    return [orjson.loads(line) for line in lines[:-1]]


def _to_table(table: Table[Any], rows: Sequence[Any]) -> pa.Table:
    whole = [row for row in rows if not isinstance(row, dict)]
    if len(whole) == len(rows):
        return objects_to_table(table, rows)
    # Journals of an earlier version may lack columns that came later, or hold them under other names.
    before = table.renamed
    read = [{c: row.get(c, row.get(before.get(c, c))) for c in table.columns} for row in rows if isinstance(row, dict)]
    return pa.concat_tables([rows_to_table(table, read), objects_to_table(table, whole)])


def committed_parts(run: RunFolder, table: Table[Any]) -> list[Path]:
    """The committed part files of a table, over all jobs: those whose committing part exists."""
    folder = run.root / table.name
    parts = sorted(folder.glob(f"model=*/language=*/topic=*/part-*{SUFFIX}"))
    if table.commit is None:
        return parts
    return [part for part in parts if (run.root / table.commit / part.relative_to(folder)).exists()]
