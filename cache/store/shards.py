"""The shards of a job: answers go to a journal as they come, and from the journal into Parquet parts.

A job's folder of a table holds `part-00000.parquet`, `part-00001.parquet`, ... Each part is whole or absent. Between
parts, every appended record is a line of the journal, so a killed process loses at most the answers in flight.
Opening the job again recovers from a kill.

A record may span several tables (an extraction and its mentions). Parts of the same number belong together, and the
last table's part is the commit: parts of other tables without it are not part of the store. What was written is
recorded (`cache.store.inventory`), so that a part which somebody removes is named.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import orjson
import pyarrow as pa

from polyculture.cache.errors import JobHeldError
from polyculture.cache.files import replacing, store_faults, sweep
from polyculture.cache.locks import Lock
from polyculture.cache.log import get_logger
from polyculture.cache.store.inventory import (
    PartRecord,
    check_parts,
    jobs_with_records,
    lost_of_job,
    read_records,
    record_file,
    write_records,
)
from polyculture.cache.store.layout import Table
from polyculture.cache.store.parquet import (
    SUFFIX,
    UnfitError,
    fitted,
    in_categories,
    objects_to_table,
    opened_parquet,
    paid_rows,
    read_rows,
    reopened_rows,
    rows_to_table,
    unpaid_rows,
    void_rows,
    write_parquet,
)
from polyculture.cache.store.run_folder import NAME_FILE, Job, RunFolder

PART_ROWS = 20_000
JOURNAL = "journal.jsonl"
INCOMPLETE = ".incomplete"  # behind the name of a part whose other tables are gone
SET_ASIDE = "set-aside.jsonl"  # records of the journal that no part can hold
_NAMED = 5  # keys of such records in the line about them
_NO_FIT = (pa.ArrowException, TypeError, ValueError, OverflowError)
_PART = re.compile(rf"part-(?:[0-9]{{5}}|[1-9][0-9]{{5,}}){re.escape(SUFFIX)}")
_log = get_logger(__name__)
_told: set[Path] = set()  # strange files that this process has named

# One unit of work that is done or not done: table name -> rows, objects of the table's row type. What is read back from
# a journal has dictionaries in their place.
ColumnValues = Mapping[str, Sequence[Any]]


class JobShards:
    """The shards of one job, locked by this process for the `with` block.

    `tables` are written together; the last one is the commit, whose key says which work is done.
    `source` is the imported file that rows come from; a model's answers have none. With `allow_lost`, parts that an
    import brought and that are gone stay on record and are no error: importing their file again brings them back.
    Raises `JobHeldError` where another process holds the job, `StoreError` where the folder cannot be written.
    """

    def __init__(
        self,
        run: RunFolder,
        job: Job,
        tables: Sequence[Table[Any]],
        part_rows: int = PART_ROWS,
        source: str | None = None,
        allow_lost: bool = False,
    ) -> None:
        self._run, self.job, self.part_rows, self._source = run, job, part_rows, source
        self._allow_lost = allow_lost
        self.tables = {table.name: table for table in tables}
        self.commit = tables[-1]
        self._key = self.commit.key or ""
        self._folders = {name: run.shards(name, job) for name in self.tables}
        self._commit = self._folders[self.commit.name]
        self._journal_path = self._commit / JOURNAL
        self._records = record_file(run, self.commit, job)
        self._lock = Lock(self._commit / ".lock", f"job {job}")
        self._journal: BinaryIO | None = None
        self._pending: list[ColumnValues] = []
        self._pending_rows = 0

    def __enter__(self) -> Self:
        with store_faults(self._commit):
            for folder in self._folders.values():
                folder.mkdir(parents=True, exist_ok=True)
                self._write_name(folder)
            self._write_name(self._records.parent)
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

    def append(self, record: ColumnValues) -> None:
        """Writes one finished unit of work; it survives a kill of this process once the call returns."""
        self.append_many([record])

    def append_many(self, records: Sequence[ColumnValues]) -> None:
        """The same for many units, with one write."""
        self._lock.check()
        try:
            lines = b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records)  # rows, too
        except TypeError:
            records = list(self._fitted(records))
            lines = b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records)
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
            write_parquet(in_categories(tables[table]), folder / name)
        self._record([name])

    def has_part_of(self, part: Path) -> bool:
        """Whether rows of a part that stands elsewhere are among those of this job; of one without rows: yes."""
        keys = read_rows(part, self.commit, [self._key])[self._key]
        if not len(keys):
            return True
        first = keys[0].as_py()
        return any(first in self._keys_of(own) for own in part_files(self._commit))

    def _keys_of(self, part: Path) -> list[Any]:
        """The keys of a part; none where it is damaged, since it is none that this process has just written."""
        try:
            return list(read_rows(part, self.commit, [self._key])[self._key].to_pylist())
        except (OSError, pa.ArrowException):
            return []

    def replace_part(self, name: str, tables: Mapping[str, pa.Table]) -> None:
        """Writes other rows of some tables in the place of those of a part."""
        records = read_records(self._records)
        if name in records:  # a kill in between leaves a record that says nothing of rows
            write_records(self._records, {**records, name: PartRecord(records[name].rows, {}, records[name].source)})
        for table, rows in tables.items():
            write_parquet(in_categories(rows), self._folders[table] / name)
        self._record([name])

    def read(self, table: str, columns: Sequence[str] | None = None) -> pa.Table:
        """All committed rows of a table of this job."""
        names = [part.name for part in part_files(self._commit)]
        kept = self.tables[table]
        wanted = list(columns or kept.columns)
        parts = [read_rows(self._folders[table] / name, kept, wanted) for name in names]
        return pa.concat_tables(parts) if parts else rows_to_table(kept, []).select(wanted)

    def read_journal(self) -> list[ColumnValues]:
        """The records that are in no part yet: of a killed process, or of one that works on the job now."""
        records = (_record(line) for line in _read_journal(self._journal_path))
        return [record for record in records if self._is_whole(record)]

    def retire(self, failed: Collection[str], retry_permanent: Collection[str] = ()) -> pa.Table:
        """Takes failed work out of the commit table, so that it counts as not done and is tried again.

        A row that was paid for stays, as an unusable answer under a key of its own. Of `retry_permanent`, some of the
        failed, the earlier unusable answers count no longer. Work that failed has no rows in the other tables.

        Returns the rows without what was paid for them: `restore` puts back those of which nothing is asked after all.
        """
        retired = [self.commit.schema.empty_table()]

        def retire(rows: pa.Table) -> pa.Table:
            retired.append(unpaid_rows(rows).select(self.commit.columns).cast(self.commit.schema))
            return void_rows(paid_rows(rows), self._key)

        self._rewrite(self._tries(retry_permanent), lambda rows: void_rows(rows, self._key))
        self._rewrite(failed, retire)
        return pa.concat_tables(retired)

    def restore(self, retired: pa.Table, written: Collection[str]) -> None:
        """Puts retired rows back, except for those whose keys were written since: why they failed is still known."""
        rows = retired.filter(pa.array([key not in written for key in retired[self._key].to_pylist()], pa.bool_()))
        if rows.num_rows:
            others = {table.name: table.schema.empty_table() for table in self.tables.values()}
            self.append_part({**others, self.commit.name: rows})

    def reopen(self, unsettled: Collection[str]) -> None:
        """Makes failures such that the next run tries them again, and unusable answers such that they do not count."""
        self._rewrite(unsettled, lambda rows: reopened_rows(rows, self._key))

    def _tries(self, keys: Collection[str]) -> set[str]:
        """The keys of unusable answers about what the rows with these keys are about."""
        import pyarrow.compute as pc  # here: it takes as long to load as a whole store

        subject = self.commit.subject
        if not keys or subject is None:
            return set()
        rows = self.read(self.commit.name, [self._key, subject, "status"])
        about = rows.filter(pc.is_in(rows[self._key], value_set=pa.array(sorted(keys), pa.string())))[subject]
        tries = (pc.field("status") == "unusable") & pc.field(subject).isin(about.combine_chunks())
        return {str(key) for key in rows.filter(tries)[self._key].to_pylist()}

    def _rewrite(self, keys: Collection[str], change: Callable[[pa.Table], pa.Table]) -> None:
        """Replaces the committed rows with these keys, part by part."""
        import pyarrow.compute as pc  # here: it takes as long to load as a whole store

        chosen = pa.array(sorted(keys), pa.string())
        for part in part_files(self._commit) if keys else ():
            with opened_parquet(part) as file:
                rows = file.read()
            found = pc.is_in(rows[self._key], value_set=chosen)
            if pc.any(found).as_py():
                changed = pa.concat_tables([rows.filter(pc.invert(found)), change(rows.filter(found))])
                self.replace_part(part.name, {self.commit.name: changed})

    def _record(self, names: Sequence[str]) -> None:
        """Records parts as they are on disk now."""
        records = read_records(self._records)
        for name in names:
            rows, sizes = dict[str, int](), dict[str, int]()
            for table, folder in self._folders.items():
                with opened_parquet(folder / name) as file:
                    rows[table] = file.metadata.num_rows
                sizes[table] = (folder / name).stat().st_size
            records[name] = PartRecord(rows, sizes, records[name].source if name in records else self._source)
        write_records(self._records, records)

    def _reconcile(self) -> None:
        """Holds the parts against their records. Raises `StoreError` for one that an import brought, and is gone.

        What a model answered, and is gone, is named and counts as not done: it is asked for again.
        """
        records = read_records(self._records)
        there = {part.name for part in part_files(self._commit)}
        gone = {
            name: record
            for name, record in records.items()
            if not all((folder / name).exists() for folder in self._folders.values())
        }
        if self._allow_lost:
            gone = {name: record for name, record in gone.items() if record.source is None}
        elif any(record.source is not None for record in gone.values()):
            for table in self.tables.values():
                check_parts(self._run, table)
        for name, record in gone.items():
            if name in there:  # the rows of another table are gone: those of this one would say that all is done
                (self._commit / name).rename(self._commit / f"{name}{INCOMPLETE}")
            kinds = " and ".join(f"{record.rows.get(table, 0)} {table}" for table in self.tables)
            _log.warning("%s: a part with %s is gone: it is made again", self._commit / name, kinds)
        if gone:
            write_records(self._records, {name: record for name, record in records.items() if name not in gone})
        new = [
            part.name for part in part_files(self._commit) if part.name not in records or not records[part.name].sizes
        ]
        if new:
            self._record(new)

    def _recover(self) -> None:
        for folder in self._folders.values():
            sweep(folder, older=0.0)
        self._reconcile()
        for folder in list(self._folders.values())[:-1]:
            for part in part_files(folder):
                if not (self._commit / part.name).exists():
                    part.unlink()
        there = self.read(self.commit.name, [self._key]) if self._journal_path.exists() else None
        done = set() if there is None else set(there[self._key].to_pylist())
        lines = {line: _record(line) for line in _read_journal(self._journal_path)}
        whole = [record for record in lines.values() if self._is_whole(record)]
        if len(whole) < len(lines):
            strange = [line for line, record in lines.items() if not self._is_whole(record)]
            self._set_aside(strange, [f"line {line[:40]!r}" for line in strange], "they are no records")
        left = [record for record in whole if self._key_of(record) not in done]
        if left:
            self._write_part(left)
        self._journal_path.unlink(missing_ok=True)

    def _write_name(self, folder: Path) -> None:
        """The job's name, where the folder's path cannot hold it: before any row."""
        name = self._run.name_of(folder, self.job)
        if name is not None and not (folder / NAME_FILE).exists():
            with replacing(folder / NAME_FILE) as temporary:
                temporary.write_text(name, encoding="utf-8")

    def _key_of(self, record: ColumnValues) -> Any:
        return value_of(record[self.commit.name][0], self._key)

    def _is_whole(self, record: Any) -> bool:
        """Whether a line of the journal is a record of these tables."""
        if not isinstance(record, dict) or not record.get(self.commit.name):
            return False
        tables = [record.get(name, []) for name in self.tables]
        rows = [row for rows in tables for row in (rows if isinstance(rows, list) else [None])]
        return all(isinstance(row, dict) for row in rows) and isinstance(
            record[self.commit.name][0].get(self._key), str
        )

    def _write_part(self, records: Sequence[ColumnValues]) -> None:
        """One part of all records. Where a value fits no column, it is brought into type, row by row."""
        try:
            self._write_records(records)
        except _NO_FIT:
            fitting = list(self._fitted(records))
            if fitting:
                self._write_records(fitting)

    def _fitted(self, records: Sequence[ColumnValues]) -> Iterator[ColumnValues]:
        """The records with values of their columns' types; the others are set aside."""
        unfit: list[tuple[ColumnValues, UnfitError]] = []
        for record in records:
            try:
                yield {
                    name: [fitted(self.tables[name], row) for row in rows]
                    for name, rows in record.items()
                    if name in self.tables
                }
            except UnfitError as fault:
                unfit.append((record, fault))
        if unfit:
            keys = [str(self._key_of(record)) for record, _ in unfit]
            lines = [json.dumps(record, default=_plain).encode() for record, _ in unfit]
            self._set_aside(lines, keys, str(unfit[0][1]))

    def _set_aside(self, lines: Sequence[bytes], keys: Sequence[str], reason: str) -> None:
        """Keeps what no part can hold in a file of its own, and says so once."""
        file = self._commit / SET_ASIDE
        with store_faults(file), file.open("ab") as kept:
            kept.write(b"".join(line + b"\n" for line in lines))
        named = ", ".join(keys[:_NAMED]) + (", ..." if len(keys) > _NAMED else "")
        _log.warning("%s: %d rows cannot be kept (%s) and are set aside: %s", file, len(keys), reason, named)

    def _write_records(self, records: Sequence[ColumnValues]) -> None:
        self.append_part(
            {
                name: _to_table(table, [row for record in records for row in record.get(name, ())])
                for name, table in self.tables.items()
            }
        )

    def _next_part(self) -> str:
        names = {part.name for part in part_files(self._commit)} | read_records(self._records).keys()
        numbers = [int(name.removeprefix("part-").removesuffix(SUFFIX)) for name in names if _PART.fullmatch(name)]
        return f"part-{max(numbers, default=-1) + 1:05d}{SUFFIX}"

    def _open_journal(self) -> BinaryIO:
        if self._journal is None:
            self._journal = self._journal_path.open("ab", buffering=0)
        return self._journal


