"""Worlds of whole reports whose true differences are known: what is picked of them, and how often its interval misses.

A report has the comparisons of its page: pairs of models, and native against other languages by model and by country.
They share models and prompts, so that they depend on one another; the blocks may be skewed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from polyculture.metrics.comparison.effect import Effect, paired_effect
from polyculture.metrics.comparison.selection import select

Numbers = NDArray[np.float64]
Random = np.random.Generator
COUNTRIES, BLOCKS, METRICS = 5, 20, 4  # blocks of each country


@dataclass(frozen=True, slots=True)
class World:
    """How far models differ in each metric, how far languages do, and the noise of prompts."""

    models: int
    between: float  # standard deviation of models, in units of the noise
    native: float  # the native language's advantage in the first metric, likewise
    noise: Callable[[Random, tuple[int, ...]], Numbers]


@dataclass(frozen=True, slots=True)
class Reports:
    """What many reports of a world gave, as shares of all reports; `missed` is the mean share of what they show."""

    with_findings: float
    missed: float
    shown: float  # findings a report
    unwidened: float  # as `missed`, of 95 % intervals of the same findings


def _normal(random: Random, shape: tuple[int, ...]) -> Numbers:
    return random.normal(size=shape)


def _skewed(random: Random, shape: tuple[int, ...]) -> Numbers:
    return np.asarray((random.lognormal(0, 0.7, shape) - np.exp(0.245)) / 0.9, dtype=np.float64)


WORLDS = {
    "nothing differs": World(4, 0.0, 0.0, _normal),
    "nothing differs, skewed": World(4, 0.0, 0.0, _skewed),
    "little differs": World(4, 0.15, 0.2, _normal),
    "models differ": World(4, 0.4, 0.0, _normal),
    "little differs, skewed": World(4, 0.15, 0.2, _skewed),
}


def tried(world: World, reports: int, seed: int = 3) -> Reports:
    """The shares over so many reports."""
    random = np.random.default_rng(seed)
    found = np.zeros((reports, 4))
    for number in range(reports):
        effects, truths, kinds = zip(*_report(world, random), strict=True)
        chosen = select(effects, kinds)
        if chosen.level is None:
            continue
        missed = [_misses(effects[at].at(chosen.level), truths[at]) for at in chosen.picked]
        plain = [_misses(effects[at].at(0.95), truths[at]) for at in chosen.picked]
        found[number] = 1, np.mean(missed), len(missed), np.mean(plain)
    return Reports(*found.mean(axis=0).tolist())


def _misses(interval: tuple[float, float] | None, truth: float) -> bool:
    assert interval is not None
    return not interval[0] <= truth <= interval[1]


def _report(world: World, random: Random) -> Iterator[tuple[Effect | None, float, tuple[str, int]]]:
    """Each comparison of a report with its true difference and its kind."""
    blocks = COUNTRIES * BLOCKS
    country = np.repeat(np.arange(COUNTRIES), BLOCKS)
    models = (
        random.normal(scale=world.between, size=(METRICS, world.models))
        if world.between
        else np.zeros((METRICS, world.models))
    )
    for metric in range(METRICS):
        truth = world.native if metric == 0 else 0.0
        prompts = world.noise(random, (blocks,))
        native, others = (
            models[metric][:, None] + prompts + world.noise(random, (world.models, blocks)) for _ in range(2)
        )
        native = native + truth
        both = (native + others) / 2
        for a, b in combinations(range(world.models), 2):
            yield _compared(both[a], both[b]), float(models[metric, a] - models[metric, b]), ("models", metric)
        for model in range(world.models):
            yield _compared(native[model], others[model]), truth, ("native", metric)
        for code in range(COUNTRIES):
            of = country == code
            yield _compared(native[:, of].mean(axis=0), others[:, of].mean(axis=0)), truth, ("native", metric)


def _compared(a: Numbers, b: Numbers) -> Effect | None:
    return paired_effect(a, b, np.arange(len(a)))
