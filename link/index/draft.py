"""A snapshot under construction: a locked folder beside it, with a DuckDB file of the rows as they come.

A transaction that has ended is on disk: a process that is killed loses what was under way, and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb
import orjson
import pyarrow as pa

from polyculture.cache.database import connect
from polyculture.cache.errors import JobHeldError, SnapshotError, StoreError, WikidataError
from polyculture.cache.files import claim_folder, remove_folder, store_faults
from polyculture.cache.locks import Lock
from polyculture.link.index.tables import PLAIN, ArrowTables

MEMORY = "1GB"  # DuckDB's memory limit while a snapshot is made; the rest goes to disk
_WRITTEN = "written"  # a note in the folder


@contextmanager
def disk_faults(path: Path | None) -> Iterator[None]:
    """Turns the errors of a file that is broken, of a disk that cannot be written, or is full, into a `StoreError`."""
    try:
        with store_faults(path or Path()):
            yield
    except (duckdb.IOException, duckdb.OutOfMemoryException) as fault:
        remedy = "Free space, or delete the folder; then run the same command again."
        raise StoreError(f"cannot be opened or written: {fault}", where=path, remedy=remedy) from fault


class Draft:
    """The file, attached as `draft`; with None it is in memory. Whoever makes it keeps what it has to know in `state`.

    `wikidata` has the tables as views, for the statements that read a snapshot's. Raises `StoreError` where the file
    cannot be written.
    """

    def __init__(self, file: Path | None) -> None:
        self.file, self.connection = file, connect(memory=MEMORY, spill=file.parent if file else None)
        try:
            self._open()
        except BaseException:
            self.connection.close()  # nobody else can: the object is not made
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.connection.close()

    def add(self, tables: ArrowTables) -> None:
        """Adds rows."""
        for name, rows in tables.items():
            self.insert(name, rows)

    def insert(self, table: str, rows: pa.Table) -> None:
        """Adds rows to one of the tables."""
        if rows.num_rows:
            self.connection.from_arrow(rows).insert_into(f"draft.{table}")

    def clear(self) -> None:
        """Deletes all rows."""
        for name in PLAIN:
            self.connection.execute(f"TRUNCATE draft.{name}")

    @property
    def state(self) -> Any:
        """What was noted last; None: nothing yet."""
        noted = self.connection.execute("FROM draft.state").fetchone()
        return orjson.loads(noted[0]) if noted else None

    @state.setter
    def state(self, value: Any) -> None:
        self.connection.execute("DELETE FROM draft.state")
        self.connection.execute("INSERT INTO draft.state VALUES ($state)", {"state": orjson.dumps(value).decode()})

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is added within, or nothing of it."""
        with disk_faults(self.file):
            self.connection.begin()
            try:
                yield
            except BaseException:
                with suppress(duckdb.Error):  # of a connection that a full disk has ended
                    self.connection.rollback()
                raise
            self.connection.commit()

    def _open(self) -> None:
        with disk_faults(self.file):
            self.connection.execute("ATTACH $file AS draft", {"file": str(self.file or ":memory:")})
        # Rows are read once: to find out how they could be packed took twice as long as to write them.
        self.connection.execute("SET force_compression = 'uncompressed'")
        self.connection.execute("CREATE SCHEMA wikidata")
        with self.transaction():
            self.connection.execute("CREATE TABLE IF NOT EXISTS draft.state (state VARCHAR)")
            there = {row[0] for row in self.connection.execute("SHOW TABLES FROM draft").fetchall()}
            for name, schema in PLAIN.items():
                if name not in there:
                    self.connection.from_arrow(schema.empty_table()).create(f"draft.{name}")
                elif self.connection.table(f"draft.{name}").columns != schema.names:
                    remedy = "Delete the folder; then run the same command again."
                    raise StoreError(
                        f"its table {name} has other columns than a snapshot's", where=self.file, remedy=remedy
                    )
        for name in PLAIN:
            self.connection.execute(f"CREATE VIEW wikidata.{name} AS FROM draft.{name}")


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Makes the folder, and locks it for this process.

    Raises `JobHeldError` where another process has it, and `StoreError` where it cannot be made.
    """
    with store_faults(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        claim_folder(folder)
    try:
        with Lock(folder / ".lock"):
            (folder / _WRITTEN).unlink(missing_ok=True)  # what is made from here on is another file
            yield
    except JobHeldError:
        raise JobHeldError(f"{folder}: another process is making this snapshot") from None


@contextmanager
def kept_draft(folder: Path, begun: Callable[[Any], bool]) -> Iterator[Draft]:
    """The draft in a folder of its own, which is locked, and removed in the end.

    Where a source is no good it stays for the next time if its state, by `begun`, has anything of it. Raises what
    `locked_folder` and `Draft` raise.
    """
    with locked_folder(folder):
        worth = True
        try:
            with Draft(draft_file(folder)) as draft:
                try:
                    yield draft
                except (SnapshotError, WikidataError):
                    worth = bool(draft.state) and begun(draft.state)
                    raise
        finally:
            if not worth:
                remove_folder(folder)
        remove_folder(folder)


def draft_file(folder: Path) -> Path:
    """The file of a draft in a folder of its own."""
    return folder / "rows.duckdb"


def building_folder(out: Path) -> Path:
    """Where the rows of a dump for the snapshot `out` stand until it is written."""
    return out.with_name(f"{out.name}.building")


def answers_folder(out: Path) -> Path:
    """Where answers for the snapshot `out` stand until it is written."""
    return out.with_name(f"{out.name}.asked")


def note_written(folder: Path, file: Path) -> None:
    """Notes in the folder which file is about to be moved into the snapshot's place."""
    (folder / _WRITTEN).write_text(_stamp(file), encoding="utf-8")


def tidied_after_kill(out: Path) -> bool:
    """Whether `out` was made of a folder beside it, whose process was killed once it was there; removes the folder.

    Raises `JobHeldError` where another process has the folder.
    """
    for folder in (building_folder(out), answers_folder(out)):
        note = folder / _WRITTEN
        if out.is_file() and note.is_file() and note.read_text(encoding="utf-8") == _stamp(out):
            with locked_folder(folder):
                remove_folder(folder)
            return True
    return False


def _stamp(file: Path) -> str:
    found = file.stat()  # neither changes when the file is moved
    return f"{found.st_size} {found.st_mtime_ns}"
