"""From counts to log-probabilities of an entity's tokens, each given at most three tokens before it.

A token's probability is the share of the longest history's places at which it follows: zero where it never does, or
where the history itself is not in the corpus. There is no smoothing, as in CAMeL (Naous et al. 2024, section 5). The
tests compare the probabilities with NLTK's.

Only the n-grams that the likelihoods of entities in contexts need are counted.

A token that is needed has a number below 2^16, and an n-gram is one 64-bit key: the numbers of its tokens, the last one
in the lowest 16 bits. A key without its last token (`key >> 16`) is its history; without its first token, its
back-off n-gram. The key 0 is the n-gram of no tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyculture.cache.errors import DataSetError
from polyculture.instruments.corpus.tokens import Hashes, begins_with_word, cut_each, word_at_end
from polyculture.metrics.inference.arrays import Floats, Integers

ORDER = 4  # of the longest n-gram, the one of the paper; keys have room for no more
BITS = np.uint64(16)
TOKENS = (1 << 16) - 1  # different ones that may be needed
NgramKeys = NDArray[np.uint64]


class EntityInContext(NamedTuple):
    """An entity in a context: its history, and its tokens."""

    history: Hashes  # at most ORDER - 1 tokens
    tokens: Hashes
    merged: bool  # its first token holds the end of the context


@dataclass(frozen=True, slots=True)
class NeededNgrams:
    """The needed tokens and n-grams."""

    words: Hashes  # sorted; the number of a token is its place, from 1
    keys: NgramKeys  # sorted, with every key its histories; the first is 0
    followed: NDArray[np.bool_]  # of each key: it is a history, and what follows it matters


def pairs_of(prefix: str, entities: Sequence[str]) -> list[EntityInContext]:
    """The entities behind a prefix; where it ends inside a word, one that goes on with it takes that part over."""
    part = word_at_end(prefix)
    joined = [bool(part) and begins_with_word(entity) for entity in entities]
    texts = [part + entity if joins else entity for entity, joins in zip(entities, joined, strict=True)]
    open_end, closed_end = (tokens[-(ORDER - 1) :] for tokens in cut_each([prefix, prefix[: len(prefix) - len(part)]]))
    return [
        EntityInContext(closed_end if joins else open_end, tokens, joins)
        for tokens, joins in zip(cut_each(texts), joined, strict=True)
    ]


def needed_by(pairs: Sequence[EntityInContext]) -> NeededNgrams:
    """The n-grams that all pairs need. Raises `DataSetError` where these are too many for one pass."""
    hashes = np.concatenate([np.empty(0, np.uint64), *(part for pair in pairs for part in pair[:2])])
    words = np.unique(hashes)
    if len(words) > TOKENS:
        what = f"contexts and entities have {len(words):,} different tokens; at most {TOKENS:,} are counted at a time"
        raise DataSetError(what, remedy="Ask for a part of them: --type, --contexts, --entities.")
    keys = np.unique(np.concatenate([np.zeros(1, np.uint64), *(grams.ravel() for grams in _all_grams(words, pairs))]))
    histories = np.unique(keys[1:] >> BITS)
    while len(missing := np.setdiff1d(histories, keys)):
        keys = np.union1d(keys, missing)
        histories = np.union1d(histories, missing >> BITS)
    return NeededNgrams(words, keys, np.isin(keys, histories))


def grams_of(words: Hashes, pair: EntityInContext) -> NgramKeys:
    """The keys of a pair: a row per order from 1, a column per token of the entity; 0 where too little is before."""
    numbers = (np.searchsorted(words, np.concatenate(pair[:2])) + 1).astype(np.uint64)
    before, size = len(pair.history), len(pair.tokens)
    grams = np.zeros((ORDER, size), np.uint64)
    keys = np.zeros(size, np.uint64)
    for back in range(ORDER):
        first = max(back - before, 0)  # tokens of the entity before which there is not enough
        shifted = numbers[before - back + first : before - back + size] << (BITS * np.uint64(back))
        keys[first:] |= shifted
        grams[back, first:] = keys[first:]
    return grams


def _all_grams(words: Hashes, pairs: Sequence[EntityInContext]) -> Iterator[NgramKeys]:
    batch: list[NgramKeys] = []
    for pair in pairs:
        batch.append(grams_of(words, pair).ravel())
        if len(batch) == 10_000:
            yield np.unique(np.concatenate(batch))
            batch = []
    yield np.unique(np.concatenate([np.empty(0, np.uint64), *batch]))


@dataclass(frozen=True, slots=True)
class NgramModel:
    """The counts of a corpus: for each needed key how often it occurs, and how often a token follows it.

    The key 0 has the number of tokens.
    """

    needed: NeededNgrams
    counts: Integers
    followed: Integers

    def log_probabilities(self, pair: EntityInContext) -> Floats:
        """The log-probability of each token of the entity, -inf where the corpus does not have it."""
        grams = grams_of(self.needed.words, pair)
        longest = (grams > 0).sum(axis=0) - 1
        keys = np.take_along_axis(grams, longest[None, :], axis=0)[0]
        counts, followed = self.counts[self._at(keys)], self.followed[self._at(keys >> BITS)]
        with np.errstate(divide="ignore"):
            logarithms: Floats = np.log(counts / np.maximum(followed, 1))
        return logarithms

    def _at(self, keys: NgramKeys) -> NDArray[np.intp]:
        return np.searchsorted(self.needed.keys, keys)
