"""The cultural flattening score of counted items, with intervals over questions and a test against chance.

For cultures t and s, F(t -> s) is the sum over items k of X(k, t) where X(k, s) is not 0, with
X(k, y) = max(0, g(k, y) - E(k, y))^2 / E(k, y) and E(k, y) = N_y * N_k / N: g counts item k of culture y over questions
and layers. F grows with the volume; F / sum of X(k, t) is the share of what is particular to t.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyculture.instruments.probe.halves import Limited, Limits, limited, to_level, whole_halves

FEWEST = 3  # cultures: what two share is over-represented in one of them only, so F is 0
RESAMPLES = 999

Counts = NDArray[np.int64]
Numbers = NDArray[np.float64]
Row = tuple[str, str, str, int]  # question, culture, item, occurrences


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """How often items occur: parallel arrays of the numbers of question, culture and item, and a count."""

    question: Counts
    culture: Counts
    item: Counts
    count: Counts
    cultures: int

    @classmethod
    def of_rows(cls, rows: Sequence[Row], questions: Sequence[str], cultures: Sequence[str]) -> Occurrences:
        """From rows of a question, a culture, an item and its count."""
        items = sorted({row[2] for row in rows})
        at = [{name: number for number, name in enumerate(names)} for names in (questions, cultures, items)]
        numbered = [[at[0][question], at[1][culture], at[2][item], count] for question, culture, item, count in rows]
        question, culture, item, count = np.array(numbered, np.int64).T
        return cls(question, culture, item, count, len(cultures))

    def counted(self, weights: Counts | None = None, culture: Counts | None = None) -> Counts:
        """g: [items, cultures]; questions may have weights, occurrences other cultures."""
        place = self.item * self.cultures + (self.culture if culture is None else culture)
        count = self.count if weights is None else self.count * weights[self.question]
        size = (int(self.item.max()) + 1) * self.cultures
        return np.bincount(place, count, size).astype(np.int64).reshape(-1, self.cultures)


@dataclass(frozen=True, slots=True, eq=False)
class Flattening:
    """F of all ordered pairs, and what it is a part of."""

    score: Numbers  # [t, s]; the diagonal is nan
    total: Numbers  # [t]: the sum of X(k, t)

    @property
    def share(self) -> Numbers:
        """F(t -> s) over the total of t; nan where nothing is over-represented for t."""
        total = np.where(self.total > 0, self.total, np.nan)
        return self.score / total[:, None]


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The score and the share with 95 % intervals, and a test of each pair. All are [t, s]."""

    found: Flattening
    score_interval: Limits
    share_interval: Limits
    no_interval: NDArray[np.object_]  # why one of the two is withheld; None where both stand, and on the diagonal
    by_chance: Numbers  # the mean score under permuted cultures
    p: Numbers  # the share of permutations with as high a score


def flattening(counts: Counts) -> Flattening:
    """The score of g, [items, cultures].

    Raises `ValueError` of fewer than three cultures, or of one without any item.
    """
    of_culture = counts.sum(0)
    if counts.shape[1] < FEWEST or not of_culture.all():
        raise ValueError(f"the score needs items of at least {FEWEST} cultures, and of each")
    of_item, of_all = counts.sum(1, keepdims=True), int(counts.sum())
    above = np.maximum(0, counts * of_all - of_item * of_culture)  # whole numbers: what is spread evenly is exactly 0
    expected = np.maximum(1.0, of_item.astype(np.float64) * of_culture * of_all)
    contribution = above.astype(np.float64) ** 2 / expected
    score = contribution.T @ (contribution > 0)
    np.fill_diagonal(score, np.nan)
    return Flattening(score, contribution.sum(0))


def judge(data: Occurrences, resamples: int = RESAMPLES, seed: int = 1) -> Judged:
    """The score of counted items with its uncertainty.

    Intervals are from random halves of the questions, the same for all cultures (`halves.py`). They are about the score
    that as many other questions would give. Chance: within each question, the cultures that answered it are permuted.
    """
    chance = np.random.default_rng(seed)
    found = flattening(data.counted())
    score, share, why = _intervals(data, found, resamples, chance)
    permuted = np.stack([flattening(counts).score for counts in _permuted(data, resamples, chance)])
    above = (permuted >= found.score * (1 - 1e-12)).sum(0)
    p = np.where(np.isnan(found.score), np.nan, (1 + above) / (1 + resamples))
    return Judged(found, score, share, why, permuted.mean(0), p)


def _intervals(
    data: Occurrences, found: Flattening, resamples: int, chance: np.random.Generator
) -> tuple[Limits, Limits, NDArray[np.object_]]:
    """The limits of scores and of shares, and for each pair why one has none."""
    questions = int(data.question.max()) + 1
    pairs = ~np.eye(data.cultures, dtype=bool)
    halved = whole_halves([data], questions, resamples, chance)
    told = np.full(pairs.shape, None, dtype=object)
    if isinstance(halved, str):
        told[pairs] = halved
        none = np.full(pairs.shape, np.nan)
        return Limits(none, none), Limits(none, none), told
    drawn = [flattening(one) for (one,) in halved]
    limits = []
    for name in ("score", "share"):
        # One level for all pairs: that of a pair varies too much. Shares have one, too: few items coincide in a half.
        own, of_halves = getattr(found, name)[pairs], np.array([getattr(one, name)[pairs] for one in drawn])
        limits.append(limited(own, of_halves * to_level(own, of_halves), questions))
    scores, shares = limits
    told[pairs] = [_both(one.lacking, other.lacking) for one, other in zip(scores, shares, strict=True)]
    return _placed(scores, pairs, np.inf), _placed(shares, pairs, 1.0), told


def _both(score: str | None, share: str | None) -> str | None:
    """Why a pair lacks intervals; it says so where that is one of the two alone."""
    if score == share:
        return score
    return "; ".join(f"{name}: {why}" for name, why in (("F", score), ("share", share)) if why)


def _placed(limits: Sequence[Limited], pairs: NDArray[np.bool_], most: float) -> Limits:
    """Limits of pairs as [t, s], cut off where no score can be; nan where there are none."""
    ends = np.full((2, *pairs.shape), np.nan)
    ends[:, pairs] = np.clip(np.array([(one.low, one.high) for one in limits], np.float64).T, 0.0, most)
    return Limits(ends[0], ends[1])


def _permuted(data: Occurrences, times: int, chance: np.random.Generator) -> Iterator[Counts]:
    """g with the cultures of each question permuted among those that have items there."""
    block = data.question * data.cultures + data.culture
    there, which = np.unique(block, return_inverse=True)
    question, culture = np.divmod(there, data.cultures)
    for _ in range(times):
        # Blocks are sorted by question: a shuffle within questions is a sort by question, then by chance. Each culture
        # keeps as many blocks as it has, so none is left without items.
        shuffled = culture[np.lexsort((chance.random(len(there)), question))]
        yield data.counted(culture=shuffled[which])
