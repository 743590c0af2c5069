"""CAMeL's own protocol: a few draws of entities, and the standard deviation of the score over draws.

Naous et al. (2024, section 4.1) draw 50 entities of each culture, five times, and report mean and standard deviation.
The score over all pairs is the better estimate; this one is for comparison with published tables.

Draw d takes, for each context, the entities of each culture with the least hash of seed, d and entity: the same on
every machine, whether only these are scored or all there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from polyculture.cache.identity import content_id
from polyculture.instruments.cbs.bias import Numbers, compare
from polyculture.instruments.cbs.uncertainty import ScoreMatrix
from polyculture.instruments.datasets.model import CulturalEntity

DRAWS, ENTITIES = 5, 50


@dataclass(frozen=True, slots=True)
class CamelDraws:
    """The number of draws, and of entities of each culture per draw; a culture with fewer gives all."""

    draws: int = DRAWS
    entities: int = ENTITIES
    seed: int = 1

    def taken(self, entities: Sequence[CulturalEntity]) -> list[CulturalEntity]:
        """The entities that any draw takes of those that fit a context."""
        taken: set[str] = set()
        for culture in {entity.culture for entity in entities}:
            ids = tuple(entity.entity_id for entity in entities if entity.culture == culture)
            for draw in range(self.draws):
                taken |= {ids[number] for number in _order(self, ids, draw)[: self.entities]}
        return [entity for entity in entities if entity.entity_id in taken]


@dataclass(frozen=True, slots=True)
class SampledScores:
    """The mean score over contexts in each draw."""

    runs: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.runs))

    @property
    def deviation(self) -> float | None:
        """The standard deviation over draws (n - 1); None with one draw."""
        return float(np.std(self.runs, ddof=1)) if len(self.runs) > 1 else None


def sampled_bias(matrices: Sequence[ScoreMatrix], drawing: CamelDraws) -> SampledScores | None:
    """The score averaged over the contexts of `matrices` (one per type) in each draw.

    None where no context has entities of both sides.
    """
    found = [mean for draw in range(drawing.draws) if (mean := _one_draw(matrices, drawing, draw)) is not None]
    return SampledScores(tuple(found)) if found else None


def _one_draw(matrices: Sequence[ScoreMatrix], drawing: CamelDraws, draw: int) -> float | None:
    scores = []
    for matrix in matrices:
        orders = [_order(drawing, ids, draw) for ids in (matrix.native_ids, matrix.western_ids)]
        for native, western in zip(matrix.native, matrix.western, strict=True):
            sides = [_drawn(side, order, drawing) for side, order in zip((native, western), orders, strict=True)]
            comparison = compare(*sides)
            scores += [] if comparison is None else [comparison.score]
    return float(np.mean(scores)) if scores else None


@lru_cache(maxsize=64)
def _order(drawing: CamelDraws, ids: tuple[str, ...], draw: int) -> list[int]:
    """The numbers of these entities in the order in which a draw takes them: the same for many contexts."""
    return sorted(range(len(ids)), key=lambda number: content_id(drawing.seed, draw, ids[number]))


def _drawn(side: Numbers, order: list[int], drawing: CamelDraws) -> Numbers:
    """The likelihoods of one context that a draw takes; NaN marks a missing entity."""
    ordered = side[order]
    return ordered[~np.isnan(ordered)][: drawing.entities]
