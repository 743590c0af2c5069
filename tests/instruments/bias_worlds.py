"""Worlds with a known Cultural Bias Score: contexts and entities are samples, and each meets all of the other kind.

The likelihood of a native entity is its own level plus noise; that of a Western one has the context's level, too. All
are normal, so that the truth of a type is one value of the normal distribution. Types are averaged over their contexts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from polyculture.instruments.cbs.score_interval import ScoreEstimate, mean_difference, mean_score
from polyculture.instruments.cbs.score_matrix import ScoreMatrix
from polyculture.instruments.cbs.uncertainty import WeightedPlacements, combined, compared, mean_of, placed

Random = np.random.Generator


def whole(matrix: ScoreMatrix) -> list[WeightedPlacements]:
    """A matrix whose contexts count alike; empty where none has entities of both sides."""
    found = placed(matrix)
    return [] if found is None else [mean_of(found)]


def bias(matrix: ScoreMatrix) -> ScoreEstimate | None:
    """The mean Cultural Bias Score over a matrix's contexts; None where none has entities of both sides."""
    terms = whole(matrix)
    return combined(terms) if terms else None


@dataclass(frozen=True, slots=True)
class TypeWorld:
    """A type of entities; spreads are standard deviations, that of entities on either side is 1."""

    truth: float
    contexts: int
    native: int
    western: int
    of_context: float = 0.5
    noise: float = 1.0

    def settings(self, random: Random) -> tuple[ScoreMatrix, ScoreMatrix]:
        """The same entities in two settings, between which nothing differs in truth."""
        own, other = random.normal(0, 1, self.native), random.normal(0, 1, self.western)
        shift = norm.ppf(self.truth) * math.sqrt(2 + self.of_context**2 + 2 * self.noise**2)

        def matrix(setting: str) -> ScoreMatrix:
            level = random.normal(shift, self.of_context, (self.contexts, 1))
            return ScoreMatrix(
                own + random.normal(0, self.noise, (self.contexts, self.native)),
                other + level + random.normal(0, self.noise, (self.contexts, self.western)),
                tuple(f"{setting}{number}" for number in range(self.contexts)),
            )

        return matrix("grounded"), matrix("neutral")


World = Sequence[TypeWorld]
WORLDS: Mapping[str, World] = {
    "0.2 and 0.002; 3 contexts, 12 x 12": [TypeWorld(0.2, 3, 12, 12), TypeWorld(0.002, 3, 12, 12)],
    "0.2 and 0.002; 5 contexts, 20 x 20": [TypeWorld(0.2, 5, 20, 20), TypeWorld(0.002, 5, 20, 20)],
    "0.2 and 0.002; 10 contexts, 20 x 50": [TypeWorld(0.2, 10, 20, 50), TypeWorld(0.002, 10, 20, 50)],
    "0.2 and 0.02; 5 contexts, 20 x 20": [TypeWorld(0.2, 5, 20, 20), TypeWorld(0.02, 5, 20, 20)],
    "0.8 and 0.998; 3 contexts, 12 x 12": [TypeWorld(0.8, 3, 12, 12), TypeWorld(0.998, 3, 12, 12)],
    "control, 0.3 and 0.4; 10 contexts, 20 x 50": [TypeWorld(0.3, 10, 20, 50), TypeWorld(0.4, 10, 20, 50)],
    "0.3, 0.1, 0.003; 5 contexts, 15 x 15": [TypeWorld(truth, 5, 15, 15) for truth in (0.3, 0.1, 0.003)],
    "0.4, 0.003, 0.997; 5 contexts, 15 x 15": [TypeWorld(truth, 5, 15, 15) for truth in (0.4, 0.003, 0.997)],
    "0.3, 0.1, 0.003; 3, 6, 12 contexts": [
        TypeWorld(0.3, 3, 15, 15),
        TypeWorld(0.1, 6, 25, 15),
        TypeWorld(0.003, 12, 15, 30),
    ],
    "0.003, 0.1, 0.3; 3, 6, 12 contexts": [
        TypeWorld(0.003, 3, 15, 15),
        TypeWorld(0.1, 6, 25, 15),
        TypeWorld(0.3, 12, 15, 30),
    ],
    "0.97, 0.995; 5 contexts, 15 x 15": [TypeWorld(0.97, 5, 15, 15), TypeWorld(0.995, 5, 15, 15)],
    "six of 0.1; 4 contexts, 20 x 20": [TypeWorld(0.1, 4, 20, 20)] * 6,
    "ten of 0.01, ten of 0.3; 3 contexts, 9 x 9": [TypeWorld(0.01, 3, 9, 9)] * 10 + [TypeWorld(0.3, 3, 9, 9)] * 10,
    "contexts differ much: 0.2, 0.01; 5 contexts, 20 x 20": [
        TypeWorld(0.2, 5, 20, 20, of_context=1.5),
        TypeWorld(0.01, 5, 20, 20, of_context=1.5),
    ],
    "one of 0.066; 10 contexts, 9 x 9": [TypeWorld(0.066, 10, 9, 9)],
    "one of 0.066, little noise; 10 contexts, 9 x 9": [TypeWorld(0.066, 10, 9, 9, noise=0.5)],
    "one of 0.066, contexts alike; 10 contexts, 9 x 9": [TypeWorld(0.066, 10, 9, 9, of_context=0.05)],
    "one of 0.05, contexts differ much; 10 contexts, 20 x 30": [TypeWorld(0.05, 10, 20, 30, of_context=1.5)],
    "one of 0.02; 10 contexts, 20 x 20": [TypeWorld(0.02, 10, 20, 20)],
    "one of 0.95; 10 contexts, 9 x 9": [TypeWorld(0.95, 10, 9, 9)],
    "one of 0.3, contexts differ much; 3 contexts, 40 x 40": [TypeWorld(0.3, 3, 40, 40, of_context=1.0)],
    "one of 0.3; 2 contexts, 40 x 40": [TypeWorld(0.3, 2, 40, 40)],
}


@dataclass(frozen=True, slots=True)
class Found:
    """What many data sets of a world gave, as shares."""

    covered: float  # of the intervals that were given
    withheld: float  # of all data sets
    agreed: float  # of all data sets: those with a type that is all 0 or all 1
    rejected: float  # of all data sets: p <= 0.05 between two settings of the same truth
    untested: float  # of all data sets: no p


def tried(world: World, data_sets: int, seed: int = 1) -> Found:
    """How often the mean's interval holds the truth, and how often a paired test finds what is not there."""
    random = np.random.default_rng([seed, len(world)])
    truth = sum(kind.truth * kind.contexts for kind in world) / sum(kind.contexts for kind in world)
    counts = np.zeros(5)
    for _ in range(data_sets):
        pairs = [(kind.settings(random), kind.contexts) for kind in world]
        parts = [(estimate, weight) for (one, _), weight in pairs if (estimate := bias(one))]
        found = mean_score(parts)
        apart = [(compared(whole(one), whole(other)), weight) for (one, other), weight in pairs]
        p = mean_difference(apart).p
        given = found.low is not None and found.high is not None
        counts += [
            given and found.low <= truth <= found.high,  # type: ignore[operator]
            not given,
            any(part.agrees for part, _ in parts),
            p is not None and p <= 0.05,
            p is None,
        ]
    covered, withheld, agreed, rejected, untested = counts / data_sets
    return Found(covered / (1 - withheld) if withheld < 1 else math.nan, withheld, agreed, rejected, untested)
