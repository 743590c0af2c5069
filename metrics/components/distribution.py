"""Confidence distributions of variances: for every level, the limit below which the truth lies with that confidence.

A mean square over its expectation is a chi-squared variable. A sum of mean squares with signs has the limits of the
modified large-sample method (Graybill and Wang 1980; with differences Ting et al. 1990), a fixed effect those of the
noncentral distribution over draws of its noise (Weerahandi 1993). Nothing is random: levels are those of a lattice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, chndtr, ndtr

from polyculture.metrics.components.design import Numbers

POINTS, _STEP = 987, 610  # neighbouring Fibonacci numbers: an even spread in two dimensions
LEVELS: Numbers = (np.arange(POINTS) + 0.5) / POINTS
_SECOND: Numbers = (np.arange(POINTS) * _STEP % POINTS + 0.5) / POINTS
UNKNOWN: Numbers = np.full(POINTS, np.nan)
_LARGE = 2000.0  # from here on Sankaran's approximation is exact to four digits
_BISECTIONS = 24


@dataclass(frozen=True, slots=True)
class MeanSquare:
    """A mean square with a factor: how it enters a sum."""

    factor: float
    value: float
    freedom: float


@dataclass(frozen=True, slots=True)
class Spread:
    """A number with its confidence distribution: the limit at each of `LEVELS`, or `UNKNOWN`."""

    value: float
    limits: Numbers


def interval(limits: Numbers) -> tuple[float, float] | None:
    """The 95 % limits of what is not below 0. None where no level has one, or all are below 0."""
    if np.isnan(limits).any():
        return None
    low, high = np.quantile(limits, [0.025, 0.975])
    return (max(float(low), 0.0), float(high)) if high > 0 else None


def sum_of_squares(parts: Sequence[MeanSquare]) -> Spread:
    """A sum of independent mean squares, each times its factor.

    Where all of them are 0 a few values that happen to agree say nothing of how far others would.
    """
    value = sum(part.factor * part.value for part in parts)
    if all(part.value <= 0 for part in parts):
        return Spread(value, UNKNOWN)
    distances = []
    for part in parts:
        levels = LEVELS if part.factor > 0 else 1 - LEVELS
        away = part.freedom / np.asarray(chdtri(part.freedom, levels), dtype=np.float64) - 1
        distances.append(part.factor * part.value * away)
    return Spread(value, value + _root_of_squares(distances))


def sum_of(parts: Sequence[Spread]) -> Spread:
    """A sum of independent numbers: the squares of their distances add up (Zou and Donner 2008)."""
    value = sum(part.value for part in parts)
    return Spread(value, value + _root_of_squares([part.limits - part.value for part in parts]))


def share_of(part: Spread, rest: Spread) -> Numbers:
    """The limits of the share that `part` is of the sum of the two, neither of which is below 0."""
    if np.isnan(part.limits + rest.limits).any():
        return UNKNOWN
    own, other = np.maximum(part.limits, 0.0), np.maximum(np.interp(_SECOND, LEVELS, rest.limits), 0.0)
    return np.sort(np.divide(own, own + other, out=np.zeros(POINTS), where=own + other > 0))


def fixed_effect(squares: float, freedom: float, noise: MeanSquare, scale: float) -> Spread:
    """The sum of squared fixed effects, times `scale`, behind a sum of squares whose mean is `noise` without them.

    Noise of 0 is that of responses which happen to agree: how far others would is unknown, and so are the limits.
    """
    value = scale * (squares - freedom * noise.value)
    if noise.value <= 0:
        return Spread(value, UNKNOWN)
    unit = noise.value * noise.freedom / np.asarray(chdtri(noise.freedom, _SECOND), dtype=np.float64)
    return Spread(value, np.sort(scale * unit * noncentrality(squares / unit, freedom, 1 - LEVELS)))


def noncentrality(squares: Numbers, freedom: float, chances: Numbers) -> Numbers:
    """The noncentrality at which the chance of a chi-squared variable to be below `squares` is that of `chances`.

    Where there is none it goes on below zero, as the distance from the central quantile.
    """
    central = chndtr(squares, freedom, 0.0)
    found = squares - chdtri(freedom, 1 - chances)
    above = chances <= central
    low, high = np.zeros(int(above.sum())), squares[above] + 12 * np.sqrt(squares[above] + freedom) + 60
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        more = _below(squares[above], freedom, middle) > chances[above]
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    found[above] = (low + high) / 2
    return found


def _root_of_squares(distances: Sequence[Numbers]) -> Numbers:
    total = sum((np.sign(distance) * distance**2 for distance in distances), np.zeros(POINTS))
    return np.asarray(np.sign(total) * np.sqrt(np.abs(total)))


def _below(squares: Numbers, freedom: float, noncentral: Numbers) -> Numbers:
    """The noncentral chi-squared distribution function; of large numbers by Sankaran (1963)."""
    large = squares + noncentral > _LARGE
    found = np.empty_like(squares)
    found[~large] = chndtr(squares[~large], freedom, noncentral[~large])
    mean, doubled = freedom + noncentral[large], freedom + 2 * noncentral[large]
    power = 1 - 2 * mean * (freedom + 3 * noncentral[large]) / (3 * doubled**2)
    p, m = doubled / mean**2, (power - 1) * (1 - 3 * power)
    center = 1 + power * p * (power - 1 - 0.5 * (2 - power) * m * p)
    deviation = ((squares[large] / mean) ** power - center) / (power * np.sqrt(2 * p) * (1 + 0.5 * m * p))
    found[large] = ndtr(deviation)
    return found
