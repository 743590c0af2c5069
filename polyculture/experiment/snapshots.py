"""The Wikidata snapshot that an experiment names: a file, the bundled starter, or the folder of another one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.cache.errors import SnapshotError
from polyculture.cache.files import cache_folder

if TYPE_CHECKING:
    from polyculture.link.index.snapshot import Snapshot

STARTER = "starter"


def find_snapshot(name: str, beside: Path) -> Snapshot:
    """The snapshot `name`: "starter", or a path, relative to the folder `beside` where it is not absolute.

    The path is a file, or the folder of a starter. A starter is built once and kept in the user's cache folder. Raises
    `SnapshotError` where there is no snapshot.
    """
    from polyculture.link.index.snapshot import open_snapshot

    if name == STARTER:
        from polyculture.link.index.starter_files import STARTER as FILES  # here: most commands open no snapshot

        return _built(FILES)
    if not name:
        raise SnapshotError("no snapshot is named", remedy=f"Name a file, or {STARTER}.")
    path = beside / name
    return _built(path) if path.is_dir() else open_snapshot(path)


def _built(folder: Path) -> Snapshot:
    """The snapshot of a starter's folder, from the cache or built there."""
    from polyculture.link.index.snapshot import open_snapshot
    from polyculture.link.index.starter_files import starter_identity

    path = cache_folder() / f"starter-{starter_identity(folder)}.duckdb"
    try:
        return open_snapshot(path)
    except SnapshotError:
        from polyculture.link.index.starter import write_starter  # here: it is written once, and opened each time

        return write_starter(path, folder)
