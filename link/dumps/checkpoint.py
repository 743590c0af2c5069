"""The checkpoint of a build from a dump: a folder with the parts, and the position in the dump.

The folder is `<name>.building` beside the snapshot. A killed build resumes from it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from copy import deepcopy
from pathlib import Path

import msgspec
from msgspec.structs import replace

from polyculture.cache.files import remove_folder, replacing, store_faults
from polyculture.link.dumps.dump import DumpPosition
from polyculture.link.dumps.ingest import IngestCounts
from polyculture.link.index.parts import part_of
from polyculture.link.index.snapshot import VERSION

_STATE = "state.json"


class Checkpoint(msgspec.Struct, frozen=True):
    """How far a dump was read, and with what result: `parts` files of each table."""

    languages: list[str]
    position: DumpPosition = msgspec.field(default_factory=DumpPosition)
    counts: IngestCounts = msgspec.field(default_factory=IngestCounts)
    parts: int = 0
    whole: bool = False  # is the dump read to its end?
    built: bool = False  # is the snapshot in its place? All that is left is to remove the folder, or the rest of it
    version: str = VERSION


class CheckpointFolder:
    """A folder that this process has locked, with the parts in `parts`; `state` is the last checkpoint."""

    def __init__(self, path: Path, languages: Iterable[str]) -> None:
        self.path, self.parts = path, path / "parts"
        self._fresh = Checkpoint(sorted(set(languages)))
        self.state = self._load()
        self._remove_stale()

    def save(self, position: DumpPosition, counts: IngestCounts, parts: int, whole: bool = False) -> None:
        """Writes a checkpoint: `parts` parts are complete."""
        self._save(replace(self.state, position=position, counts=deepcopy(counts), parts=parts, whole=whole))

    def finish(self) -> None:
        """Writes that the snapshot is in its place, and removes the folder with its content, this checkpoint last."""
        self._save(replace(self.state, built=True))
        shutil.rmtree(self.parts, ignore_errors=True)
        self.remove()

    def clear(self) -> None:
        """Discards all progress."""
        self._save(self._fresh)
        self._remove_stale()

    def remove(self) -> None:
        """Removes the folder with its content."""
        with store_faults(self.path):
            remove_folder(self.path)

    def _load(self) -> Checkpoint:
        """The saved checkpoint, if it is of this version and for the same languages; else an empty one."""
        try:
            state = msgspec.json.decode((self.path / _STATE).read_bytes(), type=Checkpoint)
        except (FileNotFoundError, msgspec.DecodeError):
            return self._fresh
        same = (state.version, state.languages) == (VERSION, self._fresh.languages)
        return state if same else self._fresh

    def _save(self, state: Checkpoint) -> None:
        with replacing(self.path / _STATE) as temporary:
            temporary.write_bytes(msgspec.json.encode(state))
        self.state = state

    def _remove_stale(self) -> None:
        """Removes the incomplete parts of killed runs."""
        with store_faults(self.path):
            self.parts.mkdir(exist_ok=True)
            for path in self.parts.iterdir():
                if part_of(path) >= self.state.parts:
                    path.unlink()
