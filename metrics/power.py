"""What difference a design finds: of two models, or of two languages, in the same prompts.

With B prompts (a topic and a country each), W wordings and n samples, the variance of the difference of two sides is

    these prompts               2 sampling / (B W)
    other prompts like these    2 (block / B + (rest + sampling) / (B W))

The first is over other samples, the second over other topics and countries, in these wordings; its interval is that of
`inference.prompts`, whose width is drawn. Where topics or countries matter as a whole, so that prompts of one topic err
alike, it takes more than is said here.

The variances are those of a run's values, as a complete table with an axis per factor. Names are nested in country and
wording: the second name of one wording has nothing to do with that of another. Values that are missing are left out
level by level until few are, and the rest is filled in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import duckdb
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from polyculture.metrics.inference.family import THESE
from polyculture.metrics.inference.jackknife import Numbers
from polyculture.metrics.inference.limits import student
from polyculture.metrics.inference.prompts import MOST_FILLED, prompt_mean

METRICS = ("granularity", "diversity", "specificity")
MODEL, LANGUAGE, TOPIC, COUNTRY, WORDING, NAME = range(6)  # the axes of a table
_SWEEPS = 30
_DRAWN = 1000
# The first of $conditions with values of a metric, and the mean number of responses behind each; where none of them has
# any, the condition with the most.
_MOST_PROMPTS = """
SELECT condition, avg(responses)
FROM prompt_values
WHERE metric = $metric AND estimate IS NOT NULL
GROUP BY condition
ORDER BY coalesce(list_position($conditions, condition), 99), count(*) DESC, condition
LIMIT 1
"""
_VALUES = """
SELECT model, language, topic, country, wording, name, prompt_id, estimate, variance
FROM prompt_values
WHERE metric = $metric AND condition = $condition
ORDER BY model, prompt_id
"""


@dataclass(frozen=True, slots=True)
class PromptValue:
    """A metric of one prompt as one model answered it; `variance` is that of sampling, over other responses."""

    model: str
    language: str
    topic: str
    country: str | None
    wording: str
    name: str | None
    prompt_id: str
    estimate: float | None
    variance: float | None


@dataclass(frozen=True, slots=True)
class Design:
    """A complete table of values, an axis per factor. A factor that cannot be told has an axis of length 1."""

    values: Numbers
    sampling: float | None  # the mean sampling variance of a value; None where no prompt tells it

    @property
    def levels(self) -> tuple[int, ...]:
        """The number of levels of each factor."""
        return self.values.shape


def prompt_design(
    store: duckdb.DuckDBPyConnection, metric: str, conditions: Sequence[str] = ()
) -> tuple[str, float, Design] | None:
    """The first of `conditions` that has values, else the one with most: its responses a prompt, and its table."""
    store.execute("CREATE TEMP TABLE IF NOT EXISTS prompt_values AS FROM prompt_values")  # several metrics read it once
    most = store.execute(_MOST_PROMPTS, {"metric": metric, "conditions": list(conditions)}).fetchone()
    if most is None:
        return None
    condition, responses = most
    rows = store.execute(_VALUES, {"metric": metric, "condition": condition}).fetchall()
    table = design([PromptValue(*row) for row in rows])
    return None if table is None else (str(condition), float(responses), table)


def design(rows: Sequence[PromptValue]) -> Design | None:
    """The table of `rows`; None where no row has a value."""
    known = [row for row in rows if row.estimate is not None and np.isfinite(row.estimate)]
    if not known:
        return None
    codes = _codes(known, merge_countries=_one_country_a_language(known))
    shape = tuple(int(column.max()) + 1 for column in codes.T)
    whole, noise = np.full(shape, np.nan), np.full(shape, np.nan)
    whole[tuple(codes.T)] = [row.estimate for row in known]
    noise[tuple(codes.T)] = [np.nan if row.variance is None else row.variance for row in known]
    kept = np.ix_(*_complete(whole))
    values = whole[kept]
    variances = noise[kept][~np.isnan(values)]
    sampled = variances[~np.isnan(variances)]
    return Design(_filled(values), float(sampled.mean()) if len(sampled) else None)


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


def noise_of(flat: Numbers, free: int, sampling: float, responses: float, count: int) -> Noise:
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


def _one_country_a_language(rows: Sequence[PromptValue]) -> bool:
    """Does the country say no more than the language? Then there are several of each, and never two in one language."""
    pairs = {(row.language, row.country) for row in rows}
    return len({country for _, country in pairs}) > 1 and len(pairs) == len({language for language, _ in pairs})


def _codes(rows: Sequence[PromptValue], merge_countries: bool) -> NDArray[np.int64]:
    """Per row the numbers of its levels. A name's number is its place among those of the same prompts."""
    places = [
        (row.model, row.language, row.topic, "" if merge_countries else row.country or "", row.wording) for row in rows
    ]
    columns = [np.unique(np.array(column), return_inverse=True)[1] for column in zip(*places, strict=True)]
    names: dict[tuple[str, ...], dict[tuple[str, str], int]] = {}
    for place, row in zip(places, rows, strict=True):
        names.setdefault(place[1:], {})[row.name or "", row.prompt_id] = 0
    for own in names.values():
        own.update({key: number for number, key in enumerate(sorted(own))})
    slots = [names[place[1:]][row.name or "", row.prompt_id] for place, row in zip(places, rows, strict=True)]
    return np.stack([*columns, np.array(slots)], axis=1).astype(np.int64)


