"""Worlds of answers about swapped entities with known rates: draws of entities in contexts.

Contexts and entities are hard or easy, and so is each pair on its own. Languages translate the rows of one sheet and
name the same entities: `common` is the share of the variance that is the same in all. Two models meet the same texts:
`alike` is the share that is the same in both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from polyculture.instruments.swaps.ratios import DrawRatio, SideAnswers, chance_of_size, compared, rate, ratio
from polyculture.metrics.inference.paired import PairedDifference

Random = np.random.Generator
OF_CONTEXT, OF_ENTITY, OF_PAIR = 1.0, 0.8, 0.8  # standard deviations on the logit scale


@dataclass(frozen=True, slots=True)
class SwapWorld:
    """Sizes of each language; the rate of a side is `truth` of its shift."""

    native: float = -0.5
    western: float = -0.5
    other: float = 0.0  # what the second model has more on either side
    languages: int = 1
    contexts: int = 24
    entities: int = 60
    drawn: int = 20
    draws: int = 3
    common: float = 0.9
    alike: float = 0.5

    def models(self, random: Random) -> list[list[DrawRatio]]:
        """Both sides of two models."""
        of_context = random.normal(0, OF_CONTEXT, self.contexts)
        of_entity = [random.normal(0, OF_ENTITY, self.entities) for _ in range(2)]
        order = [random.random((self.draws, self.contexts, self.entities)).argsort(axis=2) for _ in range(2)]
        found = []
        for more in (0.0, self.other):
            contexts = _mixed(random, of_context, self.alike, OF_CONTEXT)
            entities = [_mixed(random, of, self.alike, OF_ENTITY) for of in of_entity]
            languages = [_mixed(random, contexts, self.common, OF_CONTEXT) for _ in range(self.languages)]
            sides = []
            for native, shift, of, drawn in zip(
                (True, False), (self.native, self.western), entities, order, strict=True
            ):
                answers = [
                    self._answers(random, shift + more, each, _mixed(random, of, self.common, OF_ENTITY), drawn)
                    for each in languages
                ]
                side = ratio(replace(joined(answers), native=native))
                assert side is not None
                sides.append(side)
            found.append(sides)
        return found

    def _answers(
        self, random: Random, shift: float, contexts: np.ndarray, entities: np.ndarray, order: np.ndarray
    ) -> SideAnswers:
        of_pair = random.normal(0, OF_PAIR, (self.contexts, self.entities))
        says = random.random(of_pair.shape) < logistic(shift + contexts[:, None] + entities + of_pair)
        drawn = order[:, :, : self.drawn]
        draws, rows, _ = np.indices(drawn.shape)
        right = says[rows, drawn].astype(np.float64).ravel()
        return SideAnswers(right, np.ones(right.size), rows.ravel(), drawn.ravel(), draws.ravel())


def joined(answers: Sequence[SideAnswers]) -> SideAnswers:
    """The answers of several languages."""
    names = ("numerators", "denominators", "contexts", "entities", "draws")
    return SideAnswers(*(np.concatenate([getattr(one, name) for one in answers]) for name in names))


def _mixed(random: Random, level: np.ndarray, share: float, spread: float) -> np.ndarray:
    return np.asarray(math.sqrt(share) * level + math.sqrt(1 - share) * random.normal(0, spread, len(level)))


def logistic(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


def truth(shift: float) -> float:
    """The mean over contexts, entities and pairs, by quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    spread = math.sqrt(OF_CONTEXT**2 + OF_ENTITY**2 + OF_PAIR**2)
    return float(weights @ logistic(shift + nodes * spread) / weights.sum())


WORLDS: Mapping[str, SwapWorld] = {
    "one language": SwapWorld(),
    "4 languages of one sheet": SwapWorld(languages=4),
    "4 languages, half in common": SwapWorld(languages=4, common=0.5),
    "4 languages of one sheet; 10 contexts, 10 of 30": SwapWorld(languages=4, contexts=10, entities=30, drawn=10),
    "4 languages, nothing in common": SwapWorld(languages=4, common=0.0),
    "two models much alike": SwapWorld(alike=0.95),
    "two models, rates of a tenth": SwapWorld(native=-3.0, western=-3.0),
    "two models, a gap of 3 standard errors": SwapWorld(other=0.75),
}


@dataclass(frozen=True, slots=True)
class Found:
    """What many data sets of a world gave, as shares; sizes of differences in counts, and what chance gives."""

    rate: float  # covered: that of the native side
    gap: float  # covered: native less Western
    models: float  # covered: of the native side, the first model less the second
    gaps: float  # covered: the first model's gap less the second's
    told: float  # p < 0.05 between the models
    size: float  # the mean size of native less Western, in texts of a draw
    chance: float


def tried(world: SwapWorld, data_sets: int, seed: int = 1) -> Found:
    """How often the intervals hold the truth."""
    random = np.random.default_rng([seed, world.languages, world.contexts])
    native, western = truth(world.native), truth(world.western)
    other, other_western = truth(world.native + world.other), truth(world.western + world.other)
    hits, sizes, chances = np.zeros(5), [], []
    for _ in range(data_sets):
        one, two = world.models(random)
        low, high = rate(one[0]).limits(0.0, 1.0)
        found = [
            (compared([(one[0], 1.0)], [(one[1], 1.0)]), native - western),
            (compared([(one[0], 1.0)], [(two[0], 1.0)]), native - other),
            (
                compared([(one[0], 1.0), (one[1], -1.0)], [(two[0], 1.0), (two[1], -1.0)]),
                native - western - other + other_western,
            ),
        ]
        told = found[1][0].p
        hits += [low <= native <= high, *(_holds(*each) for each in found), told is not None and told < 0.05]
        texts = world.languages * world.contexts * world.drawn
        sizes.append(np.mean([abs(one[0].draws[draw] - one[1].draws[draw]) * texts for draw in one[0].draws]))
        chances.append(_chance(one, texts))
    shares = (hits / data_sets).tolist()
    return Found(*shares, float(np.mean(sizes)), float(np.mean(chances)))


def _holds(found: PairedDifference, true: float) -> bool:
    return found.low <= true <= found.high


def _chance(sides: Sequence[DrawRatio], texts: int) -> float:
    of_draws = [[ratio(side.answers.of(side.answers.draws == draw)) for draw in side.draws] for side in sides]
    one, other = ([found for found in side if found is not None] for side in of_draws)
    found = chance_of_size(one, other, [texts] * len(one))
    assert found is not None
    return found
