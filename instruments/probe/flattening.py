"""The cultural flattening score of counted items, with intervals over questions and a test against chance; that of a
control beside that of the probe, and that of some pairs of cultures beside that of others.

For cultures t and s, F(t -> s) is the sum over items k of X(k, t) where X(k, s) is not 0, with
X(k, y) = max(0, g(k, y) - E(k, y))^2 / E(k, y) and E(k, y) = N_y * N_k / N: g counts item k of culture y over questions
and layers. F grows with the volume; F / sum of X(k, t) is the share of what is particular to t.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyculture.instruments.probe.halves import HalfCounts, TestedNumber, limited, to_level, whole_halves
from polyculture.instruments.probe.occurrences import Occurrences
from polyculture.metrics.inference.arrays import Floats, Integers

FEWEST = 3  # cultures: what two share is over-represented in one of them only, so F is 0
RESAMPLES = 999

Pairs = NDArray[np.bool_]  # which ordered pairs of cultures, [t, s]
NumberPair = tuple[float, float, TestedNumber]  # two numbers, and their difference


@dataclass(frozen=True, slots=True, eq=False)
class Flattening:
    """F of all ordered pairs, and what it is a part of."""

    score: Floats  # [t, s]; the diagonal is nan
    total: Floats  # [t]: the sum of X(k, t)

    @property
    def share(self) -> Floats:
        """F(t -> s) over the total of t; nan where nothing is over-represented for t."""
        total = np.where(self.total > 0, self.total, np.nan)
        return self.score / total[:, None]


class PairLimits(NamedTuple):
    """Ends of the 95 % intervals of pairs, [t, s]; nan where one is withheld, with the reason."""

    low: Floats
    high: Floats
    lacking: NDArray[np.object_]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedFlattening:
    """The score and the share with 95 % intervals, and a test of each pair. All are [t, s]."""

    found: Flattening
    score_interval: PairLimits
    share_interval: PairLimits
    by_chance: Floats  # the mean score under permuted cultures
    p: Floats  # the share of permutations with as high a score


def flattening(counts: Integers) -> Flattening:
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


def judge(data: Occurrences, resamples: int = RESAMPLES, seed: int = 1) -> JudgedFlattening:
    """The score of counted items with its uncertainty.

    Intervals are from random halves of the questions, the same for all cultures (`halves.py`). They are about the score
    that as many other questions would give. Chance: within each question, the cultures that answered it are permuted.
    """
    chance = np.random.default_rng(seed)
    found = flattening(data.counted())
    score, share = _intervals(data, found, resamples, chance)
    permuted = np.stack([flattening(counts).score for counts in _permuted(data, resamples, chance)])
    above = (permuted >= found.score * (1 - 1e-12)).sum(0)
    p = np.where(np.isnan(found.score), np.nan, (1 + above) / (1 + resamples))
    return JudgedFlattening(found, score, share, permuted.mean(0), p)


def _intervals(
    data: Occurrences, found: Flattening, resamples: int, chance: np.random.Generator
) -> tuple[PairLimits, PairLimits]:
    """The limits of scores and of shares, cut off where none can be."""
    questions = int(data.question.max()) + 1
    pairs = ~np.eye(data.cultures, dtype=bool)
    halved = whole_halves([data], questions, resamples, chance)
    drawn = [] if isinstance(halved, str) else [flattening(one) for (one,) in halved]

    def limits(name: str, most: float) -> PairLimits:
        own = getattr(found, name)[pairs]

        def of_halves(_: HalfCounts) -> Floats:
            # One level for all pairs, as that of a pair varies too much; for shares, too: few items coincide in a half.
            values = np.array([getattr(one, name)[pairs] for one in drawn])
            return values * to_level(own, values)

        told = limited(own, halved, of_halves, questions)
        ends: Floats = np.full((2, *pairs.shape), np.nan)
        lacking = np.full(pairs.shape, None, dtype=object)
        ends[:, pairs] = np.clip(np.array([(one.low, one.high) for one in told], np.float64).T, 0.0, most)
        lacking[pairs] = [one.lacking for one in told]
        return PairLimits(ends[0], ends[1], lacking)

    return limits("score", np.inf), limits("share", 1.0)


def _permuted(data: Occurrences, times: int, chance: np.random.Generator) -> Iterator[Integers]:
    """g with the cultures of each question permuted among those that have items there."""
    block = data.question * data.cultures + data.culture
    there, which = np.unique(block, return_inverse=True)
    question, culture = np.divmod(there, data.cultures)
    for _ in range(times):
        # Blocks are sorted by question: a shuffle within questions is a sort by question, then by chance. Each culture
        # keeps as many blocks as it has, so none is left without items.
        shuffled = culture[np.lexsort((chance.random(len(there)), question))]
        yield data.counted(culture=shuffled[which])


def beside(probe: Integers, arm: Integers) -> Floats:
    """F and its share of g of the probe and of an arm, as means over the ordered pairs: [2 numbers, 2 sides].

    g are [items, cultures] of the same cultures. A share is nan where nothing is particular to a culture.
    """
    pairs = ~np.eye(probe.shape[1], dtype=bool)
    both = [flattening(one) for one in (probe, arm)]
    return np.array([[_mean(getattr(one, name)[pairs]) for one in both] for name in ("score", "share")])


def compared(
    probe: Occurrences, arm: Occurrences, questions: int, resamples: int, seed: int
) -> tuple[NumberPair, NumberPair]:
    """F and its share of both, and the limits of the differences from the same halves of the questions."""
    found = beside(probe.counted(), arm.counted())
    apart = found[:, 0] - found[:, 1]

    def of_halves(halved: HalfCounts) -> Floats:
        drawn = np.array([beside(one, other) for one, other in halved])
        # F of each side is brought to its level of all questions.
        own, other = (to_level(found[0, side : side + 1], drawn[:, 0, side]) for side in (0, 1))
        drawn[:, 0] *= own, other
        return np.asarray(drawn[..., 0] - drawn[..., 1])

    halved = whole_halves([probe, arm], questions, resamples, np.random.default_rng(seed))
    limits = limited(apart, halved, of_halves, questions)
    score, share = ((float(one), float(other), each) for (one, other), each in zip(found, limits, strict=True))
    return score, share


def groups_of_pairs(
    data: Occurrences,
    groups: Mapping[str, tuple[Pairs, Pairs]],
    questions: int,
    resamples: int,
    seed: int,
) -> dict[str, NumberPair]:
    """The mean F of some pairs, that of others, and their difference, for each of `groups`."""
    found = flattening(data.counted()).score
    sides = {name: tuple(_mean(found[some]) for some in both) for name, both in groups.items()}
    apart = np.array([one - other for one, other in sides.values()])

    def of_halves(halved: HalfCounts) -> Floats:
        drawn = [flattening(counts).score for (counts,) in halved]
        pairs = ~np.eye(data.cultures, dtype=bool)
        level = to_level(found[pairs], np.array([one[pairs] for one in drawn]))
        return level * np.array([[_mean(one[a]) - _mean(one[b]) for a, b in groups.values()] for one in drawn])

    halved = whole_halves([data], questions, resamples, np.random.default_rng(seed))
    limits = limited(apart, halved, of_halves, questions)
    return {name: (*sides[name], one) for name, one in zip(groups, limits, strict=True)}  # type: ignore[misc]


def _mean(values: Floats) -> float:
    return float(np.nanmean(values)) if not np.isnan(values).all() else float("nan")
