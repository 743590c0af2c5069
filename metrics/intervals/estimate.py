"""A number with its uncertainty, linear combinations of independent ones, and the levels at which numbers are averaged.

A level is the columns that a mean keeps, beside the model: ('language',) is a mean over topics, conditions, countries
and wordings. No level keeps the wording. Specificity and its gain are never averaged over conditions. The consensus of
a language is its mean with all others.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from polyculture.cache.schema.measured import EVERY, WITHOUT

FEW_RESPONSES, FEW_ITEMS = "few responses", "few items"  # why a number has no interval
FEWEST_RESPONSES = 10  # of a cell: with fewer, none of its numbers has an interval
ENOUGH_RESPONSES = 50  # for a number of items: with fewer, a kind of response that brings many may not have come yet
MOST_LACKING = {FEW_RESPONSES: 0.05, FEW_ITEMS: 0.5}  # the highest share of a mean's parts without an interval
MOST_MISSING = 0.01  # the highest chance that a number with an interval would be missing in another sample
Z = 1.959963984540054  # the normal distribution's 97.5 % quantile
FEWEST_DISTINCT = 0.5  # of texts: with fewer, they are no independent samples, and nothing is known of their variance
_ROUNDING = 1e-9

Level = tuple[str, ...]

OF_MODEL: tuple[Level, ...] = ((), ("condition",), ("topic",), ("topic", "condition"))
OF_LANGUAGE: tuple[Level, ...] = tuple(("language", *level) for level in OF_MODEL)
OF_PAIR: tuple[Level, ...] = tuple(("language", "other_language", *level) for level in OF_MODEL)
OF_COUNTRY: tuple[Level, ...] = (("language", "condition", "country"),)
OF_WORDINGS: tuple[Level, ...] = (("language", "topic", "condition", "country"),)  # all that cells have but the wording
PAIR_OF_WORDINGS: tuple[Level, ...] = (("language", "other_language", "topic", "condition", "country"),)
PER_CONDITION = ("specificity", "specificity_gain")

_JACKKNIFE = "jackknife over responses, at least the variance of mentions alike within them; Wilson's interval"
_ASSEMBLAGE = "estimated assemblage (Chao et al. 2014), bundled items"
METHODS = {
    "granularity": (_JACKKNIFE, 0.0, 1.0),
    "granularity_defined": (_JACKKNIFE, 0.0, 1.0),
    "diversity": (_ASSEMBLAGE, 0.0, math.inf),
    "specificity": (_JACKKNIFE, 0.0, 1.0),
    "share_without_country": (_JACKKNIFE, 0.0, 1.0),
    "linked_by_english": (_JACKKNIFE, 0.0, 1.0),
    "specificity_gain": (f"{_JACKKNIFE}, MOVER", -1.0, 1.0),
    "consensus": (f"{_ASSEMBLAGE}, Wilson's interval", 0.0, 1.0),
    "dominance": ("Wilson's interval, lower limit of items chosen by other responses", 0.0, 1.0),
    "hill_1": ("jackknife over responses", 0.0, math.inf),
    "hill_2": ("jackknife over responses", 0.0, math.inf),
    "coverage": ("Esty 1983, bundled items, Wilson's kind of interval", 0.0, 1.0),
    "rarefied": ("jackknife over responses", 0.0, math.inf),
    "at_coverage": ("jackknife over responses, logarithms", 0.0, math.inf),
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, and its variance as a function of the truth's distance `away` from it.

    The variance is `variance` + `slope` x away - `curve` x away^2. The 95 % interval is of Wilson's (1927) kind: it
    holds all truths within 1.96 standard deviations of the number, with the standard deviation computed at the truth.
    Few degrees of `freedom` raise the 1.96 to Student's quantile; with 0 degrees nothing is known of the variance.
    `lacking` is the reason why no valid interval is known; the variance can still enter a mean. `evidence` is the
    number of responses, relative to those that are enough for an interval; it adds up over the parts of a mean.
    `missing` is the chance that another sample has no such number, as none of its responses names anything. `bias` is
    how far the truth may lie below `value` on average; in a mean, that of the parts does not shrink.
    """

    value: float
    variance: float
    freedom: float
    slope: float = 0.0
    curve: float = 0.0
    lacking: str | None = None
    evidence: float = math.inf
    missing: float = 0.0
    bias: float = 0.0

    def limits(self, lowest: float, highest: float) -> tuple[float | None, float | None]:
        """The 95 % interval within the range of the number; None where there is a reason to withhold it."""
        if self.withheld():
            return None, None
        below, above = self.distances(student(self.freedom))
        return max(lowest, self.value - self.bias - below), min(highest, self.value + above)

    def withheld(self) -> str | None:
        """The reason for the missing interval; None where there is one."""
        few = self.freedom <= 0 or self.evidence < 1 or self.missing > MOST_MISSING
        return self.lacking or (FEW_RESPONSES if few else None)

    def reach(self) -> float:
        """The square of half the interval's width for a known variance; positive wherever there is uncertainty."""
        return sum(self.distances(Z)) ** 2 / 4

    def distances(self, deviations: float) -> tuple[float, float]:
        """The distances, down and up, of the truths that are the given number of their standard deviations away."""
        square = deviations**2
        shift, scale = square * self.slope / 2, 1 + square * self.curve
        root = math.sqrt(shift**2 + scale * square * self.variance)
        return (root - shift) / scale, (root + shift) / scale


