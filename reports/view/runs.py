"""The runs beside the viewed one: their numbers over time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from polyculture.cache.errors import PolycultureError, StoreError
from polyculture.cache.layout import Layout
from polyculture.cache.manifest import Manifest, read_manifest
from polyculture.cache.queries import damaged_file
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.shards import committed_parts
from polyculture.cache.sql_file import read_sql
from polyculture.cache.store import open_store
from polyculture.metrics import KEPT

if TYPE_CHECKING:
    import pyarrow as pa

SQL = Path(__file__).with_name("sql")
PATIENCE = 5.0  # seconds; a page that reads runs ends soon after
SHOWN = 12  # the newest runs that are read for the trend


@dataclass(frozen=True)
class RunBeside:
    """A run of the same folder of runs. `written` is when its manifest was, in UTC."""

    name: str
    run: RunFolder
    manifest: Manifest
    written: datetime


@dataclass(frozen=True)
class RunNumbersAt:
    """What was read of a run, and the state of its files then."""

    state: object
    models: pa.Table  # of the level 'model' of `numbers`


@dataclass(frozen=True)
class Trajectory:
    """Runs with their numbers by metric and model, oldest first; a line for each that cannot be read."""

    runs: tuple[tuple[RunBeside, list[dict[str, Any]]], ...]
    unread: tuple[str, ...]
    left: int  # runs that were not read in time
    there: int  # all runs of the folder


@dataclass
class RunsBeside:
    """The run `viewed` and those beside it. The numbers of each are kept until it is written anew."""

    viewed: RunFolder
    layout: Layout
    folder: Path  # for their database files
    _kept: dict[str, RunNumbersAt] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)  # a run at a time: each may take seconds

    def all(self) -> tuple[list[RunBeside], list[str]]:
        """The runs, oldest first, and a line for each folder that cannot be read."""
        found, unread = [], []
        for path in sorted(self.viewed.root.parent.iterdir()):
            run = RunFolder(path)
            try:
                manifest = read_manifest(run.manifest)
                if manifest is not None:
                    written = datetime.fromtimestamp(run.manifest.stat().st_mtime, UTC)
                    found.append(RunBeside(path.name, run, manifest, written))
            except (StoreError, OSError) as fault:
                unread.append(str(fault))
        return sorted(found, key=lambda one: (one.written, one.name)), unread

    def read(self, one: RunBeside) -> RunNumbersAt:
        """The numbers of a run. Raises `StoreError` where its files are damaged."""
        state = self._state(one)
        with self._lock:
            kept = self._kept.get(one.name)
            if kept is None or kept.state != state:
                with self._opened(one) as store:
                    kept = RunNumbersAt(state, store.sql(read_sql(SQL, "trend")).to_arrow_table())
                self._kept[one.name] = kept
            return kept

    def _state(self, one: RunBeside) -> object:
        files = [(str(path), path.stat().st_mtime_ns) for path in one.run.whole_files]
        parts = [committed_parts(one.run, table) for table in self.layout.tables if table.sharded]
        return one.run.manifest.read_bytes(), files, parts

    @contextmanager
    def _opened(self, one: RunBeside, name: str = "beside") -> Iterator[duckdb.DuckDBPyConnection]:
        try:
            with open_store(one.run, self.layout, KEPT, at=self.folder / f"{name}.duckdb") as store:
                yield store
        except duckdb.Error as fault:
            damaged = damaged_file(fault, self.layout, [one.run.root])
            if damaged is None:
                raise
            raise damaged from fault

    def trend(self) -> Trajectory:
        """The newest runs with their numbers; after `PATIENCE` seconds those that were not read yet are left."""
        runs, unread = self.all()
        found: list[tuple[RunBeside, list[dict[str, Any]]]] = []
        left, end = 0, time.monotonic() + PATIENCE
        for one in reversed(runs[-SHOWN:]):
            if found and one.name not in self._kept and time.monotonic() > end:
                left += 1
                continue
            try:
                found.append((one, self.read(one).models.to_pylist()))
            except PolycultureError as fault:
                unread.append(str(fault))
        return Trajectory(tuple(reversed(found)), tuple(unread), left, len(runs))
