"""Counts the needed n-grams in one pass over a corpus.

An n-gram is looked up only where the one without its last token was found, so that most tokens take one look-up.
Memory holds a block and the needed n-grams; the different words that follow a history go to disk. Each of several
processes takes every N-th block; the counts do not depend on their number.

How many different values each group has, over more pairs than memory holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from polyculture.cache.database import connect
from polyculture.cache.errors import DataSetError, StoreError
from polyculture.cache.files import store_faults
from polyculture.collect.mining.corpus import Block, BrokenStreamError, CorpusFile, NoText, blocks, texts_of
from polyculture.collect.mining.shares import Progress, in_shares
from polyculture.instruments.corpus.model import BITS, ORDER, Counts, Keys, Needed, NgramModel
from polyculture.instruments.corpus.tokens import PIECE, Hashes, Tokens, cut, mixed, pieces

HELD = 1 << 23  # pairs in memory: 64 MB
_GROUP_BITS = np.uint64(24)
_VALUE_BITS = np.uint64(64) - _GROUP_BITS
GROUPS = 1 << 24
_COUNTED = """
SELECT pair >> 40 AS number, count(*) AS different
FROM (SELECT DISTINCT pair FROM read_parquet($files))
GROUP BY number
"""


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


_SIEVE = 22  # bits of a hash in the first look-up


@dataclass(slots=True)
class IngestCounts:
    """How much text was read."""

    texts: int = 0
    bytes: int = 0
    tokens: int = 0
    broken: int = 0  # lines or rows that hold no text

    def __add__(self, other: IngestCounts) -> IngestCounts:
        return IngestCounts(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


@dataclass(slots=True)
class PartialCounts:
    """The counts of one process."""

    counts: Counts
    followed: Counts
    intake: IngestCounts = field(default_factory=IngestCounts)


class _Known:
    """Sorted values, with a fast filter for most others."""

    def __init__(self, values: Keys, hashes: Hashes) -> None:
        self._values = values
        self._sieve = np.zeros(1 << _SIEVE, np.bool_)
        self._sieve[hashes >> np.uint64(64 - _SIEVE)] = True

    def find(self, values: Keys, hashes: Hashes) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Which of the values are known, and their places."""
        maybe = np.flatnonzero(self._sieve[hashes >> np.uint64(64 - _SIEVE)])
        places = np.minimum(np.searchsorted(self._values, values[maybe]), len(self._values) - 1)
        found = self._values[places] == values[maybe]
        return maybe[found], places[found]


class Counter:
    """Counts needed n-grams in texts."""

    def __init__(self, needed: Needed, folder: Path) -> None:
        self._words = _Known(needed.words, needed.words)
        self._keys = _Known(needed.keys, mixed(needed.keys))
        self._group = group_numbers(needed)
        self._distinct = Distinct(folder)
        self.share = PartialCounts(np.zeros(len(needed.keys), np.int64), np.zeros(len(needed.keys), np.int64))

    def take(self, file: CorpusFile, block: Block) -> None:
        """Counts the texts of a block."""
        texts: list[str] = []
        for _, text in texts_of(file, block):
            if isinstance(text, NoText):
                self.share.intake.broken += 1
            else:
                texts.append(text)
                self.share.intake.bytes += len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        self.share.intake.texts += len(texts)
        for text in _together(texts):
            self.add(text)

    def add(self, text: str) -> None:
        """Counts a text of any length."""
        for piece in pieces(text):
            self._add(cut(piece))

    def finish(self) -> PartialCounts:
        """The counts; the words that followed are in the folder."""
        self._distinct.spill()
        return self.share

    def _add(self, tokens: Tokens) -> None:
        share, size = self.share, len(tokens.hashes)
        share.intake.tokens += size
        share.counts[0] += size
        share.followed[0] += size
        self._distinct.add(np.zeros(size, np.int64), tokens.hashes)
        numbers = np.zeros(size, np.uint64)
        at, word = self._words.find(tokens.hashes, tokens.hashes)
        numbers[at] = word.astype(np.uint64) + np.uint64(1)
        keys = numbers[at]
        for order in range(1, ORDER + 1):
            found, places = self._keys.find(keys, mixed(keys))
            at, keys = at[found], keys[found]
            _count(share.counts, places)
            inside = np.flatnonzero(at + order < size)
            inside = inside[tokens.lines[at[inside] + order] == tokens.lines[at[inside]]]
            at, keys, places = at[inside], keys[inside], places[inside]
            self._follow(places, tokens.hashes[at + order])
            following = numbers[at + order]
            at, keys = at[following > 0], (keys << BITS | following)[following > 0]

    def _follow(self, places: NDArray[np.intp], hashes: Hashes) -> None:
        groups = self._group[places]
        history = groups > 0
        _count(self.share.followed, places[history])
        self._distinct.add(groups[history], hashes[history])


