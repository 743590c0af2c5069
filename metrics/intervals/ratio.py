"""The interval of a ratio of sums over responses: granularity, specificity."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from metrics.intervals.estimate import Estimate, symmetric, wilson

Numbers = NDArray[np.float64]


def ratio_estimate(responses: Numbers, numerators: Numbers, denominators: Numbers) -> Estimate | None:
    """sum(numerators) / sum(denominators) over responses; None where there is nothing to divide by.

    Responses with the same numerator (specific or associated mentions) and denominator (mentions, more than 0) stand in
    one row; `responses` says how many they are. The effective sample size that the jackknife's variance implies goes
    into Wilson's interval (Dean and Pagano 2015). Where the responses do not differ, each counts as one mention.
    What is no proportion (mentions that count for several countries) has the jackknife's symmetric interval.
    """
    size, top, bottom = responses.sum(), responses @ numerators, responses @ denominators
    if bottom <= 0:
        return None
    value = float(top / bottom)
    variance = _jackknife_variance(responses, numerators, denominators) if size > 1 else 0.0
    if (numerators > denominators).any():
        return symmetric(value, variance, float(size) - 1)
    if variance > 0:
        return wilson(value, value * (1 - value) / variance, float(size) - 1)
    return wilson(value, float(size), math.inf)


def _jackknife_variance(responses: Numbers, numerators: Numbers, denominators: Numbers) -> float:
    size, top, bottom = responses.sum(), responses @ numerators, responses @ denominators
    without_one = (top - numerators) / (bottom - denominators)
    center = responses @ without_one / size
    return float((size - 1) / size * (responses @ (without_one - center) ** 2))
