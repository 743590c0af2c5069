"""The interface between linking and a source of Wikidata: a local index or the live service.

A source provides the tables of `sql/snapshot.sql` as `wikidata.*` in a DuckDB connection. Linking does the same with
every source, so that two sources over the same items give the same links, row for row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import duckdb

from polyculture.cache.outcome import Progress


class Source(Protocol):
    """Provides names, classes and countries."""

    @property
    def identity(self) -> str:
        """A hash of all that decides the source's answers."""
        ...

    @property
    def provenance(self) -> Mapping[str, Any]:
        """The description of the source in the manifest."""
        ...

    @property
    def languages(self) -> frozenset[str]:
        """The Wikidata label languages whose names it has."""
        ...

    @property
    def complete(self) -> bool:
        """Does it hold every name of every item? Fuzzy matching needs all names of a kind, and of other items."""
        ...

    @property
    def loose_names(self) -> str | None:
        """The version of its table `loose_names` (`link/name_forms.py`); None where it has none."""
        ...

    @property
    def scopes(self) -> Mapping[str, int]:
        """The scopes of which it keeps what reaches them (`link/index/kept_scopes.py`): its number of each by rules."""
        ...

    @property
    def queried_by_name(self) -> bool:
        """Is each name a request? Then the source fills `api_hits` (`sql/api_hits.sql`) with the items by lookup."""
        ...

    def opened(self, connection: duckdb.DuckDBPyConnection) -> AbstractContextManager[None]:
        """Creates the tables of `wikidata`, filled or still empty; closes what it opened at the end."""
        ...

    def find(self, connection: duckdb.DuckDBPyConnection, progress: Progress) -> None:
        """Loads every item that a surface may name, with all classes above it.

        The connection holds the surfaces in `lookups`, `chain` and `keys`, and the wanted classes in `scopes`.
        """
        ...

    def fetch(self, connection: duckdb.DuckDBPyConnection, items: Sequence[int]) -> None:
        """Loads these items into the tables."""
        ...
