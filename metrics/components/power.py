"""What difference a design finds: of two models, or of two languages, in the same prompts.

With B prompts (a topic and a country each), W wordings and n samples, the variance of the difference of two sides is

    these prompts               2 sampling / (B W)
    other prompts like these    2 (block / B + (rest + sampling) / (B W))

The first is over other samples, the second over other topics and countries, in these wordings; its interval is that of
`inference.prompts`, whose width is drawn. Where topics or countries matter as a whole, so that prompts of one topic err
alike, it takes more than is said here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from polyculture.metrics.components.design import LANGUAGE, MODEL, NAME, Design
from polyculture.metrics.inference.family import THESE
from polyculture.metrics.inference.jackknife import Numbers
from polyculture.metrics.inference.limits import student
from polyculture.metrics.inference.prompts import prompt_mean

_DRAWN = 1000


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

    @property
    def varies(self) -> bool:
        """Whether any two numbers differed: without that, nothing says what a difference would have to exceed."""
        return self.block + (self.rest or 0.0) + self.sampling > 0

    def scaled(self, values: int, samples: float) -> Noise:
        """The same with so many prompts in a mean, and so many samples of each."""
        factor = self.values * self.responses / (values * samples)
        return replace(self, sampling=self.sampling * factor, values=values, responses=samples)


@dataclass(frozen=True, slots=True)
class Plan:
    """A design for a comparison."""

    topics: int
    countries: int
    wordings: int
    samples: float

    @property
    def blocks(self) -> int:
        """Prompts: topics x countries."""
        return self.topics * self.countries


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
    return noise_of(flat - flat.mean(axis=0), sides - 1, table.sampling / count, responses, count)


def noise_of(
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


def found_difference(noise: Noise, plan: Plan, power: float, target: str) -> float | None:
    """The smallest difference of two sides that has p < .05 with this power; None where no such test is possible.

    `noise` is of one prompt per value, which `plan.samples` answer. The target as of `compare`.
    """
    sampled = noise.scaled(noise.values, plan.samples).sampling
    if target == THESE:
        values = plan.blocks * plan.wordings
        freedom = 2 * values * noise.values * (plan.samples - 1)
        return _found(2 * sampled / values, np.array([student(freedom)]), power) if plan.samples > 1 else None
    # With one wording in the run, `block` holds what wordings add: it is taken not to shrink with more of them.
    variance = 2 * (noise.block + ((noise.rest or 0.0) + sampled) / plan.wordings) / plan.blocks
    reach = _reach(plan.topics, plan.countries)
    return None if reach is None else _found(variance, reach, power)


@cache
def _reach(topics: int, countries: int) -> Numbers | None:
    """Half the widths of intervals over other prompts, in standard errors, where neither factor matters."""
    random = np.random.default_rng(0)
    topic, country = np.divmod(np.arange(topics * countries), countries)
    means = [
        prompt_mean(topic.tolist(), country.tolist(), random.normal(size=topics * countries)) for _ in range(_DRAWN)
    ]
    if any(one.reason for one in means):
        return None
    return np.array([one.reach for one in means]) * math.sqrt(topics * countries)


def _mean_square(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], freedom: int) -> float:
    return float((values**2).sum()) / freedom


def _found(variance: float, reach: Numbers, power: float) -> float:
    """The true difference that lies beyond an interval's reach with this power; width and centre are independent."""

    def short(away: float) -> float:
        return float((ndtr(away - reach) + ndtr(-away - reach)).mean()) - power

    return math.sqrt(variance) * float(brentq(short, 0.0, 20 * reach.max(), xtol=1e-6))
