"""Numbers of a model that is only played: true log-probabilities, and vectors, all from hashes."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from polyculture.generate.engines.base import TokenScore

SIZE = 8  # numbers in a vector


@dataclass(frozen=True)
class ByteModel:
    """P(byte | the byte before it): a softmax of weights that are a hash of the model's name and the pair."""

    name: str

    def tokens(self, prefix: str, continuation: str) -> Iterator[TokenScore]:
        """Each character with the sum over its bytes."""
        last = (prefix.encode() or b"\0")[-1]
        for letter in continuation:
            total = 0.0
            for byte in letter.encode():
                total += _row(self.name, last)[byte]
                last = byte
            yield TokenScore(letter, total)


@lru_cache(maxsize=4096)
def _row(name: str, last: int) -> tuple[float, ...]:
    """The log-probabilities of the 256 bytes behind `last`."""
    weights = hashlib.shake_256(f"{name} {last}".encode()).digest(256)
    total = math.log(math.fsum(math.exp(weight / 64) for weight in weights))
    return tuple(weight / 64 - total for weight in weights)


def mean_vector(layer: int, text: str) -> tuple[float, ...]:
    """The mean over the text's characters, each a function of layer and character."""
    return _mean([_vector(layer, letter) for letter in text])


def _vector(layer: int, letter: str) -> list[float]:
    return [byte / 127.5 - 1 for byte in hashlib.shake_256(f"{layer} {letter}".encode()).digest(SIZE)]


def _mean(vectors: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(sum(values) / len(vectors) for values in zip(*vectors, strict=True))