def _complete(values: Numbers) -> list[NDArray[np.int64]]:
    """The levels to keep of each factor: the one that lacks most is left out until few values are missing."""
    kept = [np.arange(levels) for levels in values.shape]
    while True:
        missing = np.isnan(values[np.ix_(*kept)])
        if missing.mean() <= MOST_FILLED:
            return kept
        others = [tuple(axis for axis in range(missing.ndim) if axis != factor) for factor in range(missing.ndim)]
        lacking = [missing.mean(axis=axes) if len(kept[f]) > 1 else np.zeros(1) for f, axes in enumerate(others)]
        factor = max(range(missing.ndim), key=lambda f: float(lacking[f].max()))
        kept[factor] = np.delete(kept[factor], int(lacking[factor].argmax()))


def _filled(values: Numbers) -> Numbers:
    """The table with its missing values at what the main effects and the interactions of two factors say there."""
    missing = np.isnan(values)
    if not missing.any():
        return values
    filled = np.where(missing, np.nanmean(values), values)
    for _ in range(_SWEEPS):
        filled[missing] = _of_two_factors(filled)[missing]
    return filled


def _of_two_factors(values: Numbers) -> Numbers:
    """The values that a model without interactions of three or more factors gives a complete table."""
    axes = range(values.ndim)
    means = {(i, j): _mean_over(values, set(axes) - {i, j}) for i in axes for j in axes if i < j}
    singles = {i: _mean_over(values, set(axes) - {i}) for i in axes}
    count = values.ndim
    pairs = sum(means.values(), np.zeros_like(values))
    alone = sum(singles.values(), np.zeros_like(values))
    return np.asarray(pairs - (count - 2) * alone + (count - 1) * (count - 2) / 2 * values.mean())


def _mean_over(values: Numbers, axes: set[int]) -> Numbers:
    return np.asarray(values.mean(axis=tuple(sorted(axes)), keepdims=True))


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


def _mean_square(values: Numbers, freedom: int) -> float:
    return float((values**2).sum()) / freedom


def _found(variance: float, reach: Numbers, power: float) -> float:
    """The true difference that lies beyond an interval's reach with this power; width and centre are independent."""

    def short(away: float) -> float:
        return float((ndtr(away - reach) + ndtr(-away - reach)).mean()) - power

    return math.sqrt(variance) * float(brentq(short, 0.0, 20 * reach.max(), xtol=1e-6))