def part_files(folder: Path) -> list[Path]:
    """The parts in a job's folder, in order. Copies that somebody's synchronisation made have other names."""
    return sorted(path for path in folder.glob(f"*{SUFFIX}") if _PART.fullmatch(path.name))


def value_of(row: Any, column: str) -> Any:
    """A value of a row, which is an object, or a dictionary where a journal was read."""
    return row[column] if isinstance(row, dict) else getattr(row, column)


def recover(run: RunFolder, job: Job, tables: Sequence[Table[Any]]) -> None:
    """Commits a job's journal that a killed process left, and forgets parts that are gone.

    Does nothing where there is neither, or where the job is locked.
    """
    left = (run.shards(tables[-1].name, job) / JOURNAL).exists()
    if not left and not lost_of_job(run, job, tables):
        return
    try:
        with JobShards(run, job, tables):
            pass
    except JobHeldError:
        return


def recover_killed(run: RunFolder, tables: Sequence[Table[Any]]) -> None:
    """Commits what killed processes left in the journals of a step's tables. A job that is locked is left alone."""
    for job in run.jobs(tables[-1].name):
        journal = run.shards(tables[-1].name, job) / JOURNAL
        if journal.exists() and journal.stat().st_size:
            recover(run, job, tables)


def recover_lost(run: RunFolder, tables: Sequence[Table[Any]]) -> None:
    """Names the parts of a step's tables that are gone, so that they are asked for again."""
    for job in jobs_with_records(run, tables[-1]):
        recover(run, job, tables)


