"""The folder of a snapshot that is being built from a dump: its parts, and how far the dump was read.

It stands beside the snapshot as `<name>.building`, so that a build which was killed goes on from there.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import Self

import msgspec
from filelock import FileLock, Timeout

from polyculture.cache.errors import JobHeldError
from polyculture.cache.files import replacing, store_faults
from polyculture.link.dumps.dump import Place
from polyculture.link.dumps.ingest import Intake
from polyculture.link.index.parts import part_files
from polyculture.link.index.snapshot import VERSION

_STATE, _LOCK = "state.json", ".lock"


@dataclass(frozen=True, slots=True)
class State:
    """How far a dump was read, and what came of it. `runs` are the folders that hold it, with the parts of each."""

    languages: list[str]
    place: Place = field(default_factory=Place)
    intake: Intake = field(default_factory=Intake)
    runs: dict[str, int] = field(default_factory=dict)
    whole: bool = False  # is the dump read to its end?
    version: str = VERSION


class BuildingFolder:
    """The folder, held by this process while the `with` block lasts; `state` is where the last build left off.

    Each run writes into a folder of its own, `run`: a process that outlives a killed run does no harm to the next.
    Raises `JobHeldError` where another process holds the folder, `StoreError` where it cannot be written.
    """

    def __init__(self, out: Path, languages: Iterable[str]) -> None:
        self.path = out.with_name(f"{out.name}.building")
        self.run = self.path / f"run-{token_hex(8)}"
        self.state = self._fresh = State(sorted(set(languages)))
        self._lock = FileLock(self.path / _LOCK, timeout=0)

    def __enter__(self) -> Self:
        with store_faults(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            self._acquire()
            self.state = self._load()
            self._remove_stale()
            self.run.mkdir()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def save(self, place: Place, intake: Intake, parts: int, whole: bool = False) -> None:
        """From here on a killed build goes on: `parts` parts of this run are sealed."""
        runs = {**self.state.runs, self.run.name: parts}
        self._save(replace(self.state, place=place, intake=deepcopy(intake), runs=runs, whole=whole))

    def clear(self) -> None:
        """Forgets all that was read."""
        self._save(self._fresh)

    def files(self, table: str) -> list[Path]:
        """The sealed files of a table."""
        return [file for run, parts in self.state.runs.items() for file in part_files(self.path / run, table, parts)]

    def remove(self) -> None:
        """Removes the folder with all that is in it."""
        with store_faults(self.path):
            shutil.rmtree(self.path)

    def _acquire(self) -> None:
        try:
            self._lock.acquire()
        except Timeout:
            raise JobHeldError(f"{self.path}: another process is building this snapshot; it is left to it") from None

    def _load(self) -> State:
        """The state that was saved, where it is of this version and for the same languages."""
        try:
            state = msgspec.json.decode((self.path / _STATE).read_bytes(), type=State)
        except (FileNotFoundError, msgspec.DecodeError):
            return self._fresh
        same = (state.version, state.languages) == (VERSION, self._fresh.languages)
        return state if same else self._fresh

    def _save(self, state: State) -> None:
        with replacing(self.path / _STATE) as temporary:
            temporary.write_bytes(msgspec.json.encode(state))
        self.state = state

    def _remove_stale(self) -> None:
        """What a killed run has left unfinished."""
        for path in self.path.iterdir():
            if path.is_dir() and path.name not in self.state.runs:
                shutil.rmtree(path, ignore_errors=True)
            elif path.suffix == ".tmp":
                path.unlink(missing_ok=True)
