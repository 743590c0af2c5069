"""The rows of a snapshot while it is built: Parquet files in a folder, by table, many of each.

A file is named after its table, the number of its part and who wrote it: names-00003-1.parquet. It is whole once
`seal` has returned.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from polyculture.link.entity_json import SCHEMAS

ROWS = 250_000  # of a table that are gathered before they are written
_REPEATING = ["language", "kind", "property", "topic"]  # columns of few values

Tables = Mapping[str, pa.Table]


class PartWriter:
    """Writes one part after the other into `folder`; other processes may write their own."""

    def __init__(self, folder: Path, writer: int = 0) -> None:
        self._folder, self._part, self._writer = folder, 0, writer
        self._waiting: dict[str, list[pa.Table]] = {name: [] for name in SCHEMAS}
        self._files: dict[str, pq.ParquetWriter] = {}

    def add(self, tables: Tables) -> None:
        """Takes rows into the part that is open."""
        for name, table in tables.items():
            waiting = self._waiting[name]
            if table.num_rows:
                waiting.append(table)
            if sum(rows.num_rows for rows in waiting) >= ROWS:
                self._write(name)

    def seal(self) -> None:
        """Ends the part: all rows so far are on disk. The next ones open another part."""
        for name, waiting in self._waiting.items():
            if waiting:
                self._write(name)
        for name, file in self._files.items():
            file.close()
            flush(self._path(name))
        self._files = {}
        self._part += 1

    def _write(self, name: str) -> None:
        if name not in self._files:
            self._files[name] = pq.ParquetWriter(
                self._path(name),
                SCHEMAS[name],
                compression="none",  # they are read once, soon; to pack them took longer than all else about them
                use_dictionary=[column for column in SCHEMAS[name].names if column in _REPEATING],  # type: ignore[arg-type]
                write_statistics=False,
            )
        self._files[name].write_table(pa.concat_tables(self._waiting[name]))
        self._waiting[name] = []

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}-{self._part:05}-{self._writer}.parquet"


def part_files(folder: Path, table: str, parts: int) -> list[Path]:
    """The files of a table, of the first `parts` parts."""
    files = sorted(folder.glob(f"{table}-*.parquet"))
    return [file for file in files if int(file.name.split("-")[1]) < parts]


def write_parts(folder: Path, batches: Iterable[Tables]) -> None:
    """Writes all rows of `batches` as one part."""
    writer = PartWriter(folder)
    for tables in batches:
        writer.add(tables)
    writer.seal()


def flush(path: Path) -> None:
    """Sees to it that a file is on the disk, and not only on its way."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
