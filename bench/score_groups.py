"""Rank groups of models by scores of items: how often equal models share a group, and models that differ do not.

    python -m bench.score_groups            1,000 worlds of nine equal models, 1,000 of two that differ

Items belong to documents, some are harder than others, and each is answered several times: many means are tied.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import norm

from bench.results import keep
from polyculture.metrics.inference.arrays import Floats
from polyculture.metrics.inference.family import RATE, adjusted
from polyculture.metrics.inference.paired import PairedDifference
from polyculture.metrics.inference.ratios import Ratio, paired
from polyculture.metrics.leaderboard import rank_groups

SMALLEST = ("--worlds", "3")
_TABLE = "Rank groups of models by scores of items"


@dataclass(frozen=True, slots=True)
class World:
    """Models that answer items of documents; `shift` is how much more often the first one is right."""

    models: int
    documents: int = 60
    items: int = 5  # of a document
    repeats: int = 3
    of_document: float = 0.15  # standard deviation of how easy documents are, in shares
    of_model: float = 0.05  # the same of what a model makes of a document
    shift: float = 0.0

    def draw(self, random: np.random.Generator) -> list[Ratio]:
        """The sums of the items' means over each document, of each model."""
        easy = random.normal(0.5, self.of_document, (self.documents, 1))
        found = []
        for model in range(self.models):
            own = easy + random.normal(0, self.of_model, (self.documents, 1)) + (self.shift if model == 0 else 0.0)
            chance = np.clip(own + random.normal(0, 0.1, (self.documents, self.items)), 0, 1)
            means = random.binomial(self.repeats, chance) / self.repeats
            sums = means.sum(axis=1)[np.newaxis, :, np.newaxis]
            found.append(Ratio(sums, np.full_like(sums, self.items)))
        return found


def differences(models: Sequence[Ratio]) -> dict[tuple[int, int], PairedDifference]:
    """What the command compares: each pair, by document."""
    return {
        (a, b): one for a, b in combinations(range(len(models)), 2) if (one := paired(models[a], models[b])) is not None
    }


def groups(models: Sequence[Ratio]) -> list[int]:
    """The groups of models, the highest first."""
    found = differences(models)
    told = set[tuple[str, str]]()
    for ((a, b), one), q in zip(found.items(), adjusted([one.p for one in found.values()]), strict=True):
        if q is not None and q < RATE:
            told.add((str(a), str(b)) if one.value > 0 else (str(b), str(a)))
    values: Floats = np.array([float(model.of_prompts().mean()) for model in models])
    return rank_groups([str(model) for model in np.argsort(-values)], told)


def main() -> None:
    """Prints the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=1000)
    worlds = parser.parse_args().worlds
    random = np.random.default_rng(1)
    one = np.mean([groups(World(9).draw(random))[-1] == 1 for _ in range(worlds)])
    print(f"nine equal models, one group: {one:.1%} of {worlds} worlds")
    keep("score_groups", _TABLE, "nine equal models", {"one group": f"{one:.1%}"})
    for shift in (0.05, 0.1):
        drawn = [World(2, shift=shift).draw(random) for _ in range(worlds)]
        told = np.mean([groups(models)[-1] == 2 for models in drawn])
        errors = [
            (found.high - found.low) / (2 * norm.ppf(0.975))
            for models in drawn
            for found in differences(models).values()
            if found.high is not None and found.low is not None
        ]
        power = np.mean([norm.sf(norm.ppf(0.975) - shift / error) for error in errors])
        print(f"two models {shift:.2f} apart, two groups: {told:.1%} of {worlds} worlds; power {power:.1%}")
        keep(
            "score_groups",
            _TABLE,
            f"two models {shift:.2f} apart",
            {"two groups": f"{told:.1%}", "power": f"{power:.1%}"},
        )


if __name__ == "__main__":
    main()