def remove_rows_about_lost(run: RunFolder, about: Table[Any], tables: Sequence[Table[Any]]) -> None:
    """Removes a job's rows of `tables` where the rows of `about` that they were made from are gone.

    What is gone is asked for again, a model may answer otherwise this time, and mentions of the old texts would count
    as those of the new ones. What an import brought comes back as it was, and keeps them. The rows are removed before
    the loss is forgotten, so that a kill in between changes nothing.
    """
    for job in jobs_with_records(run, about):
        lost = sum(one.rows for one in lost_of_job(run, job, (about,)) if one.source is None and not one.is_changed)
        if not lost or not part_files(run.shards(tables[-1].name, job)):
            continue
        with JobShards(run, job, tables):
            for table in reversed(tables):  # the one that commits first
                for part in part_files(run.shards(table.name, job)):
                    part.unlink()
            write_records(record_file(run, tables[-1], job), {})
        names = " and ".join(table.name for table in tables)
        _log.warning("%s: %d %s are gone, so their %s are made again", job, lost, about.name, names)


def unsealed(run: RunFolder) -> int:
    """How many shards have rows that are only in their journal: of killed jobs, or of running ones."""
    journals = run.root.glob(f"*/model=*/language=*/topic=*/{JOURNAL}")
    return sum(journal.stat().st_size > 0 for journal in journals)


