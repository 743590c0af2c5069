"""The Wikidata snapshot that an experiment names: a file, or the bundled starter snapshot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.cache.cache_dir import cache_folder
from polyculture.cache.errors import SnapshotError

if TYPE_CHECKING:
    from polyculture.link.index.snapshot import Snapshot

STARTER = "starter"


def find_snapshot(name: str, beside: Path) -> Snapshot:
    """The snapshot `name`: "starter", or a path, relative to the folder `beside` where it is not absolute.

    The starter snapshot is built once and kept in the user's cache folder. Raises `SnapshotError` where the file is
    missing or not a snapshot.
    """
    from polyculture.link.index.snapshot import open_snapshot
    from polyculture.link.index.starter import starter_identity, write_starter

    if name != STARTER:
        return open_snapshot(beside / name)
    path = cache_folder() / f"starter-{starter_identity()}.duckdb"
    try:
        return open_snapshot(path)
    except SnapshotError:
        return write_starter(path)
