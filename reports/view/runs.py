"""The runs beside the viewed one: their numbers over time, and one of them as its baseline."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from polyculture.cache.database import connect
from polyculture.cache.errors import PolycultureError, StoreError
from polyculture.cache.layout import Layout
from polyculture.cache.manifest import Manifest, read_manifest
from polyculture.cache.queries import damaged_file
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.shards import committed_parts
from polyculture.cache.sql_file import read_sql
from polyculture.cache.store import open_store
from polyculture.metrics import KEPT
from polyculture.metrics.comparison.compare import METRICS, ComparisonRow, compare
from polyculture.metrics.comparison.equivalence import LEVEL, read_margins
from polyculture.metrics.comparison.runs import RunNumbers, RunSides, lay_out_runs, paired_models

if TYPE_CHECKING:
    import pyarrow as pa

SQL = Path(__file__).with_name("sql")
PATIENCE = 5.0  # seconds; a page that reads runs ends soon after
SHOWN = 12  # the newest runs that are read for the trend
NOT_SHOWN = "not shown to differ"


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
    numbers: RunNumbers
    models: pa.Table  # of the level 'model' of `numbers`


@dataclass(frozen=True)
class Change:
    """A line of the comparison with a baseline: what changed, by how much, and in one word."""

    row: ComparisonRow
    verdict: str
    why: str = ""  # of a verdict that is none


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
        files = [(str(path), path.stat().st_mtime_ns) for path in one.run.whole_files]
        parts = [committed_parts(one.run, table) for table in self.layout.tables if table.sharded]
        state = (one.run.manifest.read_bytes(), files, parts)
        with self._lock:
            kept = self._kept.get(one.name)
            if kept is None or kept.state != state:
                kept = self._kept[one.name] = RunNumbersAt(state, *self._numbers(one))
            return kept

    def _numbers(self, one: RunBeside) -> tuple[RunNumbers, pa.Table]:
        try:
            with open_store(one.run, self.layout, KEPT, at=self.folder / "beside.duckdb") as store:
                models = store.sql(read_sql(SQL, "trend")).to_arrow_table()
                return RunNumbers.of(store, one.name, one.manifest), models
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

    def against(
        self, baseline: str, model: str = "", other: str = "", margins: str = ""
    ) -> tuple[RunSides, list[Change]]:
        """The viewed run against another one of its folder. Raises a `UserError` for what cannot be compared."""
        runs = {one.name: one for one in self.all()[0]}
        mine = runs.get(self.viewed.root.name)
        theirs = runs.get(baseline)
        if mine is None or theirs is None or mine is theirs:
            others = sorted(runs.keys() - {self.viewed.root.name})
            remedy = f"There are: {', '.join(others)}." if others else "It is the only run of its folder."
            raise StoreError(f"there is no other run {baseline!r} to compare with", remedy=remedy)
        same_within = read_margins(margins.split(), METRICS)
        models = paired_models(mine.manifest, theirs.manifest, model or None, other or None)
        with connect() as connection:
            found = lay_out_runs(connection, self.read(mine).numbers, self.read(theirs).numbers, models)
            rows = compare(connection, found.sides, margins=same_within)
        return found, [_change(row, found.withheld) for row in rows]


def _change(row: ComparisonRow, withheld: Mapping[str, str]) -> Change:
    """The word of a line: 'same' by an equivalence test alone, for to find no difference is not to find none there."""
    reason = withheld.get("") or withheld.get(row.metric)
    if reason:
        return Change(row, "withheld", reason)
    if row.effect is None:
        return Change(row, "withheld", "no prompt has both numbers")
    within = f"±{row.margin:g}" if row.q_beyond is not None and row.q_beyond < LEVEL else ""
    if row.q is not None and row.q < LEVEL:
        side = "lower" if row.effect.difference < 0 else "higher"
        return Change(row, f"{side}, yet within {within}" if within else side)
    if within:
        return Change(row, f"same within {within}")
    if row.q is None:
        return Change(row, "withheld", row.effect.no_interval or "no interval")
    return Change(row, NOT_SHOWN)
