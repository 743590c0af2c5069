"""What difference a design finds: of two models, or of two languages, in the same prompts.

A prompt that both sides answer is a block: a topic and a country. Blocks are sampled, and so are wordings. The test of
`polyculture compare` holds the difference against its spread over blocks: it speaks of these wordings, in other topics
and countries. A difference that is also to hold in other wordings has their part in its error, which no number of
samples or blocks removes.

With B blocks and W wordings, the variance of the difference of two sides is

    2 (block / B + wording / W + (rest + sampling) / (B W)),

without `wording` where the wordings are these. Degrees of freedom: B - 1, or by Satterthwaite (1946) from the spread
over blocks, over wordings (W - 1), and of their interaction (Owen 2007; Cameron, Gelbach and Miller 2011). `compare`
allows for skewness, too, which costs power where blocks are few; so does a spread over few wordings. Both are allowed
for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtri, ndtr, ndtri, stdtrit

from polyculture.metrics.components.design import LANGUAGE, MODEL, NAME, Design
from polyculture.metrics.components.distribution import LEVELS

ALPHA = 0.05
# What more than Student's test needs, by simulation (tests/metrics/test_power.py): `compare`'s allowance for skewness,
# as a factor 1 + 40 / B^2, and degrees of freedom that are themselves estimated from few wordings.
_OF_SKEWNESS, _OF_FEW_WORDINGS = 40.0, 1.08


@dataclass(frozen=True, slots=True)
class Noise:
    """The variances of one side's value in a block and a wording, as deviations from the other sides'.

    `wording` and `rest` are None where the run asked one wording; `block` then includes both. `sampling` is that of a
    mean over `values` prompts of `responses` each: of other languages, models, names.
    """

    block: float
    wording: float | None
    rest: float | None
    sampling: float
    responses: float
    values: int

    def scaled(self, values: int, samples: float) -> Noise:
        """The same with so many prompts in a mean, and so many samples of each."""
        factor = self.values * self.responses / (values * samples)
        return replace(self, sampling=self.sampling * factor, values=values, responses=samples)


@dataclass(frozen=True, slots=True)
class Plan:
    """A design for a comparison. `finds` is the difference that it finds with the wanted power, None where none is."""

    blocks: int
    wordings: int
    samples: float


def noise_of_sides(table: Design, side: int, responses: float) -> Noise | None:
    """What a run says of comparisons of two levels of `side`, `MODEL` or `LANGUAGE`.

    None where it has one level, or one block, or where nothing tells sampling from the rest.
    """
    other = LANGUAGE if side == MODEL else MODEL
    values = table.values.mean(axis=(other, NAME))  # side, topic, country, wording
    sides, blocks, wordings = values.shape[0], values.shape[1] * values.shape[2], values.shape[3]
    if sides < 2 or blocks < 2 or table.sampling is None:
        return None
    flat = values.reshape(sides, blocks, wordings)
    count = table.levels[other] * table.levels[NAME]
    return _noise_of(flat - flat.mean(axis=0), sides - 1, table.sampling / count, responses, count)


def noise_of_one_side(table: Design, responses: float) -> Noise | None:
    """The most noise that comparisons of two models or languages can have, from a run that asked one of each.

    The two are taken to have nothing in common: what differs between blocks and wordings of one side is all noise.
    None where there is one block, more than one side, or where nothing tells sampling from the rest.
    """
    blocks, wordings = table.values.shape[2] * table.values.shape[3], table.values.shape[4]
    if table.levels[MODEL] > 1 or table.levels[LANGUAGE] > 1 or blocks < 2 or table.sampling is None:
        return None
    flat = table.values.mean(axis=NAME).reshape(1, blocks, wordings)
    count = table.levels[NAME]
    return _noise_of(flat, 1, table.sampling / count, responses, count)


def _noise_of(
    flat: np.ndarray[tuple[int, ...], np.dtype[np.float64]], free: int, sampling: float, responses: float, count: int
) -> Noise:
    """The variances in sides x blocks x wordings of which `free` sides vary freely; a value is of `count` prompts."""
    _, blocks, wordings = flat.shape
    over_blocks, over_wordings = flat.mean(axis=1, keepdims=True), flat.mean(axis=2, keepdims=True)
    grand = flat.mean(axis=(1, 2), keepdims=True)
    of_blocks = _mean_square(over_wordings - grand, free * (blocks - 1))
    if wordings < 2:
        return Noise(max(of_blocks - sampling, 0.0), None, None, sampling, responses, count)
    crossed = _mean_square(flat - over_blocks - over_wordings + grand, free * (blocks - 1) * (wordings - 1))
    of_wordings = _mean_square(over_blocks - grand, free * (wordings - 1))
    return Noise(
        block=max(of_blocks - crossed / wordings, 0.0),
        wording=max(of_wordings - crossed / blocks, 0.0),
        rest=max(crossed - sampling, 0.0),
        sampling=sampling,
        responses=responses,
        values=count,
    )


def found_difference(noise: Noise, plan: Plan, power: float, *, other_wordings: bool = False) -> float | None:
    """The smallest difference of two sides that has p < .05 with this power; None where no such test is possible.

    `noise` is of one prompt per value, which `plan.samples` answer; infinitely many samples or blocks give the floor.
    """
    if plan.blocks < 2:
        return None
    sampled = noise.scaled(noise.values, plan.samples).sampling if math.isfinite(plan.samples) else 0.0
    rest = (noise.rest or 0.0) + sampled
    # With one wording in the run, `block` holds what wordings add: it is taken not to shrink with more of them.
    over_blocks = 2 * (noise.block + rest / plan.wordings) / plan.blocks
    if not other_wordings:
        student = _found(over_blocks, plan.blocks - 1, power)
        return None if student is None else student * (1 + _OF_SKEWNESS / plan.blocks**2)
    if noise.wording is None or plan.wordings < 2:
        return None
    crossed = 2 * rest / plan.blocks / plan.wordings
    over_wordings = 2 * noise.wording / plan.wordings + crossed
    variance = over_blocks + over_wordings - crossed
    parts = (
        (over_blocks, plan.blocks - 1),
        (over_wordings, plan.wordings - 1),
        (crossed, (plan.blocks - 1) * (plan.wordings - 1)),
    )
    squares = sum(part**2 / freedom for part, freedom in parts)
    student = _found(variance, variance**2 / squares if squares > 0 else math.inf, power)
    return None if student is None else student * _OF_FEW_WORDINGS


def _mean_square(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], freedom: int) -> float:
    return float((values**2).sum()) / freedom


def _found(variance: float, freedom: float, power: float) -> float | None:
    """The true difference with which Student's two-sided test finds one with this power."""
    if freedom <= 0:
        return None
    limit = float(stdtrit(freedom, 1 - ALPHA / 2)) if math.isfinite(freedom) else float(ndtri(1 - ALPHA / 2))
    errors = np.sqrt(chdtri(freedom, LEVELS) / freedom) if math.isfinite(freedom) else np.ones(1)

    def short(away: float) -> float:
        return float((ndtr(away - limit * errors) + ndtr(-away - limit * errors)).mean()) - power

    return math.sqrt(variance) * float(brentq(short, 0.0, 20 * limit, xtol=1e-6))