def are_dependent(texts: int, distinct: int) -> bool:
    """Whether so few of some texts are distinct that they are no independent samples: an ignored seed, or a cache."""
    return distinct < FEWEST_DISTINCT * texts


def symmetric(value: float, variance: float, freedom: float) -> Estimate:
    """The estimate whose limits are those of a normal distribution with this variance."""
    return Estimate(value, max(variance, 0.0), freedom)


def wilson(value: float, size: float, freedom: float) -> Estimate:
    """The estimate of a proportion whose limits are Wilson's (1927) for `size` independent observations."""
    return Estimate(value, value * (1 - value) / size, freedom, (1 - 2 * value) / size, 1 / size)


class Sum:
    """A sum of weight x estimate over independent estimates.

    Variances add up. A distance of the sum's truth from its value is divided among the parts in proportion to their
    reaches. The interval therefore becomes more symmetric as parts are added, and many cells without an event together
    have the interval of one large cell. Degrees of freedom by Satterthwaite (1946).

    The slopes of a share near 0 and of one near 1 have opposite signs, and the skews would cancel. To that extent the
    squares of the parts' own distances add up instead (MOVER: Zou and Donner 2008).

    A sum lacks an interval where too many of its parts, by weight, lack one (`MOST_LACKING`). The chance that a part is
    missing is the mean over its parts; one that is missing here is as likely as not to be there in another sample.
    """

    def __init__(self) -> None:
        self.weight = 0.0
        self._evidence = self._absent = self._missing = 0.0
        self._value = self._variance = self._reach = self._slope = self._curve = self._by_freedom = 0.0
        self._slopes = self._below = self._above = 0.0  # slopes without their signs; squares of distances
        self._lacking: dict[str, float] = defaultdict(float)  # weight of the parts
        self._known, self._bias = True, 0.0

    def add(self, part: Estimate, weight: float = 1.0) -> None:
        reach = weight**2 * part.reach()
        below, above = part.distances(Z) if weight > 0 else part.distances(Z)[::-1]
        self.weight += weight
        self._value += weight * part.value
        self._bias += weight * part.bias
        self._variance += weight**2 * part.variance
        self._reach += reach
        self._slope += weight * part.slope * reach
        self._slopes += abs(weight * part.slope) * reach
        self._below += (weight * below) ** 2
        self._above += (weight * above) ** 2
        self._curve += part.curve * reach**2
        self._evidence += part.evidence
        self._missing += weight * part.missing
        if part.lacking:
            self._lacking[part.lacking] += weight
        self._known = self._known and part.freedom > 0
        if part.freedom > 0:
            self._by_freedom += reach**2 / part.freedom

    def miss(self, weight: float = 1.0) -> None:
        """Take note of a part whose number is missing here, and may be there in another sample."""
        self._absent += weight
        self._missing += weight / 2

    def estimate(self) -> Estimate:
        freedom = math.inf if self._by_freedom == 0 else self._reach**2 / self._by_freedom
        whole = self._reach or 1.0  # without any variance there is nothing to share
        slope, curve = self._slope / whole, self._curve / whole**2
        shared = Estimate(self._value, self._variance, freedom if self._known else 0.0, slope, curve)
        opposed = 1 - abs(self._slope) / self._slopes if self._slopes else 0.0
        found = self._apart(shared, opposed) if opposed > _ROUNDING else shared
        lacking = lacking_in(self._lacking, self.weight)
        missing = self._missing / (self.weight + self._absent) if self._missing else 0.0
        return replace(found, lacking=lacking, evidence=self._evidence, missing=missing, bias=self._bias)

    def _apart(self, shared: Estimate, opposed: float) -> Estimate:
        below, above = shared.distances(Z)
        below = math.sqrt((1 - opposed) * below**2 + opposed * self._below)
        above = math.sqrt((1 - opposed) * above**2 + opposed * self._above)
        return between(shared.value, below, above, shared.freedom)

    def mean(self) -> Estimate:
        """The weighted mean of a sum with at least one part."""
        return scaled(self.estimate(), 1 / self.weight)


def lacking_in(parts: Mapping[str, float], whole: float) -> str | None:
    """The reason why a mean lacks an interval: that of more parts of `whole` than `MOST_LACKING` allows, if any."""
    if parts.get(FEW_RESPONSES, 0.0) > MOST_LACKING[FEW_RESPONSES] * whole:
        return FEW_RESPONSES
    return FEW_ITEMS if sum(parts.values()) > MOST_LACKING[FEW_ITEMS] * whole else None