def count(
    files: Sequence[CorpusFile],
    needed: Needed,
    folder: Path,
    processes: int = 1,
    progress: Progress = lambda _read: None,
) -> tuple[NgramModel, IngestCounts]:
    """Counts a corpus; `folder` is empty and receives data that exceed memory.

    Raises `StoreError` where a file cannot be read to its end or holds no text, `IncompleteError` where a process of
    ours was killed, `DataSetError` where the needed n-grams are too many for one pass.
    """
    if needed.followed.sum() >= GROUPS:
        what = (
            f"the likelihoods rest on {needed.followed.sum():,} histories; at most {GROUPS - 1:,} are counted at a time"
        )
        raise DataSetError(what, remedy="Ask for a part of them: --type, --contexts, --entities.")
    shares = list(in_shares(_Share(files, needed, folder), processes, progress))
    intake = sum((share.intake for share in shares), IngestCounts())
    if not intake.tokens:
        remedy = "Give JSON lines, plain text or Parquet, and the field of the text with --text-field."
        raise StoreError("there is no text in the corpus", where=files[0].path, remedy=remedy)
    groups = group_numbers(needed)
    different = count_distinct(folder, int(groups.max()) + 1)[groups]
    different[1:][groups[1:] == 0] = 0
    counts, followed = sum(share.counts for share in shares), sum(share.followed for share in shares)
    return NgramModel(needed, np.asarray(counts), np.asarray(followed), different), intake


def group_numbers(needed: Needed) -> NDArray[np.int64]:
    """A number for each history, from 1; 0 for the key 0, and for keys after which nothing matters."""
    numbers = np.zeros(len(needed.keys), np.int64)
    inner = needed.followed[1:]
    numbers[1:][inner] = np.arange(1, int(inner.sum()) + 1)
    return numbers


@dataclass(frozen=True)
class _Share:
    """What one process counts."""

    files: Sequence[CorpusFile]
    needed: Needed
    folder: Path

    def __call__(self, number: int, shares: int, report: Progress) -> PartialCounts:
        own = self.folder / f"share-{number}"
        own.mkdir()
        counter, read = Counter(self.needed, own), 0
        for place, file in enumerate(self.files):
            try:
                for block in blocks(file, (number - place) % shares, shares):
                    counter.take(file, block)
                    read += block.read
                    report(read)
            except (OSError, BrokenStreamError, pa.ArrowException) as fault:
                remedy = "Repair the file or leave it out: its readable part would count as the whole."
                raise StoreError(f"cannot be read to its end: {fault}", where=file.path, remedy=remedy) from fault
        return counter.finish()


def _together(texts: Sequence[str]) -> Iterator[str]:
    """Short texts as lines of longer ones: every call of numpy costs microseconds."""
    held: list[str] = []
    size = 0
    for text in texts:
        if size + len(text) >= PIECE and held:
            yield "\n".join(held)
            held, size = [], 0
        held.append(text)
        size += len(text) + 1
    if held:
        yield "\n".join(held)


def _count(counts: Counts, places: NDArray[np.intp]) -> None:
    """Adds one at each place; a place may be named more than once."""
    if len(places):
        ordered = np.sort(places)
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        counts[ordered[starts]] += np.diff(np.r_[starts, len(ordered)])
