"""The interval of a ratio of sums over responses: granularity, specificity."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from polyculture.metrics.intervals.estimate import Estimate, symmetric, wilson

Numbers = NDArray[np.float64]
PRIOR = 0.5  # of a response that is an exception, all mentions of which agree: its part in the sum of squares


def ratio_estimate(responses: Numbers, numerators: Numbers, denominators: Numbers) -> Estimate | None:
    """sum(numerators) / sum(denominators) over responses; None where the denominator is 0.

    Responses with the same numerator (specific or associated mentions) and denominator (mentions, more than 0) share
    one row; `responses` counts them. Wilson's interval uses the effective sample size that the variance implies (Dean
    and Pagano 2015). The variance is the larger one of the jackknife's and that of clustered mentions with the observed
    intraclass correlation: where few responses are exceptions, the jackknife depends on their lengths. Where the
    responses do not differ, each counts as one mention, less where they are of unequal length (Kish). A ratio that is
    no proportion (mentions that count for several countries) has the jackknife's symmetric interval.
    """
    size, top, bottom = responses.sum(), responses @ numerators, responses @ denominators
    if bottom <= 0:
        return None
    value = float(top / bottom)
    variance = _jackknife_variance(responses, numerators, denominators) if size > 1 else 0.0
    if (numerators > denominators).any():
        return symmetric(value, variance, float(size) - 1)
    if variance > 0:
        variance = max(variance, _clustered_variance(responses, numerators, denominators))
        return wilson(value, value * (1 - value) / variance, float(size) - 1)
    return wilson(value, float(bottom**2 / (responses @ denominators**2)), math.inf)


def _clustered_variance(responses: Numbers, numerators: Numbers, denominators: Numbers) -> float:
    """The variance of a share of mentions that are correlated within responses (Kish's design effect, unequal lengths).

    The intraclass correlation comes from the analysis of variance. Half a response of mentions that agree is added to
    it; without this, a few exceptions that happen to stand alone would count as independent ones.
    """
    size, top, bottom = responses.sum(), responses @ numerators, responses @ denominators
    value = top / bottom
    within = responses @ (numerators * (denominators - numerators) / denominators)
    expected = (bottom - size) * value * (1 - value) + PRIOR
    alike = min(1.0, max(0.0, 1 - within / expected))
    lengths = responses @ denominators**2 / bottom  # the mean length of the response that a mention stands in
    return float(value * (1 - value) / bottom * (1 + alike * (lengths - 1)))


def _jackknife_variance(responses: Numbers, numerators: Numbers, denominators: Numbers) -> float:
    size, top, bottom = responses.sum(), responses @ numerators, responses @ denominators
    without_one = (top - numerators) / (bottom - denominators)
    center = responses @ without_one / size
    return float((size - 1) / size * (responses @ (without_one - center) ** 2))
