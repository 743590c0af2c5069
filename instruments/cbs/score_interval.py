"""The 95 % interval of a Cultural Bias Score, and of the mean of those of several types.

Near 0 and 1 a score is skewed, and a few entities carry it. Its interval is symmetric on the logit scale, with
Student's quantile for degrees of freedom that fall with the kurtosis of what each unit adds (`skewed_variance`).

A type in which all agree (all 0, all 1) has no variance to estimate. It can lie on one side of its score only: its
interval is Wilson's for the least number of its contexts, native and Western entities. In a mean, the types that vary
have one interval on the logit scale. To the squares of its distances those of the types that agree are added (MOVER).
Such a type widens the interval to its one side, and leaves the other side and all degrees of freedom alone.

A few names of a side may be very probable, or very improbable, and a sample may hold none of them: where 3 % of Western
names are so, 30 of them hold none in 40 % of samples. So the limits are never nearer than such a kind would move the
score, if it is as frequent as a kind can be that is missed with a probability of `MISSED`.

Sources: Newcombe 2006, Stat. Med. 25, 559 (logit intervals of areas under the curve); Zou and Donner 2008, Stat. Med.
27, 1693 (MOVER); Wilson 1927; Satterthwaite 1946. Coverage: `bench/coverage.py --only bias`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from polyculture.metrics.inference.crossed import ROUNDING, weighted_variance
from polyculture.metrics.inference.limits import Z, student, wilson
from polyculture.metrics.inference.paired import PairedDifference, paired_difference

FEW_CONTEXTS, FEW_ENTITIES = "few contexts", "few entities"  # why there is no interval
FEWEST_CONTEXTS = 3  # of one type; of several, as many more than there are types
MISSED = 0.15  # the chance to draw none of a kind of entities for which the limits leave room. By simulation.
WeightedScore = tuple["ScoreEstimate", float]


@dataclass(frozen=True, slots=True)
class ScoreEstimate:
    """The mean score of a type over its contexts, and what is known of its variance."""

    value: float
    variance: float
    freedom: float  # 0: the variance is not known
    contexts: int
    entities: int  # of the side that has fewer

    @property
    def agrees(self) -> bool:
        """Whether contexts and entities all say the same, so that there is no variance to estimate."""
        return self.variance <= 0 or not 0 < self.value < 1

    @property
    def unseen(self) -> float:
        """The share of entities that may be of a kind that none here is."""
        return float(1 - MISSED ** (1 / self.entities))

    def limits(self, lowest: float = 0.0, highest: float = 1.0) -> tuple[float | None, float | None]:
        """The 95 % interval; None where there is none."""
        found = mean_score([(self, 1.0)])
        if found.low is None or found.high is None:
            return None, None
        return max(lowest, found.low), min(highest, found.high)


@dataclass(frozen=True, slots=True)
class ComparedScores:
    """Two mean scores of a type and their difference, as a sum with weights of its own (`uncertainty.combined`)."""

    one: ScoreEstimate
    other: ScoreEstimate
    difference: ScoreEstimate


@dataclass(frozen=True, slots=True)
class MeanScore:
    """A weighted mean of scores with its 95 % interval, or the reason why there is none."""

    value: float
    low: float | None
    high: float | None
    lacking: str | None


def mean_score(parts: Sequence[WeightedScore]) -> MeanScore:
    """The mean of the scores of one or more types, which rest on other contexts and other entities."""
    whole = sum(weight for _, weight in parts)
    shares = [(part, weight / whole) for part, weight in parts]
    value = sum(part.value * share for part, share in shares)
    lacking = _lacking([part for part, _ in parts])
    if lacking:
        return MeanScore(value, None, None, lacking)
    sides = [(share * low, share * high) for part, share in shares if part.agrees for low, high in [_agreed(part)]]
    varied = [(part, share) for part, share in shares if not part.agrees]
    sides += [_varied(varied)] if varied else []
    sides = [*zip(*sides, strict=True)]
    unseen = [(share * part.value * part.unseen, share * (1 - part.value) * part.unseen) for part, share in shares]
    below, above = (
        max(math.hypot(*distances), math.hypot(*room))
        for distances, room in zip(sides, zip(*unseen, strict=True), strict=True)
    )
    return MeanScore(value, max(0.0, value - below), min(1.0, value + above), None)


def mean_difference(parts: Sequence[tuple[ComparedScores, float]]) -> PairedDifference:
    """The mean of the differences of one or more types, which rest on other contexts and other entities.

    A type in which nothing varies leaves it to the others whether there is a test. Where it differs between the sides,
    its variance is that of two scores in which all agree.
    """
    whole = sum(weight for _, weight in parts)
    sides = [
        mean_score([(part.one, weight) for part, weight in parts]),
        mean_score([(part.other, weight) for part, weight in parts]),
    ]
    one, other = (side.value for side in sides)
    if lacking := sides[0].lacking or sides[1].lacking or _lacking([part.difference for part, _ in parts]):
        return PairedDifference(one, other, lacking=lacking)
    variance, freedom = weighted_variance((weight / whole, *_varies(part.difference)) for part, weight in parts)
    limits = (sides[0].low, sides[0].high), (sides[1].low, sides[1].high)
    return paired_difference(one, other, variance, freedom, limits)


def _varies(difference: ScoreEstimate) -> tuple[float, float]:
    """The variance of a type's difference, and its degrees of freedom."""
    if difference.variance > 0 or abs(difference.value) < ROUNDING:
        return difference.variance, difference.freedom
    units = min(difference.contexts, difference.entities)
    reach = wilson(0.0, units, units - 1).distances(Z)[1] / Z
    return 2 * reach**2, units - 1.0


def _lacking(parts: Sequence[ScoreEstimate]) -> str | None:
    """The reason why these have no interval. Two contexts say next to nothing of how much contexts differ."""
    if any(part.contexts < 2 for part in parts):
        return FEW_CONTEXTS
    if any(part.entities < 2 or part.freedom <= 0 for part in parts):
        return FEW_ENTITIES
    return FEW_CONTEXTS if sum(part.contexts - 1 for part in parts) < FEWEST_CONTEXTS - 1 else None


def _agreed(part: ScoreEstimate) -> tuple[float, float]:
    """The distances to the limits of a type in which all agree."""
    size = min(part.contexts, part.entities)
    return wilson(part.value, size, size - 1).distances(student(size - 1))


def _varied(shares: Sequence[WeightedScore]) -> tuple[float, float]:
    """The distances to the limits of the share that the types with a variance have in a mean."""
    whole = sum(share for _, share in shares)
    value = sum(part.value * share for part, share in shares) / whole
    variance, freedom = weighted_variance((share / whole, part.variance, part.freedom) for part, share in shares)
    reach = student(freedom) * math.sqrt(variance) / (value * (1 - value))
    odds = math.log(value / (1 - value))
    return whole * (value - _share(odds - reach)), whole * (_share(odds + reach) - value)


def _share(logit: float) -> float:
    return 0.5 * (1 + math.tanh(logit / 2))
