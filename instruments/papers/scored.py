"""The stored scores of a data set, by what a table of a paper compares within."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import duckdb

from polyculture.cache.sql_file import read_sql
from polyculture.instruments.cbs.averages import Tally, tally
from polyculture.instruments.cbs.score_matrix import score_matrices

QUERIES = Path(__file__).parent / "queries"


class Place(NamedTuple):
    """A model on the contexts of a setting in one language."""

    model: str
    dataset: str
    form: str
    language: str
    culture: str
    setting: str


def places(store: duckdb.DuckDBPyConnection, dataset: str) -> list[tuple[Place, list[str]]]:
    """Where plain contexts are scored, in either reading of the data set, with the types of entities."""
    rows = store.execute(read_sql(QUERIES, "scored_places"), {"dataset": dataset}).fetchall()
    return [(Place(*row), types) for *row, types in rows]


def scored_tallies(
    store: duckdb.DuckDBPyConnection, place: Place, types: Sequence[str], rule: str, *, as_published: bool
) -> list[Tally]:
    """The score of each type of a place under a rule, in one reading of the data set."""
    found = []
    for entity_type in types:
        where = {**place._asdict(), "entity_type": entity_type, "as_published": as_published}
        likelihoods = store.execute(read_sql(QUERIES, "reading_scores"), where).fetchnumpy()
        matrices = score_matrices(likelihoods, [rule])[rule]
        found += [one for matrix in matrices.values() if (one := tally(matrix, entity_type))]
    return found
