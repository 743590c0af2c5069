"""Other prompts like these: a mean over crossed topics and countries, both as they were sampled.

x[t, c] is a number, or a difference, of a topic and a country: averaged over conditions, wordings, names, languages and
samples, so that these are fixed, and what they share is in one value. The mean g is that of the cells behind them: w[t,
c] is the share of them that a topic and a country have. It varies with the topics and the
countries that happened to be asked:

    V_T = sum over topics of w_t^2 (x_t - g)^2 / (1 - 2 w_t + sum of w_t^2)
    variance = max(V_T + V_C - V_I, V_T, V_C)

V_T is without bias where topics vary alike, whatever their weights, and its degrees of freedom are those of such topics
(Bell and McCaffrey 2002, Survey Methodology 28, 169); V_C of countries likewise; V_I is of what is left once topics and
countries are added up. Where all weigh the same these are mean squares with their usual degrees. Those of the variance
are Satterthwaite's, and no fewer than V_T or V_C has. Over 6 topics and 12 countries this covers 95 to 97 % where they
matter and 99 % where they do not, at 1.1 to 1.5 times the width of a known variance. To pool a factor that seems not to
matter would be narrower, and tells differences that are none: of many pairs of models some have topics that agree.

Prompts that name no country vary with their topics alone. Where a number is of one country or none, or of one topic,
the other factor alone is sampled: Student's interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyculture.metrics.inference.arrays import Floats, Integers
from polyculture.metrics.inference.crossed import satterthwaite
from polyculture.metrics.inference.limits import student

# Topics and countries that a run needs of each that it samples. Five have four degrees of freedom where they weigh
# alike; where they do not, three are asked for. With three topics an interval reaches 4.3 standard errors.
FEWEST, FEWEST_FREEDOM = 5, 3.0
MOST_FILLED = 0.05  # the highest share of places without a value, which are filled in
_SWEEPS = 50
_ALIKE = 1e-9  # a spread below this part of the largest value is rounding
FEW_TOPICS, FEW_COUNTRIES, INCOMPLETE, NO_SPREAD = "few topics", "few countries", "incomplete", "no spread"


@dataclass(frozen=True, slots=True)
class PromptMean:
    """The mean of a table of topics by countries, its variance, and what it rests on; or the reason why it has none."""

    topics: int
    countries: int
    variance: float = math.nan
    freedom: float = math.nan
    reason: str | None = None

    @property
    def unit(self) -> str:
        """What was sampled."""
        if self.topics > 1 and self.countries > 1:
            return "topic x country"
        return "country" if self.countries > 1 else "topic"

    @property
    def reach(self) -> float:
        """The distance of the limits of Student's 95 % interval."""
        return student(self.freedom) * math.sqrt(self.variance)

    def within(self, value: float, lowest: float, highest: float) -> tuple[float | None, float | None]:
        """The interval of a mean `value` in the range of the number; None where there is a reason to withhold it."""
        if self.reason is not None:
            return None, None
        return max(lowest, value - self.reach), min(highest, value + self.reach)


def prompt_mean(topics: Sequence[object], countries: Sequence[object], values: Floats) -> PromptMean:
    """The mean of the cells' `values` over other topics and countries like theirs; None: no country."""
    named = np.array([country is not None for country in countries], dtype=bool)
    share = np.full(len(values), 1 / len(values))
    _, topic = np.unique(np.asarray(topics), return_inverse=True)
    _, country = np.unique(np.asarray([one for one in countries if one is not None]), return_inverse=True)
    sizes = int(topic.max()) + 1, max(int(country.max(initial=0)) + 1, 1)
    small = (_ALIKE * np.abs(values).max()) ** 2
    if 1 in sizes:
        by_topic = sizes[0] > 1 or sizes[1] == 1
        few = FEW_TOPICS if by_topic else FEW_COUNTRIES
        if max(sizes) < FEWEST:
            return PromptMean(*sizes, reason=few)
        part = _of_factor(topic, share, values) if by_topic else _of_factor(country, share[named], values[named])
        if part[1] < FEWEST_FREEDOM:
            return PromptMean(*sizes, reason=few)
        return PromptMean(*sizes, *part) if part[0] > small else PromptMean(*sizes, reason=NO_SPREAD)
    for size, reason in zip(sizes, (FEW_TOPICS, FEW_COUNTRIES), strict=True):
        if size < FEWEST:
            return PromptMean(*sizes, reason=reason)
    rest = _of_both(topic[named], country, share[named], values[named])
    if rest is None:
        return PromptMean(*sizes, reason=INCOMPLETE)
    parts = [_of_factor(topic, share, values), _of_factor(country, share[named], values[named]), rest]
    for (_, freedom), reason in zip(parts, (FEW_TOPICS, FEW_COUNTRIES), strict=False):
        if freedom < FEWEST_FREEDOM:
            return PromptMean(*sizes, reason=reason)
    if max(part for part, _ in parts) <= small:
        return PromptMean(*sizes, reason=NO_SPREAD)
    variance = max(parts[0][0] + parts[1][0] - rest[0], parts[0][0], parts[1][0])
    # V_I, where it is large beside V_T and V_C, would leave fewer degrees than either has: but V is V_T or more.
    fewest = min(freedom for _, freedom in parts[:2])
    return PromptMean(*sizes, variance, max(satterthwaite(variance, parts), fewest))


def _of_factor(unit: Integers, weights: Floats, values: Floats) -> tuple[float, float]:
    """V_T of topics, with its degrees of freedom."""
    whole = np.bincount(unit, weights)
    means, total = np.bincount(unit, weights * values) / whole, float(whole.sum())
    share = whole / total
    scaled = share**2 / (1 - 2 * share + (share**2).sum())
    variance = float((scaled * (means - share @ means) ** 2).sum()) * total**2
    crossed = np.outer(scaled, share)
    form = np.diag(scaled) - crossed - crossed.T + scaled.sum() * np.outer(share, share)
    return variance, float(np.trace(form) ** 2 / (form**2).sum())


def _of_both(topic: Integers, country: Integers, weights: Floats, values: Floats) -> tuple[float, float] | None:
    """V_I with its degrees of freedom; None where too many places have no value."""
    _, row = np.unique(topic, return_inverse=True)
    shape = int(row.max()) + 1, int(country.max()) + 1
    place, size = row * shape[1] + country, shape[0] * shape[1]
    whole, sums = (np.bincount(place, of, size).reshape(shape) for of in (weights, weights * values))
    missing = whole == 0
    freedom = (shape[0] - 1) * (shape[1] - 1) - int(missing.sum())
    if missing.mean() > MOST_FILLED or freedom < 1:
        return None
    table = _filled(np.divide(sums, whole, out=np.full(shape, np.nan), where=~missing), missing)
    rest = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0, keepdims=True) + table.mean()
    return float((whole**2 * rest**2).sum()) * int((~missing).sum()) / freedom, float(freedom)


def _filled(table: Floats, missing: NDArray[np.bool_]) -> Floats:
    """The table with its missing values at what topic and country add up to."""
    if not missing.any():
        return table
    filled = np.where(missing, np.nanmean(table), table)
    for _ in range(_SWEEPS):
        additive = filled.mean(axis=1)[:, None] + filled.mean(axis=0)[None, :] - filled.mean()
        filled = np.where(missing, additive, filled)
    return filled