def _write_whole(file: BinaryIO, data: bytes) -> None:
    """An unbuffered write may be short (a full disk): continue until all is written or the system raises."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def _plain(value: Any) -> Any:
    """A row as a table, for a file that holds what no part can."""
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else repr(value)


def _record(line: bytes) -> Any:
    """A line of the journal as JSON; None where it is none."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def _read_journal(path: Path) -> list[bytes]:
    """The journal's whole lines; a line that a kill or a full disk cut is not one."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:  # there is none, or another process has just sealed it
        return []
    return lines[:-1]


def _to_table(table: Table[Any], rows: Sequence[Any]) -> pa.Table:
    whole = [row for row in rows if not isinstance(row, dict)]
    if len(whole) == len(rows):
        return objects_to_table(table, rows)
    read = rows_to_table(table, [row for row in rows if isinstance(row, dict)])  # of a journal
    return pa.concat_tables([read, objects_to_table(table, whole)])


def committed_parts(run: RunFolder, table: Table[Any]) -> list[Path]:
    """The committed part files of a table, over all jobs: those whose committing part exists."""
    folder = run.root / table.name
    there = sorted(folder.glob(f"model=*/language=*/topic=*/*{SUFFIX}"))
    parts = [path for path in there if _PART.fullmatch(path.name)]
    for path in set(there) - set(parts) - _told:
        _told.add(path)
        _log.warning("%s: no file that Polyculture wrote (a copy of a synchronised folder?), and not read", path)
    if table.commit is None:
        return parts
    return [part for part in parts if (run.root / table.commit / part.relative_to(folder)).exists()]
