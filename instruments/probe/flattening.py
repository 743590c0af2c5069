"""The cultural flattening score of counted items, with intervals over questions and a test against chance.

For cultures t and s, F(t -> s) is the sum over items k of X(k, t) where X(k, s) is not 0, with
X(k, y) = max(0, g(k, y) - E(k, y))^2 / E(k, y) and E(k, y) = N_y * N_k / N: g counts item k of culture y over questions
and layers. F grows with the volume; F / sum of X(k, t) is the share of what is particular to t. `flattening.sql` is the
same over the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FEWEST = 3  # cultures: what two share is over-represented in one of them only, so F is 0
FEWEST_QUESTIONS = 5  # for an interval: of fewer, draws say next to nothing of others
RESAMPLES = 999

Counts = NDArray[np.int64]
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """How often items occur: parallel arrays of the numbers of question, culture and item, and a count."""

    question: Counts
    culture: Counts
    item: Counts
    count: Counts
    cultures: int

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
    score_interval: tuple[Numbers, Numbers]
    share_interval: tuple[Numbers, Numbers]
    by_chance: Numbers  # the mean score under permuted cultures
    p: Numbers  # the share of permutations with as high a score


def flattening(counts: Counts, minimum: int = 1) -> Flattening:
    """The score of g, [items, cultures]. An item counts for a culture from `minimum` occurrences on.

    Raises `ValueError` of fewer than three cultures, or of one without any item.
    """
    of_culture = counts.sum(0)
    if counts.shape[1] < FEWEST or not of_culture.all():
        raise ValueError(f"the score needs items of at least {FEWEST} cultures, and of each")
    of_item, of_all = counts.sum(1, keepdims=True), int(counts.sum())
    above = np.maximum(0, counts * of_all - of_item * of_culture)  # whole numbers: what is spread evenly is exactly 0
    expected = np.maximum(1.0, of_item.astype(np.float64) * of_culture * of_all)
    contribution = np.where(counts >= minimum, above.astype(np.float64) ** 2 / expected, 0.0)
    score = contribution.T @ (contribution > 0)
    np.fill_diagonal(score, np.nan)
    return Flattening(score, contribution.sum(0))


def judge(data: Occurrences, minimum: int = 1, resamples: int = RESAMPLES, seed: int = 1) -> Judged:
    """The score of counted items with its uncertainty.

    Intervals: questions are drawn with replacement, jointly for all cultures. Drawing inflates chi-square, so the
    percentiles are moved by the difference of the draws' mean and the score. They are about the score that as many
    other questions would give. Chance: within each question, the cultures that answered it are permuted.
    """
    chance = np.random.default_rng(seed)
    found = flattening(data.counted(), minimum)
    drawn = [flattening(counts, minimum) for counts in _drawn(data, resamples, chance)]
    permuted = np.stack([flattening(counts, minimum).score for counts in _permuted(data, resamples, chance)])
    above = (permuted >= found.score * (1 - 1e-12)).sum(0)
    return Judged(
        found,
        moved_interval(found.score, [one.score for one in drawn], 0.0, np.inf),
        moved_interval(found.share, [one.share for one in drawn], 0.0, 1.0),
        permuted.mean(0),
        np.where(np.isnan(found.score), np.nan, (1 + above) / (1 + resamples)),
    )


def _drawn(data: Occurrences, times: int, chance: np.random.Generator) -> list[Counts]:
    """g of drawn questions; none of fewer than five. A draw in which a culture has no item is drawn again."""
    questions = int(data.question.max()) + 1
    kept: list[Counts] = []
    for _ in range(10 * times if questions >= FEWEST_QUESTIONS else 0):
        counts = data.counted(weights=np.bincount(chance.integers(questions, size=questions), minlength=questions))
        if counts.sum(0).all():
            kept.append(counts)
        if len(kept) == times:
            break
    return kept


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


def moved_interval(found: Numbers, drawn: Sequence[Numbers], least: float, most: float) -> tuple[Numbers, Numbers]:
    """Percentiles of draws, moved so that their mean is what was found; nan without draws, or where one has none."""
    if not drawn:
        return np.full_like(found, np.nan), np.full_like(found, np.nan)
    stacked = np.stack(drawn)
    moved = found - stacked.mean(0)
    low, high = np.percentile(stacked, [2.5, 97.5], axis=0) + moved
    return np.clip(low, least, most), np.clip(high, least, most)
