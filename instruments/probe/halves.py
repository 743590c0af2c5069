"""95 % intervals of numbers of many questions from random halves of these.

A score such as F grows with the questions where cultures differ, and does not where nothing but chance tells them
apart. Draws with replacement show too wide a spread in the second case, because questions that come twice look like
agreement. In halves drawn without replacement no question comes twice, and the spread of halves is that of whole
studies in both cases, once their scores are brought to the level of all questions (Politis, Romano and Wolf 1999,
Subsampling, chapter 2). `docs/measurements/probe-arms.md` has the coverage.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Weights = NDArray[np.int64]


def halves(questions: int, chance: np.random.Generator) -> Iterator[Weights]:
    """Weights of questions, 1 for those of a random half (the larger one of an odd number), without end."""
    weights = (np.arange(questions) < _size(questions)).astype(np.int64)
    while True:
        yield chance.permutation(weights)


def student(found: Numbers, of_halves: Numbers, questions: int) -> tuple[Numbers, Numbers]:
    """Student's limits of numbers, with the spread of halves ([halves, numbers]); nan where halves have no number."""
    from scipy.stats import t

    far = float(t.ppf(0.975, questions - 1)) * _to_all(questions) * of_halves.std(0, ddof=1)
    return found - far, found + far


def _size(questions: int) -> int:
    return (questions + 1) // 2


def _to_all(questions: int) -> float:
    """The spread of whole studies as a multiple of that of halves: 1, and a little more of an odd number."""
    return math.sqrt(_size(questions) / (questions - _size(questions)))
