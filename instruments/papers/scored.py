"""The stored scores of a data set, by what a table of a paper compares within."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np

from polyculture.cache.sql_files import read_sql
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


def scored_places(
    store: duckdb.DuckDBPyConnection, choice: Choice, *, as_published: bool
) -> Iterator[tuple[Place, list[ScoredContext]]]:
    """The contexts of each place in one reading of the data set, with the likelihoods of all entities scored there."""
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in choice._asdict().items()}
    values["as_published"] = as_published
    rows = store.execute(read_sql(QUERIES, "ledger_scores"), values)
    size = len(Place._fields)
    for place, own in groupby(_rows(rows), key=lambda row: row[:size]):
        yield (
            Place(*place),
            [_context(place[3], key, list(group)) for key, group in groupby(own, key=lambda row: row[size:-5])],
        )


def _rows(cursor: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while some := cursor.fetchmany(10_000):
        yield from some


def _context(language: str, key: tuple[Any, ...], rows: Sequence[tuple[Any, ...]]) -> ScoredContext:
    entity_type, gender, context_id = key
    sides = ([row for row in rows if row[-4]], [row for row in rows if not row[-4]])
    return ScoredContext(context_id, language, entity_type, gender, *map(_side, sides))


def _side(rows: Sequence[tuple[Any, ...]]) -> Side:
    whole = np.array([row[-3] for row in rows], np.float64)
    tokens = np.array([row[-2] for row in rows], np.float64)
    return Side(tuple(row[-5] for row in rows), {"sum": whole, "mean": whole / tokens}, tuple(row[-1] for row in rows))
