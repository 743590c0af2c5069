"""Rank groups in worlds of known models: how often equal models share a group, and models that differ do not.

    python -m bench.rank_groups            1,000 worlds of nine equal models, 1,000 of two that differ by .05

A model names items under prompts of topics and countries, several times each; many of its numbers are tied.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from scipy.stats import norm

from bench.results import keep
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.schema.measured import Difference
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.inference.family import HIGHER, LOWER, SAME_PROMPTS
from polyculture.metrics.leaderboard import all_pairs, rank_groups
from tests.metrics.compared_worlds import DrawnRun, World

SMALLEST = ("--worlds", "3")
METRIC = "granularity"
EQUAL = World(models=9, topics=2, countries=3, conditions=1, responses=(5,))
APART = World(models=2, topics=3, countries=8, conditions=1, responses=(20,), of_cell=0.1, shift=0.05, exact=True)
_TABLE = "Rank groups of models that are known"
_MANIFEST = Manifest(experiment="worlds", polyculture="0")


@dataclass(frozen=True, slots=True)
class Apart:
    """Two models that differ: how often they are in two groups, and the power of the test."""

    told: float
    power: float


def groups_of(drawn: DrawnRun) -> list[int]:
    """The groups of a drawn run's models."""
    return _groups(_compared(drawn))


def one_group(world: World, worlds: int, seed: int = 1) -> float:
    """The share of worlds in which all models are one group."""
    random = np.random.default_rng(seed)
    return float(np.mean([groups_of(world.draw(random))[-1] == 1 for _ in range(worlds)]))


def two_groups(world: World, worlds: int, seed: int = 2) -> Apart:
    """How often two models are told apart, and how often a test at 5 % tells a difference with their standard error."""
    random = np.random.default_rng(seed)
    rows = [_compared(world.draw(random)) for _ in range(worlds)]
    errors = [
        (row.high - row.low) / (2 * norm.ppf(0.975)) for [row] in rows if row.high is not None and row.low is not None
    ]
    power = float(np.mean([norm.sf(norm.ppf(0.975) - world.shift / error) for error in errors]))
    return Apart(float(np.mean([_groups(some)[-1] == 2 for some in rows])), power)


def _compared(drawn: DrawnRun) -> list[Difference]:
    rows = all_pairs(cast("ComparedRun", drawn), _MANIFEST, (METRIC,))
    return [row for row in rows if row.target == SAME_PROMPTS]


def _groups(rows: Sequence[Difference]) -> list[int]:
    estimates = {row.a: row.a_estimate or 0.0 for row in rows} | {row.b: row.b_estimate or 0.0 for row in rows}
    told = {(row.a, row.b) for row in rows if row.verdict == HIGHER}
    told |= {(row.b, row.a) for row in rows if row.verdict == LOWER}
    return rank_groups(sorted(estimates, key=lambda model: -estimates[model]), told)


def main() -> None:
    """Prints the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=1000)
    worlds = parser.parse_args().worlds
    one = one_group(EQUAL, worlds)
    print(f"nine equal models, one group: {one:.1%} of {worlds} worlds")
    keep("rank_groups", _TABLE, "nine equal models", {"one group": f"{one:.1%}"})
    for shift in (APART.shift, 2 * APART.shift):
        found = two_groups(replace(APART, shift=shift), worlds)
        print(f"two models {shift:.2f} apart, two groups: {found.told:.1%} of {worlds} worlds; power {found.power:.1%}")
        numbers = {"two groups": f"{found.told:.1%}", "power": f"{found.power:.1%}"}
        keep("rank_groups", _TABLE, f"two models {shift:.2f} apart", numbers)


if __name__ == "__main__":
    main()
