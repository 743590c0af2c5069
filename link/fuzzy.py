"""Fuzzy matching, for asks that no exact rule finds any item for: names of the kind's own items, nearly the same.

Names and surfaces are compared in their normal forms by rapidfuzz's ratio: twice the letters in common, in order, out
of all letters of both. Only the names of items that reach the ask's kind are compared, in the ask's languages, and
only those with the same beginning, or the same first letter and the same end: nearly all comparisons are saved.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import floor
from operator import itemgetter

import duckdb
import numpy as np
import pyarrow as pa
from rapidfuzz import fuzz, process

from link.statements import statement

KEPT = 10  # candidates of an ask, the most alike ones
_CELLS = 8_000_000  # of a matrix of scores in memory
_ALONE = 100_000  # cells up to which threads cost more than they save

Ask = tuple[int, str]  # number and normal form
Hit = tuple[int, str, float]  # ask, normal form of a name, score


def match_fuzzily(connection: duckdb.DuckDBPyConnection, threshold: float, strict: float) -> None:
    """Adds to `found` which of `members` asks without any candidate may mean.

    `threshold` is a ratio of 0 to 100, and `strict` the one for persons and for scripts where a letter weighs more.
    """
    # Two texts of which one has a letter more: shorter ones cannot be alike enough.
    shortest = {"shortest": floor(threshold / (2 * (100 - threshold))) + 1}
    connection.execute(statement("fuzzy"))
    connection.execute(statement("missed"), shortest)
    connection.execute(statement("pool"), shortest)
    asks = connection.execute("SELECT block, ask, key FROM missed ORDER BY block, length(key), key, ask").fetchall()
    names = connection.execute("SELECT block, key FROM pool ORDER BY block, length(key), key").fetchall()
    pools = {block: [name for _, name in rows] for block, rows in groupby(names, key=itemgetter(0))}
    hits = [
        hit
        for block, rows in groupby(asks, key=itemgetter(0))
        if block in pools
        for hit in _compare([(ask, key) for _, ask, key in rows], pools[block], threshold)
    ]
    if hits:
        columns = zip(("ask", "key", "score"), zip(*hits, strict=True), strict=True)
        connection.from_arrow(pa.table({name: list(column) for name, column in columns})).insert_into("alike")
    connection.execute(statement("fuzzy_found"), {"kept": KEPT, "strict": strict})


def _compare(asks: Sequence[Ask], names: Sequence[str], threshold: float) -> Iterator[Hit]:
    """The names that are alike enough. Both sides come sorted by length."""
    lengths = [len(name) for name in names]
    step = max(1, _CELLS // len(names))
    # The ratio of two texts is at most that of the shorter within the longer.
    reach = threshold / (200 - threshold)
    for start in range(0, len(asks), step):
        some = asks[start : start + step]
        low = bisect_left(lengths, len(some[0][1]) * reach)
        high = bisect_right(lengths, len(some[-1][1]) / reach)
        scores = process.cdist(
            [key for _, key in some],
            names[low:high],
            scorer=fuzz.ratio,
            score_cutoff=threshold,
            dtype=np.float32,
            workers=-1 if len(some) * (high - low) > _ALONE else 1,
        )
        for row, column in zip(*np.nonzero(scores), strict=True):
            yield some[row][0], names[low + column], round(float(scores[row, column]), 4)
