"""Shares of one sample of responses, and means of independent ones."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from polyculture.metrics.inference.crossed import satterthwaite
from polyculture.metrics.inference.jackknife import Numbers, long_response_variance, ratio
from polyculture.metrics.inference.limits import Estimate


def share_of(numerators: Numbers, denominators: Numbers) -> Estimate | None:
    """sum / sum over responses, by the jackknife over them; None where no response has a denominator.

    Responses without a denominator say nothing, and are not needed.
    """
    told = denominators > 0
    size = int(told.sum())
    if not size:
        return None
    value, changes = ratio(numerators[told], denominators[told])
    variance = (size - 1) / size * float((changes**2).sum() - changes.sum() ** 2 / size)
    whole, longest = (np.array([part]) for part in (denominators.sum(), denominators.max()))
    rare = float(long_response_variance(np.array([value]), whole, longest)[0])
    return Estimate(value, max(variance, 0.0) + rare, max(size - 1, 1), size, share=True)


def mean_share(parts: Iterable[Estimate]) -> Estimate:
    """The mean of at least one share, all of independent responses."""
    several = list(parts)
    count = len(several)
    variances = [(one.variance / count**2, one.freedom) for one in several]
    variance = math.fsum(each for each, _ in variances)
    known = sum(one.told > 1 for one in several)
    return Estimate(
        math.fsum(one.value for one in several) / count,
        variance * count / known if known else 0.0,
        satterthwaite(variance, variances),
        sum(one.told for one in several),
        share=True,
    )
