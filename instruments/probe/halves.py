"""95 % intervals of numbers of many questions from random halves of these.

A score such as F grows with the questions where cultures differ, and does not where nothing but chance tells them
apart. Draws with replacement show too wide a spread in the second case, because questions that come twice look like
agreement. In halves drawn without replacement no question comes twice, and the spread of halves is that of whole
studies in both cases, once their scores are brought to the level of all questions (Politis, Romano and Wolf 1999,
Subsampling, chapter 2). `docs/evidence.md` has the coverage.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from polyculture.metrics.inference.limits import StudentInterval

Numbers = NDArray[np.float64]
Weights = NDArray[np.int64]
FEWEST_QUESTIONS = 12  # of fewer, simulated intervals do not hold what they promise
FEW = f"fewer than {FEWEST_QUESTIONS} questions"
MISSED = "halves of the questions miss a culture"
UNDEFINED = "undefined in some halves"
ALIKE = "the same in all halves"


class Counted(Protocol):
    """Occurrences of items that can be counted under weights of questions."""

    def counted(self, weights: Weights | None = None) -> NDArray[np.int64]: ...


class Limits(NamedTuple):
    """Ends of intervals; nan where one is withheld."""

    low: Numbers
    high: Numbers


def halves(questions: int, chance: np.random.Generator) -> Iterator[Weights]:
    """Weights of questions, 1 for those of a random half (the larger one of an odd number), without end."""
    weights = (np.arange(questions) < _size(questions)).astype(np.int64)
    while True:
        yield chance.permutation(weights)


def whole_halves(
    data: Sequence[Counted], questions: int, resamples: int, chance: np.random.Generator
) -> list[tuple[NDArray[np.int64], ...]] | str:
    """The counts of each of `data` in so many halves, [items, cultures]; or the reason why there are not as many."""
    if questions < FEWEST_QUESTIONS:
        return FEW
    needed = max(2, resamples)
    drawn = (tuple(one.counted(weights) for one in data) for weights in islice(halves(questions, chance), 10 * needed))
    whole = (counts for counts in drawn if all(one.sum(0).all() for one in counts))
    found = list(islice(whole, needed))
    return found if len(found) == needed else MISSED


def student(found: Numbers, of_halves: Numbers, questions: int) -> Limits:
    """Student's limits of numbers, with the spread of halves ([halves, numbers]).

    nan where a half has no number, and where all halves have the same one: they do not tell how far others may lie.
    """
    from scipy.stats import t

    spread = of_halves.std(0, ddof=1)
    spread = np.where(spread > 1e-12 * np.abs(of_halves).max(0), spread, np.nan)
    far = float(t.ppf(0.975, questions - 1)) * _to_all(questions) * spread
    return Limits(found - far, found + far)


@dataclass(frozen=True, slots=True)
class Limited:
    """A number with its 95 % interval and the p-value of 0, or the reason why there is none."""

    value: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    freedom: float | None = None
    lacking: str | None = None


def limited(found: Numbers, of_halves: Numbers, questions: int) -> list[Limited]:
    """Each of some numbers with Student's limits, from its values in halves: [halves, numbers]."""
    limits = student(found, of_halves, questions)
    told: list[Limited] = []
    undefined = np.asarray(np.isnan(of_halves).any(0))
    for value, low, high, some in zip(*map(np.ndarray.tolist, (found, *limits, undefined)), strict=True):
        why = None if math.isnan(value) or not math.isnan(low) else UNDEFINED if some else ALIKE
        if math.isnan(value) or why:
            told.append(Limited(value, lacking=why))
        else:
            p = StudentInterval(value, value - low, high - value, questions - 1).p()
            told.append(Limited(value, low, high, p, questions - 1))
    return told


def to_level(found: Numbers, of_halves: Numbers) -> float:
    """By what scores of halves are multiplied, that their mean is that of all questions; 1 where all are 0."""
    known, own = of_halves[~np.isnan(of_halves)], found[~np.isnan(found)]
    return float(own.mean()) / (float(known.mean()) or 1.0) if len(known) and len(own) else 1.0


def _size(questions: int) -> int:
    return (questions + 1) // 2


def _to_all(questions: int) -> float:
    """The spread of whole studies as a multiple of that of halves: 1, and a little more of an odd number."""
    return math.sqrt(_size(questions) / (questions - _size(questions)))
