"""The rows of a snapshot under construction: Parquet files in a folder, several per table.

A file name holds the table and the part: names-00003.parquet. A file is complete once `seal` returns.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from polyculture.cache.files import store_faults
from polyculture.link.entity_json import SCHEMAS

if TYPE_CHECKING:
    import pyarrow.parquet as pq

ROWS = 250_000  # rows of a table that are buffered before writing
_REPEATING = ["language", "kind", "property", "topic"]  # columns of few distinct values

ArrowTables = Mapping[str, pa.Table]


class PartWriter:
    """Writes parts into `folder`, one after the other, after the `parts` that are there."""

    def __init__(self, folder: Path, parts: int = 0) -> None:
        self._folder, self._part = folder, parts
        self._buffered: dict[str, list[pa.Table]] = {name: [] for name in SCHEMAS}
        self._files: dict[str, pq.ParquetWriter] = {}

    def add(self, tables: ArrowTables) -> None:
        """Adds rows to the open part."""
        for name, table in tables.items():
            buffered = self._buffered[name]
            if table.num_rows:
                buffered.append(table)
            if sum(rows.num_rows for rows in buffered) >= ROWS:
                self._write(name)

    def seal(self) -> int:
        """Closes the part: all rows so far are on disk. Further rows open another part. Returns how many there are."""
        for name, buffered in self._buffered.items():
            if buffered:
                self._write(name)
        with store_faults(self._folder):
            for name, file in self._files.items():
                file.close()
                flush(self._path(name))
        self._files = {}
        self._part += 1
        return self._part

    def _write(self, name: str) -> None:
        import pyarrow.parquet as pq  # here: who only links writes none

        with store_faults(self._folder):
            if name not in self._files:
                self._files[name] = pq.ParquetWriter(
                    self._path(name),
                    SCHEMAS[name],
                    compression="none",  # read once, soon: compression took longer than all other work on them
                    use_dictionary=[column for column in SCHEMAS[name].names if column in _REPEATING],  # type: ignore[arg-type]
                    write_statistics=False,
                )
            self._files[name].write_table(pa.concat_tables(self._buffered[name]))
        self._buffered[name] = []

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}-{self._part:05}.parquet"


def part_files(folder: Path, table: str) -> list[Path]:
    """The files of a table, by part."""
    return sorted(folder.glob(f"{table}-*.parquet"))


def part_of(file: Path) -> int:
    """The part of a file, by its name."""
    return int(file.stem.rpartition("-")[2])


def write_parts(folder: Path, batches: Iterable[ArrowTables]) -> None:
    """Writes all rows of `batches` as one part."""
    writer = PartWriter(folder)
    for tables in batches:
        writer.add(tables)
    writer.seal()


def flush(path: Path) -> None:
    """Flushes a file to the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
