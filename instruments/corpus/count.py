"""Counts the needed n-grams in one pass over a corpus.

An n-gram is looked up only where the one without its last token was found, so that most tokens take one look-up.
Memory holds a block and the needed n-grams. Each of several processes takes every N-th block; the counts do not depend
on their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from polyculture.cache.errors import StoreError
from polyculture.collect.mining.corpus import Block, BrokenFileError, CorpusFile, NoText, blocks, texts_of
from polyculture.collect.mining.shares import BytesRead, in_shares
from polyculture.instruments.corpus.model import BITS, ORDER, NeededNgrams, NgramKeys, NgramModel
from polyculture.instruments.corpus.tokens import PIECE, HashedTokens, Hashes, cut, mixed, pieces
from polyculture.metrics.inference.arrays import Integers

_SIEVE = 22  # bits of a hash in the first look-up


@dataclass(slots=True)
class CorpusSize:
    """How much text was read."""

    texts: int = 0
    bytes: int = 0
    tokens: int = 0
    broken: int = 0  # lines or rows that hold no text

    def __add__(self, other: CorpusSize) -> CorpusSize:
        return CorpusSize(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


@dataclass(slots=True)
class PartialCounts:
    """The counts of one process."""

    counts: Integers
    followed: Integers
    intake: CorpusSize = field(default_factory=CorpusSize)


class _SortedValues:
    """Sorted values, with a fast filter for most others."""

    def __init__(self, values: NgramKeys, hashes: Hashes) -> None:
        self._values = values
        self._sieve = np.zeros(1 << _SIEVE, np.bool_)
        self._sieve[hashes >> np.uint64(64 - _SIEVE)] = True

    def find(self, values: NgramKeys, hashes: Hashes) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Which of the values are known, and their places."""
        maybe = np.flatnonzero(self._sieve[hashes >> np.uint64(64 - _SIEVE)])
        places = np.minimum(np.searchsorted(self._values, values[maybe]), len(self._values) - 1)
        found = self._values[places] == values[maybe]
        return maybe[found], places[found]


class Counter:
    """Counts needed n-grams in texts."""

    def __init__(self, needed: NeededNgrams) -> None:
        self._words = _SortedValues(needed.words, needed.words)
        self._keys = _SortedValues(needed.keys, mixed(needed.keys))
        self._followed = needed.followed
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

    def _add(self, tokens: HashedTokens) -> None:
        share, size = self.share, len(tokens.hashes)
        share.intake.tokens += size
        share.counts[0] += size
        share.followed[0] += size
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
            _count(share.followed, places[self._followed[places] & (places > 0)])
            following = numbers[at + order]
            at, keys = at[following > 0], (keys << BITS | following)[following > 0]


def count(
    files: Sequence[CorpusFile],
    needed: NeededNgrams,
    processes: int = 1,
    progress: BytesRead = lambda _read: None,
) -> tuple[NgramModel, CorpusSize]:
    """Counts a corpus.

    Raises `StoreError` where a file cannot be read to its end or holds no text, `IncompleteError` where a process of
    ours was killed.
    """
    shares = list(in_shares(_CountShare(files, needed), processes, progress))
    intake = sum((share.intake for share in shares), CorpusSize())
    if not intake.tokens:
        remedy = "Give JSON lines, plain text or Parquet, and the field of the text with --text-field."
        raise StoreError("there is no text in the corpus", where=files[0].path, remedy=remedy)
    counts, followed = sum(share.counts for share in shares), sum(share.followed for share in shares)
    return NgramModel(needed, np.asarray(counts), np.asarray(followed)), intake


@dataclass(frozen=True)
class _CountShare:
    """What one process counts."""

    files: Sequence[CorpusFile]
    needed: NeededNgrams

    def __call__(self, number: int, shares: int, report: BytesRead) -> PartialCounts:
        counter, read = Counter(self.needed), 0
        for place, file in enumerate(self.files):
            try:
                for block in blocks(file, (number - place) % shares, shares):
                    counter.take(file, block)
                    read += block.read
                    report(read)
            except (OSError, BrokenFileError, pa.ArrowException) as fault:
                remedy = "Repair the file or leave it out: its readable part would count as the whole."
                raise StoreError(f"cannot be read to its end: {fault}", where=file.path, remedy=remedy) from fault
        return counter.share


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


def _count(counts: Integers, places: NDArray[np.intp]) -> None:
    """Adds one at each place; a place may be named more than once."""
    if len(places):
        ordered = np.sort(places)
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        counts[ordered[starts]] += np.diff(np.r_[starts, len(ordered)])
