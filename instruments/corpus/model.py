"""From counts to log-probabilities of an entity's tokens, each given at most three tokens before it.

Unsmoothed: the share of the longest history's places at which the token follows; zero where it never does, or where
the history itself is not in the corpus. Smoothed: interpolated Witten-Bell, in which a history h that was followed F(h)
times by T(h) different tokens gives T(h) of F(h) + T(h) parts to what the history without its first token says; below
single tokens stands one over the number of different tokens and one more, for all that are not in the corpus.

Sources: Witten and Bell 1991, IEEE Trans. Inf. Theory 37, 1085; Chen and Goodman 1998, TR-10-98, section 2.3. The tests
compare it with NLTK's, and check that its probabilities of all tokens add up to one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyculture.instruments.corpus.gaps import BITS, ORDER, EntityInContext, Keys, Needed, grams_of

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class NgramModel:
    """The counts of a corpus: per needed key how often it stands there, how often a token follows, how many different.

    The key 0 has the number of tokens, and of different ones.
    """

    needed: Needed
    counts: Counts
    followed: Counts
    different: Counts

    def unsmoothed(self, pair: EntityInContext) -> Numbers:
        """The log-probability of each token of the entity, -inf where the corpus does not have it."""
        grams = grams_of(self.needed.words, pair)
        longest = (grams > 0).sum(axis=0) - 1
        keys = np.take_along_axis(grams, longest[None, :], axis=0)[0]
        counts, followed = self.counts[self._at(keys)], self.followed[self._at(keys >> BITS)]
        with np.errstate(divide="ignore"):
            logarithms: Numbers = np.log(counts / np.maximum(followed, 1))
        return logarithms

    def witten_bell(self, pair: EntityInContext) -> Numbers:
        """The log-probability of each token of the entity, interpolated over all orders."""
        grams = grams_of(self.needed.words, pair)
        probability = np.full(grams.shape[1], 1 / (self.different[0] + 1))
        for keys in grams[:ORDER]:
            there = keys > 0
            history = self._at(keys >> BITS)
            parts, different = self.followed[history] + self.different[history], self.different[history]
            own = (self.counts[self._at(keys)] + different * probability) / np.maximum(parts, 1)
            probability = np.where(there & (parts > 0), own, probability)
        logarithms: Numbers = np.log(probability)
        return logarithms

    def _at(self, keys: Keys) -> NDArray[np.intp]:
        return np.searchsorted(self.needed.keys, keys)
