"""Fuzzy matching, for asks that no exact rule finds any item for: names of the kind's own items, nearly the same.

Names and surfaces are compared in their normal forms by rapidfuzz's ratio: twice the letters in common, in order, out
of all letters of both. Only the names of items that reach the ask's kind are compared, in the ask's languages, and
only those with the same beginning, or the same first letter and the same end. Of these most need no comparison: their
letters differ too much, in whatever order they stand. What is alike enough must be a slip of the other, word by word.
"""

from __future__ import annotations

from math import floor
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rapidfuzz import fuzz, process

from polyculture.link.statements import statement
from polyculture.link.typos import hardly_differ, same_words

KEPT = 10  # candidates of an ask, the most alike ones
_BITS = np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64))
_ROUNDING = 1e-9  # so that no pair which is just alike enough is left out


def match_fuzzily(connection: duckdb.DuckDBPyConnection, threshold: float, plain: float, strict: float) -> None:
    """Adds to `found` which of `members` asks without any candidate may mean.

    `threshold` is a ratio of 0 to 100; below `plain` the two must hardly differ; `strict` is the least for persons and
    for scripts where a letter weighs more.
    """
    # Two texts of which one has a letter more: shorter ones cannot be alike enough.
    shortest = {"shortest": floor(threshold / (2 * (100 - threshold))) + 1}
    connection.execute(statement("fuzzy"))
    connection.execute(statement("missed"), shortest)
    connection.execute(statement("pool"), shortest)
    connection.execute(statement("sought"))
    for name in ("sought", "pool"):
        rows: pa.Table = connection.table(name).to_arrow_table()
        lettered = rows.append_column("letters", letter_sets(rows.column("key").combine_chunks()))
        connection.from_arrow(lettered).create_view(f"lettered_{name}")
    slack = {"slack": 1 - threshold / 100 + _ROUNDING}
    pairs: pa.Table = connection.sql(statement("pairs"), params=slack).to_arrow_table()
    connection.from_arrow(_alike(pairs, threshold, plain)).create_view("alike")
    connection.execute(statement("fuzzy_found"), {"kept": KEPT, "strict": strict})


def letter_sets(texts: pa.Array[Any]) -> pa.Array[Any]:
    """Which letters occur in each of the texts, none of them empty: a bit for each of 64 groups of letters."""
    if not len(texts):
        return pa.array([], pa.uint64())
    together = pa.ListArray.from_arrays(pa.array([0, len(texts)], pa.int32()), texts)
    (text,) = pc.binary_join(together, "").to_pylist()  # type: ignore[union-attr]
    codes = np.frombuffer(str(text).encode("utf-32-le"), np.uint32)
    ends = np.cumsum(pc.utf8_length(texts).to_numpy())  # type: ignore[call-overload]
    return pa.array(np.bitwise_or.reduceat(_BITS[codes % len(_BITS)], np.concatenate(([0], ends[:-1]))))


def _alike(pairs: pa.Table, threshold: float, plain: float) -> pa.Table:
    """The pairs (scope, key, name) that differ by slips alone; their score, and whether they hardly differ."""
    keys, names = (pairs.column(side).to_pylist() for side in ("key", "name"))
    scores = process.cpdist(keys, names, scorer=fuzz.ratio, score_cutoff=threshold, dtype=np.float32, workers=-1)
    alike = scores > 0  # few are
    hardly = np.zeros(len(scores), bool)
    for at in np.flatnonzero(alike):
        key, name = str(keys[at]), str(names[at])
        hardly[at] = hardly_differ(key, name)
        alike[at] = same_words(key, name) and (scores[at] >= plain or hardly[at])
    rounded = pa.array([round(float(score), 4) for score in scores[alike]], pa.float64())
    slips = pairs.filter(pa.array(alike)).append_column("score", rounded)
    return slips.append_column("hardly", pa.array(hardly[alike]))
