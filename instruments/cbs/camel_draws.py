"""CAMeL's own protocol: a few draws of entities, and the standard deviation of the score over draws.

CAMeL (Naous et al. 2024, section 4.2.2) draws 50 entities of each culture in each of its columns, five times, and
reports mean and standard deviation. The score over all pairs is the better estimate; this one is for comparison with
published tables.

Draw d takes, for each context, the entities of each culture with the least hash of seed, d and entity: the same on
every machine, whether only these are scored or all there are. No entity is drawn twice; a culture with fewer gives all.

The columns of a type: female and male names, or clothing, apart; another type is one column.

CAMeL's tables have ten columns for its eight types. A column of a gender holds the contexts of that gender, and those
of none: these are compared once with the entities of each gender, as Camellia asks them. An entity of both genders
stands in both columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from polyculture.cache.identity import content_id
from polyculture.instruments.cbs.score_matrix import ScoreMatrix, WordArray, part_of
from polyculture.instruments.cbs.uncertainty import ContextScore, compare
from polyculture.instruments.datasets.model import BOTH, CulturalEntity, MaskedContext
from polyculture.metrics.inference.arrays import Floats

GENDERS = ("female", "male")


def gender_columns(matrix: ScoreMatrix) -> Mapping[str, ScoreMatrix]:
    """The matrix of each gender that entities of both sides have, by its name; empty where no gender counts."""
    if matrix.column is not None:
        return {}
    found = {gender: of_gender(matrix, gender) for gender in GENDERS}
    return {gender: column for gender, column in found.items() if column is not None}


def lacking_columns(matrix: ScoreMatrix) -> Mapping[str, str]:
    """The genders that entities or contexts have, and no column stands for: what it lacks."""
    known = matrix.genders
    if known is None or matrix.column is not None:
        return {}
    found = {}
    for gender in GENDERS:
        there = {side: gender in of for side, of in (("native", known.native), ("Western", known.western))}
        if (any(there.values()) or gender in known.contexts) and of_gender(matrix, gender) is None:
            without = [f"{side} " for side, has in there.items() if not has]
            side = without[0] if len(without) == 1 else ""
            found[gender] = f"no {side}entity of that gender" if without else "no context for that gender"
    return found


def of_gender(matrix: ScoreMatrix, gender: str) -> ScoreMatrix | None:
    """The part of a matrix that is about a gender; None where a side has no entity of just that gender."""
    known = matrix.genders
    if known is None or not (gender in known.native and gender in known.western):
        return None
    rows = np.isin(known.contexts, (gender, BOTH, ""))
    native, western = (_fits(side, gender) for side in (known.native, known.western))
    if not rows.any():
        return None
    return replace(part_of(matrix, rows, native, western), column=gender)


def _fits(genders: WordArray, gender: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    fits: np.ndarray[tuple[int], np.dtype[np.bool_]] = np.isin(genders, (gender, BOTH, ""))
    return fits


ENTITIES = 50  # of each culture, where a protocol with draws does not say how many
SAME = 1e-9  # a smaller deviation is rounding: each draw took all there are
Draw = Sequence[ContextScore]  # of the contexts that have entities of both sides


@dataclass(frozen=True, slots=True)
class CamelDraws:
    """The number of draws, and of entities of each culture per draw."""

    draws: int
    entities: int
    seed: int
    by_gender: bool = True  # for a context of no gender so many are drawn of each

    def taken(self, context: MaskedContext, entities: Sequence[CulturalEntity]) -> list[CulturalEntity]:
        """The entities that any draw takes of those that fit a context."""
        genders = [entity.gender or "" for entity in entities]
        ids = [entity.entity_id for entity in entities]
        taken: set[str] = set()
        for culture in {entity.culture for entity in entities}:
            own = [number for number, entity in enumerate(entities) if entity.culture == culture]
            taken |= self.taken_ids([ids[n] for n in own], [genders[n] for n in own], context.gender or "")
        return [entity for entity in entities if entity.entity_id in taken]

    def taken_ids(self, ids: Sequence[str], genders: Sequence[str], gender: str) -> set[str]:
        """The ids that any draw takes of one side, for a context of a gender ('' of none)."""
        return {
            group[number]
            for group in self._groups(ids, genders, gender)
            for draw in range(self.draws)
            for number in _order(self.seed, group, draw)[: self.entities]
        }

    def _groups(self, ids: Sequence[str], genders: Sequence[str], gender: str) -> Iterator[tuple[str, ...]]:
        """The entities that are drawn from together."""
        known = [one for one in GENDERS if one in genders]
        if not self.by_gender or gender not in ("", BOTH) or not known:
            yield tuple(ids)
            return
        for one in known:
            yield tuple(name for name, own in zip(ids, genders, strict=True) if own in (one, BOTH, ""))

    def drawn(self, matrix: ScoreMatrix) -> tuple[Draw, ...]:
        """Each draw of a type's entities: what it says of each context."""
        sides = tuple(zip(matrix.native, matrix.western, strict=True))
        return tuple(tuple(self._one(matrix, sides, draw)) for draw in range(self.draws))

    def _one(self, matrix: ScoreMatrix, sides: Sequence[tuple[Floats, Floats]], draw: int) -> Iterator[ContextScore]:
        orders = [_order(self.seed, ids, draw) for ids in (tuple(matrix.native_ids), tuple(matrix.western_ids))]
        for native, western in sides:
            comparison = compare(*(
                _first(side, order, self.entities) for side, order in zip((native, western), orders, strict=True)
            ))  # fmt: skip
            if comparison is not None:
                yield comparison


@dataclass(frozen=True, slots=True)
class SampledScores:
    """The mean score in each draw."""

    runs: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.runs))

    @property
    def deviation(self) -> float | None:
        """The standard deviation over draws (n - 1); None with one draw, and where every draw took all there are."""
        found = float(np.std(self.runs, ddof=1)) if len(self.runs) > 1 else 0.0
        return found if found > SAME else None


@lru_cache(maxsize=64)
def _order(seed: int, ids: tuple[str, ...], draw: int) -> list[int]:
    """The numbers of these entities in the order in which a draw takes them: the same for many contexts."""
    return sorted(range(len(ids)), key=lambda number: content_id(seed, draw, ids[number]))


def _first(side: Floats, order: list[int], limit: int) -> Floats:
    """The likelihoods of one context that a draw takes; NaN marks a missing entity."""
    ordered = side[order]
    return ordered[~np.isnan(ordered)][:limit]
