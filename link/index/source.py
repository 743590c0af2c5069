"""A snapshot to link with: the file is attached to a connection as `wikidata`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import duckdb

from polyculture.cache.errors import SnapshotError
from polyculture.link.index.snapshot import REBUILD, Snapshot, damage_named


class IndexSource:
    """Links with the snapshot of `open_snapshot`."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.identity = snapshot.identity
        self.languages = snapshot.languages
        self.scopes = snapshot.scopes
        told = {key: value for key, value in snapshot.meta.items() if key != "scopes"}  # of no interest to a reader
        self.provenance: Mapping[str, Any] = {"source": "snapshot", "snapshot": snapshot.path.name, **told}

    @contextmanager
    def opened(self, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """Attaches the snapshot. Raises `SnapshotError` where it cannot be opened, or is damaged where it is read."""
        try:
            connection.execute("ATTACH $path AS wikidata (READ_ONLY)", {"path": str(self.snapshot.path)})
        except duckdb.Error as fault:
            raise SnapshotError(f"cannot be opened: {fault}", where=self.snapshot.path, remedy=REBUILD) from fault
        with damage_named(self.snapshot.path):
            yield
