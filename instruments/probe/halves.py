"""95 % intervals of numbers of many questions from random halves of these.

A score such as F grows with the questions where cultures differ, and does not where nothing but chance tells them
apart. Draws with replacement show too wide a spread in the second case, because questions that come twice look like
agreement. In halves drawn without replacement no question comes twice, and the spread of halves is that of whole
studies in both cases, once their scores are brought to the level of all questions (Politis, Romano and Wolf 1999,
Subsampling, chapter 2). `docs/evidence.md` has the coverage.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from polyculture.instruments.probe.occurrences import Occurrences
from polyculture.metrics.inference.arrays import Floats
from polyculture.metrics.inference.limits import StudentInterval

Weights = NDArray[np.int64]
HalfCounts = list[tuple[NDArray[np.int64], ...]]  # the counts of each half
FEWEST_QUESTIONS = 12  # of fewer, simulated intervals do not hold what they promise
FEW = f"fewer than {FEWEST_QUESTIONS} questions"
MISSED = "halves of the questions miss a culture"
UNDEFINED = "undefined in some halves"
ALIKE = "the same in all halves"


def halves(questions: int, chance: np.random.Generator) -> Iterator[Weights]:
    """Weights of questions, 1 for those of a random half (the larger one of an odd number), without end."""
    weights = (np.arange(questions) < _size(questions)).astype(np.int64)
    while True:
        yield chance.permutation(weights)


def whole_halves(
    data: Sequence[Occurrences], questions: int, resamples: int, chance: np.random.Generator
) -> HalfCounts | str:
    """The counts of each of `data` in so many halves, [items, cultures]; or the reason why there are not as many."""
    if questions < FEWEST_QUESTIONS:
        return FEW
    needed = max(2, resamples)
    drawn = (tuple(one.counted(weights) for one in data) for weights in islice(halves(questions, chance), 10 * needed))
    whole = (counts for counts in drawn if all(one.sum(0).all() for one in counts))
    found = list(islice(whole, needed))
    return found if len(found) == needed else MISSED


def student(found: Floats, of_halves: Floats, questions: int) -> tuple[Floats, Floats]:
    """Student's limits of numbers, with the spread of halves ([halves, numbers]).

    nan where a half has no number, and where all halves have the same one: they do not tell how far others may lie.
    """
    from scipy.stats import t

    spread = of_halves.std(0, ddof=1)
    spread = np.where(spread > 1e-12 * np.abs(of_halves).max(0), spread, np.nan)
    far = float(t.ppf(0.975, questions - 1)) * _to_all(questions) * spread
    return found - far, found + far


@dataclass(frozen=True, slots=True)
class TestedNumber:
    """A number with its 95 % interval and the p-value of 0, or the reason why there is none."""

    value: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    freedom: float | None = None
    lacking: str | None = None


def limited(
    found: Floats, halved: HalfCounts | str, of_halves: Callable[[HalfCounts], Floats], questions: int
) -> list[TestedNumber]:
    """Each of some numbers with Student's limits, from its values in halves: [halves, numbers]."""
    if isinstance(halved, str):
        return [TestedNumber(float(one), lacking=halved) for one in found]
    drawn = of_halves(halved)
    low, high = student(found, drawn, questions)
    told: list[TestedNumber] = []
    undefined = np.asarray(np.isnan(drawn).any(0))
    for value, under, over, some in zip(*map(np.ndarray.tolist, (found, low, high, undefined)), strict=True):
        why = None if math.isnan(value) or not math.isnan(under) else UNDEFINED if some else ALIKE
        if math.isnan(value) or why:
            told.append(TestedNumber(value, lacking=why))
        else:
            p = StudentInterval(value, value - under, over - value, questions - 1).p()
            told.append(TestedNumber(value, under, over, p, questions - 1))
    return told


def to_level(found: Floats, of_halves: Floats) -> float:
    """By what scores of halves are multiplied, that their mean is that of all questions; 1 where all are 0."""
    known, own = of_halves[~np.isnan(of_halves)], found[~np.isnan(found)]
    return float(own.mean()) / (float(known.mean()) or 1.0) if len(known) and len(own) else 1.0


def _size(questions: int) -> int:
    return (questions + 1) // 2


def _to_all(questions: int) -> float:
    """The spread of whole studies as a multiple of that of halves: 1, and a little more of an odd number."""
    return math.sqrt(_size(questions) / (questions - _size(questions)))
