"""What difference a design finds: of two models, or of two languages, in the same prompts.

With B prompts (a topic and a country each), W wordings and n samples, the variance of the difference of two sides is

    these prompts               2 sampling / (B W)
    new prompts like these    2 (block / B + (rest + sampling) / (B W))

The first is over other samples, the second over other topics and countries, in these wordings; its interval is that of
`inference.prompts`, whose width is drawn. Where topics or countries matter as a whole, so that prompts of one topic err
alike, it takes more than is said here.

The variances are those of a run's values by side, prompt and wording: means over languages or models, and names.
Prompts without a value of each side in each wording are left out.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from polyculture.metrics.inference.arrays import Floats
from polyculture.metrics.inference.family import SAME_PROMPTS
from polyculture.metrics.inference.limits import student
from polyculture.metrics.inference.prompts import prompt_mean
from polyculture.metrics.prompt_values import PromptValue

MODEL, LANGUAGE = "model", "language"  # what is compared
_DRAWN = 1000


@dataclass(frozen=True, slots=True)
class SideValues:
    """The values of sides x blocks x wordings; a block is a prompt's topic and country."""

    values: Floats
    sampling: float  # the mean sampling variance of a prompt's value
    count: int  # prompts behind a value


def of_one_condition(
    rows: Sequence[PromptValue], conditions: Sequence[str] = ()
) -> tuple[str, float, list[PromptValue]] | None:
    """The first of `conditions` that has values, else the one with most: its responses a prompt, and its values."""
    counts = Counter(row.place.condition for row in rows)
    if not counts:
        return None
    asked = [condition for condition in conditions if condition in counts]
    condition = asked[0] if asked else min(counts, key=lambda one: (-counts[one], one))
    own = [row for row in rows if row.place.condition == condition]
    return condition, sum(row.responses for row in own) / len(own), own


def side_values(rows: Sequence[PromptValue], side: str) -> SideValues | None:
    """The values by side; None where no block has all sides and wordings, or nothing tells sampling from the rest."""
    merged = _one_country_a_language(rows)
    found: dict[tuple[str, tuple[str, str], str], list[float]] = defaultdict(list)
    for row in rows:
        block = row.place.topic, "" if merged else row.place.country
        found[getattr(row.place, side), block, row.place.wording].append(row.estimate)
    sides, wordings = sorted({one for one, _, _ in found}), sorted({wording for _, _, wording in found})
    blocks = sorted({block for _, block, _ in found})
    whole = [block for block in blocks if all((one, block, wording) in found for one in sides for wording in wordings)]
    noise = [row.variance for row in rows if row.variance is not None]
    if not whole or not noise:
        return None
    lists = [[[found[one, block, wording] for wording in wordings] for block in whole] for one in sides]
    values = np.array([[[np.mean(of) for of in line] for line in block] for block in lists], dtype=np.float64)
    count = np.mean([len(of) for block in lists for line in block for of in line])
    return SideValues(values, float(np.mean(noise)), round(float(count)))


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


def noise_of_sides(rows: Sequence[PromptValue], side: str, responses: float) -> Noise | None:
    """What a run says of comparisons of two levels of `side`, `MODEL` or `LANGUAGE`.

    None where it has one level, or one block, or where nothing tells sampling from the rest.
    """
    table = side_values(rows, side)
    if table is None or table.values.shape[0] < 2 or table.values.shape[1] < 2:
        return None
    free = table.values.shape[0] - 1
    return noise_of(
        table.values - table.values.mean(axis=0), free, table.sampling / table.count, responses, table.count
    )


def noise_of(flat: Floats, free: int, sampling: float, responses: float, count: int) -> Noise:
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
    if target == SAME_PROMPTS:
        values = plan.blocks * plan.wordings
        freedom = 2 * values * noise.values * (plan.samples - 1)
        return _found(2 * sampled / values, np.array([student(freedom)]), power) if plan.samples > 1 else None
    # With one wording in the run, `block` holds what wordings add: it is taken not to shrink with more of them.
    variance = 2 * (noise.block + ((noise.rest or 0.0) + sampled) / plan.wordings) / plan.blocks
    reach = _reach(plan.topics, plan.countries)
    return None if reach is None else _found(variance, reach, power)


def _one_country_a_language(rows: Sequence[PromptValue]) -> bool:
    """Does the country say no more than the language? Then there are several of each, and never two in one language."""
    pairs = {(row.place.language, row.place.country) for row in rows}
    return len({country for _, country in pairs}) > 1 and len(pairs) == len({language for language, _ in pairs})


@cache
def _reach(topics: int, countries: int) -> Floats | None:
    """Half the widths of intervals over other prompts, in standard errors, where neither factor matters."""
    random = np.random.default_rng(0)
    topic, country = np.divmod(np.arange(topics * countries), countries)
    means = [
        prompt_mean(topic.tolist(), country.tolist(), random.normal(size=topics * countries)) for _ in range(_DRAWN)
    ]
    if any(one.reason for one in means):
        return None
    return np.array([one.reach for one in means]) * math.sqrt(topics * countries)


def _mean_square(values: Floats, freedom: int) -> float:
    return float((values**2).sum()) / freedom


def _found(variance: float, reach: Floats, power: float) -> float:
    """The true difference that lies beyond an interval's reach with this power; width and centre are independent."""

    def short(away: float) -> float:
        return float((ndtr(away - reach) + ndtr(-away - reach)).mean()) - power

    return math.sqrt(variance) * float(brentq(short, 0.0, 20 * reach.max(), xtol=1e-6))
