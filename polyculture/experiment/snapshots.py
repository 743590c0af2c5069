"""The Wikidata snapshot that an experiment names: a file, the bundled starter, or the folder of another one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.cache.catalog import read_catalog
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
    """The snapshot of a starter's folder, from the cache or built there.

    It is built again where another version of Polyculture built it by other rules: its content is the same, and the
    keys and members that a command would have to make anew each time are then kept.
    """
    from polyculture.link.index.snapshot import open_snapshot
    from polyculture.link.index.starter_files import starter_identity

    path = cache_folder() / f"starter-{starter_identity(folder)}.duckdb"
    try:
        found = open_snapshot(path)
    except SnapshotError:
        found = None
    if found is not None and _is_of_today(found):
        return found
    from polyculture.link.index.starter import write_starter  # here: it is written once, and opened each time

    return write_starter(path, folder)


def _is_of_today(snapshot: Snapshot) -> bool:
    """Whether its keys, and the members of the built-in topics' kinds, were made by the rules of this version."""
    from polyculture.link.ontology import scopes_of

    catalog = read_catalog()
    scopes = scopes_of(catalog, catalog.topics).values()
    return not snapshot.changed_keys and all(scope.rules in snapshot.scopes for scope in scopes)
