"""The papers' own protocols: a few draws of entities, and the standard deviation of the score over draws.

CAMeL (Naous et al. 2024, section 4.1) draws 50 entities of each culture, five times, and reports mean and standard
deviation. Camellia caps both sides at the number of native entities (`equal_sides`), and asks contexts of no gender
once for each gender (`genders_apart`). The score over all pairs is the better estimate; these are for comparison with
published tables.

Draw d takes, for each context, the entities of each culture with the least hash of seed, d and entity: the same on
every machine, whether only these are scored or all there are. No entity is drawn twice; a culture with fewer gives all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from polyculture.cache.identity import content_id
from polyculture.instruments.cbs.bias import ContextScore, Numbers, compare
from polyculture.instruments.cbs.gender_columns import GENDERS
from polyculture.instruments.cbs.uncertainty import ScoreMatrix
from polyculture.instruments.datasets.model import BOTH, CulturalEntity, MaskedContext

DRAWS, ENTITIES = 5, 50
Draw = Sequence[ContextScore]  # of the contexts that have entities of both sides


@dataclass(frozen=True, slots=True)
class CamelDraws:
    """The number of draws, and of entities of each culture per draw; a culture with fewer gives all."""

    draws: int = DRAWS
    entities: int = ENTITIES
    seed: int = 1
    equal_sides: bool = False  # no more Western entities than there are native ones
    genders_apart: bool = False  # a context of no gender is asked once for each
    only: bool = False  # nothing else is asked

    def taken(self, context: MaskedContext, entities: Sequence[CulturalEntity]) -> list[CulturalEntity]:
        """The entities that any draw takes of those that fit a context."""
        taken: set[str] = set()
        for group in self._groups(context, entities):
            limit = self._limit(sum(entity.culture == context.culture for entity in group))
            for culture in {entity.culture for entity in group}:
                ids = tuple(entity.entity_id for entity in group if entity.culture == culture)
                for draw in range(self.draws):
                    taken |= {ids[number] for number in _order(self.seed, ids, draw)[:limit]}
        return [entity for entity in entities if entity.entity_id in taken]

    def _groups(self, context: MaskedContext, entities: Sequence[CulturalEntity]) -> list[list[CulturalEntity]]:
        """The entities that are drawn from together."""
        known = {entity.gender for entity in entities}
        genders = [gender for gender in GENDERS if gender in known]
        if not self.genders_apart or context.gender not in (None, BOTH) or not genders:
            return [list(entities)]
        return [[entity for entity in entities if entity.gender in (gender, BOTH, None)] for gender in genders]

    def _limit(self, native: int) -> int:
        return min(self.entities, native) if self.equal_sides else self.entities

    def drawn(self, matrix: ScoreMatrix) -> tuple[Draw, ...]:
        """Each draw of a type's entities: what it says of each context."""
        sides = tuple(zip(matrix.native, matrix.western, strict=True))
        return tuple(tuple(self._one(matrix, sides, draw)) for draw in range(self.draws))

    def _one(self, matrix: ScoreMatrix, sides: Sequence[tuple[Numbers, Numbers]], draw: int) -> list[ContextScore]:
        orders = [_order(self.seed, ids, draw) for ids in (matrix.native_ids, matrix.western_ids)]
        found = []
        for native, western in sides:
            limit = self._limit(int((~np.isnan(native)).sum()))
            comparison = compare(_first(native, orders[0], limit), _first(western, orders[1], limit), matrix.ties)
            found += [] if comparison is None else [comparison]
        return found


@dataclass(frozen=True, slots=True)
class SampledScores:
    """The mean score in each draw."""

    runs: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.runs))

    @property
    def deviation(self) -> float | None:
        """The standard deviation over draws (n - 1); None with one draw."""
        return float(np.std(self.runs, ddof=1)) if len(self.runs) > 1 else None


def draw_rank(seed: int, draw: int, entity_id: str) -> str:
    """The rank of an entity in a draw, which takes those of the least."""
    return content_id(seed, draw, entity_id)


@lru_cache(maxsize=64)
def _order(seed: int, ids: tuple[str, ...], draw: int) -> list[int]:
    """The numbers of these entities in the order in which a draw takes them: the same for many contexts."""
    return sorted(range(len(ids)), key=lambda number: draw_rank(seed, draw, ids[number]))


def _first(side: Numbers, order: list[int], limit: int) -> Numbers:
    """The likelihoods of one context that a draw takes; NaN marks a missing entity."""
    ordered = side[order]
    return ordered[~np.isnan(ordered)][:limit]