def mean(parts: Iterable[Estimate]) -> Estimate:
    """The mean of at least one independent estimate."""
    total = Sum()
    for part in parts:
        total.add(part)
    return total.mean()


def scaled(estimate: Estimate, by: float) -> Estimate:
    """`estimate` times a positive number."""
    value, bias = estimate.value * by, estimate.bias * by
    return replace(estimate, value=value, bias=bias, variance=estimate.variance * by**2, slope=estimate.slope * by)


def difference(one: Estimate, other: Estimate) -> Estimate:
    """`one` - `other`, of independent responses, by MOVER (Zou and Donner 2008, equation 6).

    The squares of the distances to the limits add up, the upper one of `other` to the lower one of the difference.
    """
    spread = Sum()
    spread.add(one)
    spread.add(other, -1.0)
    total = spread.estimate()
    (below, above), (other_below, other_above) = one.distances(Z), other.distances(Z)
    down, up = math.hypot(below, other_above), math.hypot(above, other_below)
    return replace(between(total.value, down, up, total.freedom), lacking=one.withheld() or other.withheld())


def resting_on(estimate: Estimate, responses: float, enough: float = FEWEST_RESPONSES) -> Estimate:
    """`estimate`, of a cell with so many responses; `enough` of them have an interval, alone or with other cells."""
    lacking = FEW_RESPONSES if responses < FEWEST_RESPONSES else estimate.lacking
    return replace(estimate, lacking=lacking, evidence=responses / enough)


def no_narrower(estimate: Estimate, slope: float) -> Estimate:
    """`estimate` with limits no nearer than they would be if its variance changed by `slope`."""
    (below, above), (other_below, other_above) = (
        one.distances(Z) for one in (estimate, replace(estimate, slope=slope))
    )
    return between(estimate.value, max(below, other_below), max(above, other_above), estimate.freedom)


def between(value: float, below: float, above: float, freedom: float) -> Estimate:
    """The estimate whose limits have these distances for a known variance."""
    return Estimate(value, below * above / Z**2, freedom, (above - below) / Z**2)


def student(freedom: float) -> float:
    """The 97.5 % quantile of Student's distribution."""
    if math.isinf(freedom):
        return Z
    from scipy.special import stdtrit  # here: every command loads this module, and scipy takes as long as the rest

    return float(stdtrit(freedom, 0.975))


class Place(NamedTuple):
    """What a number is of: a cell, or what is left of one after averaging. `other_language` is that of consensus."""

    model: str
    language: str
    other_language: str
    topic: str
    condition: str
    country: str
    wording: str


def levels_of(metric: str) -> tuple[Level, ...]:
    """The levels of a metric's means; of consensus without those that keep one language (`OF_LANGUAGE`)."""
    if metric == "consensus":
        return OF_MODEL + OF_PAIR + PAIR_OF_WORDINGS
    every = OF_MODEL + OF_LANGUAGE + OF_COUNTRY + OF_WORDINGS
    return by_condition(every) if metric in PER_CONDITION else every


def by_condition(levels: tuple[Level, ...]) -> tuple[Level, ...]:
    """The levels that do not average over conditions."""
    return tuple(level for level in levels if "condition" in level)


def kept(place: Place, level: Level) -> Place:
    """What a level keeps of a cell."""
    other = EVERY if place.other_language != WITHOUT else WITHOUT
    every = Place(place.model, EVERY, other, EVERY, EVERY, EVERY, EVERY)
    return every._replace(**{column: getattr(place, column) for column in level})


def level_name(level: Level) -> str:
    """'model, language'"""
    return ", ".join(("model", *level))


@dataclass(frozen=True)
class Uncertainty:
    """How uncertain the numbers of a model are: by metric and cell, and by metric, level and what the level keeps."""

    of_cells: dict[tuple[str, Place], Estimate] = field(default_factory=dict)
    of_means: dict[tuple[str, Level, Place], Sum] = field(default_factory=dict)

    def add_cell(self, metric: str, place: Place, estimate: Estimate, levels: tuple[Level, ...] = ()) -> None:
        """The number of a cell, which enters the means at `levels`."""
        self.of_cells[metric, place] = estimate
        self.add_part(metric, levels, place, estimate)

    def add_part(
        self, metric: str, levels: tuple[Level, ...], place: Place, estimate: Estimate, cells: float = 1.0
    ) -> None:
        """An independent part of the means at `levels`: itself the mean of `cells` numbers."""
        for level in levels:
            self.of_means.setdefault((metric, level, kept(place, level)), Sum()).add(estimate, cells)

    def miss(self, metric: str, levels: tuple[Level, ...], place: Place) -> None:
        """A cell that has no such number in this sample, in the means at `levels`."""
        for level in levels:
            self.of_means.setdefault((metric, level, kept(place, level)), Sum()).miss()
