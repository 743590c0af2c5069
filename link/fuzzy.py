"""Fuzzy matching, for asks that no exact rule finds any item for: names of the kind's own items, nearly the same.

Names and surfaces are compared in their normal forms by rapidfuzz's ratio: twice the letters in common, in order, out
of all letters of both. Only the names of items that reach the ask's kind are compared, in the ask's languages, and
only those with the same beginning, or the same first letter and the same end. Of these most need no comparison: their
letters differ too much, in whatever order they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from rapidfuzz import fuzz, process

from link.statements import statement

KEPT = 10  # candidates of an ask, the most alike ones
_ROUNDING = 1e-9  # so that no pair which is just alike enough is left out


def match_fuzzily(connection: duckdb.DuckDBPyConnection, threshold: float, strict: float) -> None:
    """Adds to `found` which of `members` asks without any candidate may mean.

    `threshold` is a ratio of 0 to 100, and `strict` the one for persons and for scripts where a letter weighs more.
    """
    # Two texts of which one has a letter more: shorter ones cannot be alike enough.
    shortest = {"shortest": floor(threshold / (2 * (100 - threshold))) + 1}
    connection.execute(statement("fuzzy"))
    connection.execute(statement("missed"), shortest)
    connection.execute(statement("pool"), shortest)
    connection.execute(statement("sought"))
    for name in ("sought", "pool"):
        rows: pa.Table = connection.table(name).to_arrow_table()
        lettered = rows.append_column("letters", letter_sets([str(key) for key in rows.column("key").to_pylist()]))
        connection.from_arrow(lettered).create_view(f"lettered_{name}")
    slack = {"slack": 1 - threshold / 100 + _ROUNDING}
    pairs: pa.Table = connection.sql(statement("pairs"), params=slack).to_arrow_table()
    connection.from_arrow(_alike(pairs, threshold)).create_view("alike")
    connection.execute(statement("fuzzy_found"), {"kept": KEPT, "strict": strict})


def letter_sets(texts: Sequence[str]) -> pa.Array[Any]:
    """Which letters occur in each of the texts, none of them empty: a bit for each of 64 groups of letters."""
    if not texts:
        return pa.array([], pa.uint64())
    codes = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    ends = np.cumsum([len(text) for text in texts])
    bits = np.left_shift(np.uint64(1), (codes % 64).astype(np.uint64))
    return pa.array(np.bitwise_or.reduceat(bits, np.concatenate(([0], ends[:-1]))))


def _alike(pairs: pa.Table, threshold: float) -> pa.Table:
    """The pairs (scope, key, name) that are alike enough, with their score."""
    keys, names = (pairs.column(side).to_pylist() for side in ("key", "name"))
    scores = process.cpdist(keys, names, scorer=fuzz.ratio, score_cutoff=threshold, dtype=np.float32, workers=-1)
    rounded = pa.array([round(float(score), 4) for score in scores], pa.float64())
    return pairs.append_column("score", rounded).filter(pa.array(scores > 0))
