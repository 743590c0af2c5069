"""Fuzzy matching, for queries without any candidate: names of the kind's items within a small edit distance.

Normal forms are compared by rapidfuzz's ratio: twice the length of the longest common subsequence over the length of
both. Only names of items that reach the query's kind are compared, in the query's languages, and only those with the
same beginning, or the same first letter and the same ending. Most of these pairs are excluded by their letter sets
before the ratio is computed. A pair above the threshold must also be equal word by word up to typos.
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
from polyculture.link.typos import near_identical, plainly_a_slip, same_words_up_to_typos

KEPT = 10  # candidates of a query, the most similar ones
_BITS = np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64))
_ROUNDING = 1e-9  # keeps pairs exactly at the threshold


def match_fuzzily(connection: duckdb.DuckDBPyConnection, threshold: float, plain: float, strict: float) -> None:
    """Adds to `found` the items of the topics that queries without any candidate match fuzzily.

    `threshold` is a ratio of 0 to 100. Below `plain` the two must be near-identical. `strict` is the threshold for
    persons, and for scripts where a letter carries more information.
    """
    # The shortest pair above the threshold: two texts of which one has one letter more.
    shortest = {"shortest": floor(threshold / (2 * (100 - threshold))) + 1}
    connection.execute(statement("fuzzy_macros"))
    connection.execute(statement("fuzzy_queries"), shortest)
    connection.execute(statement("near_names"), shortest)
    connection.execute(statement("fuzzy_names"))
    connection.execute(statement("fuzzy_keys"))
    connection.from_arrow(_with_letters(connection.table("fuzzy_keys"))).create_view("lettered_keys")
    connection.from_arrow(_with_letters(connection.table("fuzzy_names"))).create_view("lettered_names")
    slack = {"slack": 1 - threshold / 100 + _ROUNDING}
    pairs: pa.Table = connection.sql(statement("fuzzy_pairs"), params=slack).to_arrow_table()
    connection.from_arrow(_similar(pairs, threshold, plain)).create_view("fuzzy_matches")
    connection.execute(statement("fuzzy_candidates"), {"kept": KEPT, "strict": strict})


def _with_letters(keys: duckdb.DuckDBPyRelation) -> pa.Table:
    rows: pa.Table = keys.to_arrow_table()
    return rows.append_column("letters", letter_sets(rows.column("key").combine_chunks()))


def letter_sets(texts: pa.Array[Any]) -> pa.Array[Any]:
    """The letters of each text (none of them empty) as 64 bits, a bit for each of 64 groups of letters."""
    if not len(texts):
        return pa.array([], pa.uint64())
    together = pa.ListArray.from_arrays(pa.array([0, len(texts)], pa.int32()), texts)
    (text,) = pc.binary_join(together, "").to_pylist()  # type: ignore[union-attr]
    codes = np.frombuffer(str(text).encode("utf-32-le"), np.uint32)
    ends = np.cumsum(pc.utf8_length(texts).to_numpy())  # type: ignore[call-overload]
    return pa.array(np.bitwise_or.reduceat(_BITS[codes % len(_BITS)], np.concatenate(([0], ends[:-1]))))


def _similar(pairs: pa.Table, threshold: float, plain: float) -> pa.Table:
    """The pairs (scope, key, name) that differ only by typos, with their score, and whether they are near-identical."""
    keys, names = (pairs.column(side).to_pylist() for side in ("key", "name"))
    scores = process.cpdist(keys, names, scorer=fuzz.ratio, score_cutoff=threshold, dtype=np.float32, workers=-1)
    similar = scores > 0  # few pairs
    near = np.zeros(len(scores), bool)
    for at in np.flatnonzero(similar):
        key, name = str(keys[at]), str(names[at])
        near[at] = near_identical(key, name)
        similar[at] = same_words_up_to_typos(key, name) and (near[at] or plainly_a_slip(key, name, plain))
    rounded = pa.array([round(float(score), 4) for score in scores[similar]], pa.float64())
    typos = pairs.filter(pa.array(similar)).append_column("score", rounded)
    return typos.append_column("near_identical", pa.array(near[similar]))
