"""The seam between linking and where Wikidata is read from: a local index, or the live service.

A source makes the tables of `sql/snapshot.sql` visible as `wikidata.*` in a DuckDB connection. What is done with them
is the same for every source, so that two sources over the same items give the same links, row for row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import duckdb

from polyculture.cache.outcome import Progress


class Source(Protocol):
    """Where names, classes and countries come from."""

    @property
    def identity(self) -> str:
        """A hash of all that decides what the source answers."""
        ...

    @property
    def provenance(self) -> Mapping[str, Any]:
        """What the manifest says of the source."""
        ...

    @property
    def languages(self) -> frozenset[str]:
        """The Wikidata label languages whose names it has."""
        ...

    @property
    def complete(self) -> bool:
        """Does it hold every name of every item? Fuzzy matching needs all of a kind's, and what else bears the name."""
        ...

    @property
    def searched(self) -> bool:
        """Has it to be asked name by name? Then it fills `heard` (`sql/heard.sql`): what it found for which."""
        ...

    def opened(self, connection: duckdb.DuckDBPyConnection) -> AbstractContextManager[None]:
        """Creates the tables of `wikidata`, with all there is or still empty; what it opens is closed at the end."""
        ...

    def find(self, connection: duckdb.DuckDBPyConnection, progress: Progress) -> None:
        """Sees to it that every item which a surface may name is there, with all classes above it.

        The connection holds the surfaces in `lookups`, `chain` and `keys`, and the classes sought in `scopes`.
        """
        ...

    def fetch(self, connection: duckdb.DuckDBPyConnection, items: Sequence[int]) -> None:
        """Sees to it that these items are in the tables."""
        ...
