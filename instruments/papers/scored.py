"""The stored scores of a data set, by what a table of a paper compares within."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple

import duckdb
import numpy as np

from polyculture.cache.sql_file import read_sql
from polyculture.instruments.papers.protocol import ScoredContext, Side

QUERIES = Path(__file__).parent / "queries"


class Place(NamedTuple):
    """A model on the contexts of a setting in one language."""

    model: str
    dataset: str
    form: str
    language: str
    culture: str
    setting: str


class Choice(NamedTuple):
    """The scores that are wanted; () and None: all."""

    dataset: str
    model: str | None = None
    languages: Sequence[str] = ()
    cultures: Sequence[str] = ()
    types: Sequence[str] = ()


def places(store: duckdb.DuckDBPyConnection, choice: Choice) -> list[Place]:
    """Where plain contexts are scored, in either reading of the data set."""
    rows = store.execute(read_sql(QUERIES, "scored_places"), _values(choice))
    return [Place(*row) for row in rows.fetchall()]


def scored_contexts(
    store: duckdb.DuckDBPyConnection, place: Place, choice: Choice, *, as_published: bool
) -> list[ScoredContext]:
    """The contexts of a place in one reading of the data set, with the likelihoods of all entities scored there."""
    where = {**place._asdict(), "types": list(choice.types), "as_published": as_published}
    rows = _rows(store.execute(read_sql(QUERIES, "ledger_scores"), where))
    return [_context(place.language, key, list(group)) for key, group in groupby(rows, key=lambda row: row[:4])]


def _values(choice: Choice) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in choice._asdict().items()}


def _rows(cursor: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while some := cursor.fetchmany(10_000):
        yield from some


def _context(language: str, key: tuple[Any, ...], rows: Sequence[tuple[Any, ...]]) -> ScoredContext:
    entity_type, gender, context_id, source = key
    native, western = (_side([row for row in rows if bool(row[-4]) is side]) for side in (True, False))
    return ScoredContext(context_id, language, entity_type, gender, native, western, source)


def _side(rows: Sequence[tuple[Any, ...]]) -> Side:
    whole = np.array([row[-3] for row in rows], np.float64)
    tokens = np.array([row[-2] for row in rows], np.float64)
    ids = tuple(intern(row[-5]) for row in rows)  # each stands in many contexts
    return Side(ids, {"sum": whole, "mean": whole / tokens}, tuple(row[-1] for row in rows))
