"""A culture pack: one versioned folder with what the catalogue lacks.

`pack.toml` has its name and version. Beside it stand topics, languages, countries and regions in the form of the
built-in files; `gold/` has texts with their mentions marked, and `reviews/` the sheets of those who judged the prompts.
A single language or topic needs no folder: its file is a pack without a version.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from polyculture.cache.validation import ClosedModel

PACK, GOLD, REVIEWS = "pack.toml", "gold", "reviews"


class PackFile(ClosedModel):
    """What `pack.toml` holds."""

    name: str = Field(min_length=1)
    version: str = Field(min_length=1)


class Pack(BaseModel):
    """A pack that was read. `sha256` is of its files, names and contents: an edit without a new version shows."""

    model_config = ConfigDict(frozen=True)

    folder: Path  # or the file, of a pack that is one
    name: str  # the folder's or the file's, where there is no pack.toml
    version: str | None
    sha256: str

    @property
    def told(self) -> dict[str, str]:
        """What a run's manifest says of it: not where it was."""
        return {"name": self.name, "version": self.version or "none", "sha256": self.sha256}


def pack_sha256(folder: Path) -> str:
    """The SHA-256 of a folder's files, hidden ones aside: each with its path, length and bytes; or that of a file."""
    if folder.is_file():
        return hashlib.sha256(folder.read_bytes()).hexdigest()
    found = hashlib.sha256()
    places = (file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    for place in sorted(path.as_posix() for path in places if not any(part.startswith(".") for part in path.parts)):
        data = (folder / place).read_bytes()
        found.update(f"{place}\0{len(data)}\0".encode() + data)
    return found.hexdigest()
