"""F of a control beside that of the probe itself, and F of some pairs of cultures beside that of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyculture.instruments.probe.flattening import Counts, Numbers, Occurrences, flattening
from polyculture.instruments.probe.halves import Limited, limited, to_level, whole_halves

NAMES = ("flattening", "flattening_share", "rank_correlation")  # of the numbers of `compared`, in order
Pairs = NDArray[np.bool_]  # which ordered pairs of cultures, [t, s]


@dataclass(frozen=True, slots=True)
class Beside:
    """F and its share, as means over the ordered pairs, of the probe and of an arm; and how alike the pairs' ranks are.

    nan where there is no such number: a share without anything particular, ranks where all pairs have one score.
    """

    score: float
    patched_score: float
    share: float
    patched_share: float
    spearman: float

    @property
    def numbers(self) -> Numbers:
        """The two differences, probe less arm, and the rank correlation."""
        return np.array([self.patched_score - self.score, self.patched_share - self.share, self.spearman])


def beside(probe: Counts, arm: Counts, minimum: int) -> Beside:
    """The scores of g of the probe and of an arm, both [items, cultures], of the same cultures."""
    one, other = flattening(probe, minimum), flattening(arm, minimum)
    pairs = ~np.eye(len(one.score), dtype=bool)
    return Beside(
        float(other.score[pairs].mean()), float(one.score[pairs].mean()),
        _mean(other.share[pairs]), _mean(one.share[pairs]), _spearman(one.score[pairs], other.score[pairs]),
    )  # fmt: skip


def compared(
    probe: Occurrences, arm: Occurrences, questions: int, minimum: int, resamples: int, seed: int
) -> tuple[Beside, dict[str, Limited]]:
    """The scores of both, and the numbers `NAMES` with their limits, from the same halves of the questions."""
    found = beside(probe.counted(), arm.counted(), minimum)
    halved = whole_halves([probe, arm], questions, resamples, np.random.default_rng(seed))
    if isinstance(halved, str):
        return found, {
            name: Limited(float(one), lacking=halved) for name, one in zip(NAMES, found.numbers, strict=True)
        }
    drawn = [beside(one, other, minimum) for one, other in halved]
    # The scores of each side are brought to their level of all questions.
    own, other = (
        to_level(np.array([getattr(found, side)]), np.array([getattr(one, side) for one in drawn]))
        for side in ("patched_score", "score")
    )
    of_halves = np.array([[one.patched_score * own - one.score * other, *one.numbers[1:]] for one in drawn])
    return found, dict(zip(NAMES, limited(found.numbers, of_halves, questions), strict=True))


def groups_of_pairs(
    data: Occurrences,
    groups: Mapping[str, tuple[Pairs, Pairs]],
    questions: int,
    minimum: int,
    resamples: int,
    seed: int,
) -> dict[str, tuple[float, float, Limited]]:
    """The mean F of some pairs, that of others, and their difference, for each of `groups`."""
    found = flattening(data.counted(), minimum).score
    sides = {name: tuple(_mean(found[some]) for some in both) for name, both in groups.items()}
    apart = np.array([one - other for one, other in sides.values()])
    halved = whole_halves([data], questions, resamples, np.random.default_rng(seed))
    if isinstance(halved, str):
        limits = [Limited(float(one), lacking=halved) for one in apart]
    else:
        drawn = [flattening(counts, minimum).score for (counts,) in halved]
        pairs = ~np.eye(data.cultures, dtype=bool)
        level = to_level(found[pairs], np.array([one[pairs] for one in drawn]))
        of_halves = [[_mean(one[a]) - _mean(one[b]) for a, b in groups.values()] for one in drawn]
        limits = limited(apart, level * np.array(of_halves), questions)
    return {name: (*sides[name], one) for name, one in zip(groups, limits, strict=True)}  # type: ignore[misc]


def _mean(values: Numbers) -> float:
    return float(np.nanmean(values)) if not np.isnan(values).all() else float("nan")


def _spearman(one: Numbers, other: Numbers) -> float:
    from scipy.stats import rankdata

    first, second = np.asarray(rankdata(one), np.float64), np.asarray(rankdata(other), np.float64)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    correlations: Numbers = np.asarray(np.corrcoef(np.stack([first, second])))
    return float(correlations[0, 1])
