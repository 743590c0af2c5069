"""The files of a starter, and what identifies the snapshot that is built of them."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.identity import content_id, file_sha256
from polyculture.cache.text.inflection import inflections
from polyculture.link.index.snapshot import VERSION

STARTER = Path(__file__).with_name("starter")
MADE = ("items.parquet", "names.parquet", "claims.parquet")  # the part that was made from a snapshot
JOINED = 2  # version of how the two parts are put together


def starter_identity(folder: Path = STARTER) -> str:
    """A hash of the starter's files, of the snapshot's version, of the rules of keys, and of how they become one."""
    files = sorted([*folder.glob("*.toml"), *(folder / name for name in MADE if (folder / name).is_file())])
    return content_id(VERSION, JOINED, inflections(), [(file.name, file_sha256(file)) for file in files])
