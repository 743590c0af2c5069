"""The interval of other wordings and names: the mean of each wording is one draw from all that could be written.

The interval of other samples says nothing of other wordings: responses to one wording share its effect. Here the unit
is the wording. Its mean M_w, over the same cells for every wording, is one number, whether effects are of the wording,
of topic and wording, of language and wording, or of single cells and the names drawn in them: in all of these cases the
M_w are independent and alike in distribution. So their mean has a Student interval with W - 1 degrees of freedom. Where
a person stands in several wordings, what is special about the name is in several M_w: then there is no interval.

Near the limits of a metric wordings scatter unevenly. The same interval is therefore computed once more on a scale
without limits (logits of shares, logarithms of counts), around the same mean, and whichever limit is farther counts.
Both are wider than Student's (`wider`), since skewed effects cannot be seen in so few wordings: without it they cover
88 % where effects of wordings are exponential. `bench/coverage.py` has the worlds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, stdtrit

from polyculture.metrics.intervals.estimate import METHODS

FEWEST_WORDINGS = 3  # as the macro `fewest_wordings`
MOST_LACKING = 0.05  # the highest share of a mean's numbers whose cells lack one in another wording
# Why there is no interval.
MISSING, NO_SPREAD, AT_LIMIT, NAMES_SHARED = "missing numbers", "no spread", "at a limit", "names shared by wordings"
_ALIKE = 1e-9  # a spread below this fraction of the largest value is rounding
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WordingsInterval:
    """The 95 % interval of other wordings and names, or the reason why there is none."""

    low: float | None = None
    high: float | None = None
    withheld: str | None = None


def wordings_interval(
    metric: str, estimate: float, means: Sequence[float], lacking: float = 0.0, names_shared: bool = False
) -> WordingsInterval:
    """The interval around the mean of a metric's `means` per wording, which all are over the same cells.

    `estimate` is the mean of all numbers. `lacking` is the share of these that are in none of the `means`, as their
    cells lack a number in another wording: the interval is widened to hold the estimate, and withheld above 5 %.
    With `names_shared` the `means` are not independent, and it is withheld.
    """
    if names_shared:
        return WordingsInterval(withheld=NAMES_SHARED)
    if len(means) < FEWEST_WORDINGS or lacking > MOST_LACKING:
        return WordingsInterval(withheld=MISSING)
    values = np.array(means, dtype=np.float64)
    _, lowest, highest = METHODS[metric]
    if values.min() <= lowest or values.max() >= highest:
        return WordingsInterval(withheld=AT_LIMIT)
    if np.ptp(values) <= _ALIKE * float(np.abs(values).max()):
        return WordingsInterval(withheld=NO_SPREAD)
    low, high = _limits(values, lowest, highest)
    return WordingsInterval(min(low, estimate), max(high, estimate))


def wider(draws: int) -> float:
    """How much wider than Student's: 1.45 times with three draws, 1.17 with ten, 1.1 from twelve.

    So the mean of draws from an exponential distribution, which Student's interval covers in 88 to 90 %, is covered in
    93 %, and that of normal ones in 97 to 98 %. Where draws are more skewed than that, fewer are covered.
    """
    return max(1.1, 1.57 - 0.04 * draws)


def _limits(values: Numbers, lowest: float, highest: float) -> tuple[float, float]:
    centre, reach = float(values.mean()), _reach(values)
    free, back = _unlimited(values, lowest, highest), float(_unlimited(np.array([centre]), lowest, highest)[0])
    below, above = (_limited(back + side * _reach(free), lowest, highest) for side in (-1, 1))
    return max(lowest, min(centre - reach, below)), min(highest, max(centre + reach, above))


def _reach(values: Numbers) -> float:
    """Half the interval of the mean of a few draws."""
    draws = len(values)
    return wider(draws) * float(stdtrit(draws - 1, 0.975)) * float(values.std(ddof=1)) / math.sqrt(draws)


def _unlimited(values: Numbers, lowest: float, highest: float) -> Numbers:
    free = np.log(values - lowest) if math.isinf(highest) else logit((values - lowest) / (highest - lowest))
    return np.asarray(free, dtype=np.float64)


def _limited(free: float, lowest: float, highest: float) -> float:
    if math.isinf(highest):
        return lowest + math.exp(min(free, 700.0))
    return lowest + (highest - lowest) * float(expit(free))
