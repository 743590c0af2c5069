"""How many different values each group has, over more pairs than memory holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from polyculture.cache.database import connect
from polyculture.cache.files import store_faults

HELD = 1 << 23  # pairs in memory: 64 MB
_GROUP_BITS = np.uint64(24)
_VALUE_BITS = np.uint64(64) - _GROUP_BITS
GROUPS = 1 << 24
_COUNTED = """
SELECT pair >> 40 AS number, count(*) AS different
FROM (SELECT DISTINCT pair FROM read_parquet($files))
GROUP BY number
"""
Hashes = NDArray[np.uint64]


class Distinct:
    """Pairs of a group below 2^24 and the hash of a value, of which 40 bits are kept.

    Among ten million values of one group some 50 collide. `folder` holds data that exceed memory.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known, self._held = np.empty(0, np.uint64), 0
        self._new: list[Hashes] = []
        self._parts = 0

    def add(self, groups: NDArray[np.int64], values: Hashes) -> None:
        """Adds pairs; those in memory are sorted when they have grown."""
        pairs = (groups.astype(np.uint64) << _VALUE_BITS) | (values >> _GROUP_BITS)
        self._new.append(pairs)
        self._held += len(pairs)
        if self._held >= HELD:
            self._merge()

    def spill(self) -> None:
        """Writes the data in memory to the folder. Raises `StoreError` where that is not possible."""
        self._merge()
        if not len(self._known):
            return
        path = self._folder / f"pairs-{self._parts:05d}.parquet"
        with store_faults(path):
            pq.write_table(pa.table([pa.array(self._known)], names=["pair"]), path, compression="zstd")
        self._parts += 1
        self._known = np.empty(0, np.uint64)

    def _merge(self) -> None:
        self._known = different(np.concatenate([self._known, *self._new]))
        self._new, self._held = [], 0
        if len(self._known) >= HELD:
            self.spill()


def different(values: Hashes) -> Hashes:
    """The different ones of many values, sorted: `numpy.unique` takes ten times as long, since it hashes them."""
    values.sort()
    first = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return values[first]


def count_distinct(folder: Path, groups: int) -> NDArray[np.int64]:
    """How many different values each of the groups has, over all that was spilt below a folder."""
    files = [str(path) for path in sorted(folder.rglob("pairs-*.parquet"))]
    found = np.zeros(groups, np.int64)
    if files:
        with connect(memory="512MB", spill=folder / "duckdb") as connection:
            rows = connection.execute(_COUNTED, {"files": files}).fetchnumpy()
        found[np.asarray(rows["number"], np.int64)] = np.asarray(rows["different"], np.int64)
    return found
