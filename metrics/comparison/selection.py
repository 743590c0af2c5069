"""What stands out of many comparisons, and intervals that allow for its having been picked.

Of a family of m comparisons, k are picked, at most three: those with the smallest p, one of a kind, where k of them
have p of k * 0.05 / m or less, for the largest such k. Each survives Benjamini and Hochberg's q < 0.05 over the family.
Their intervals have the level 1 - k * 0.05 / m, by the method that gave p: over many reports, at most 5 % of the
intervals that are shown miss what they are of, and each leaves out 0. Where nothing differs, at most 5 % of reports
show one. Both hold for independent comparisons; `bench/findings.py` measures them where models and prompts are shared.

Source: Benjamini and Yekutieli 2005, False discovery rate-adjusted multiple confidence intervals for selected
parameters, J. Am. Stat. Assoc. 100, 71-81.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from polyculture.metrics.comparison.effect import Effect, adjusted

RATE = 0.05  # of picked intervals that miss, and of reports without a difference that show one
MOST = 3


@dataclass(frozen=True, slots=True)
class Selection:
    """What was picked of a family, and how large the family is."""

    picked: tuple[int, ...]  # places in the family, the clearest first
    level: float | None  # of their intervals; None where nothing was picked
    family: int  # comparisons that have a p
    surviving: int  # of these, with q < 0.05
    smallest: float | None  # q


def select(effects: Sequence[Effect | None], kinds: Sequence[Hashable]) -> Selection:
    """Picks from a family; `kinds[i]` says what comparison i is of, and one of a kind is picked at most."""
    p_values = [effect.p if effect else None for effect in effects]
    q_values = [q for q in adjusted(p_values) if q is not None]
    family, surviving = len(q_values), sum(q < RATE for q in q_values)
    ranked = sorted((p, -_distance(effects[at]), at) for at, p in enumerate(p_values) if p is not None)
    picked: tuple[int, ...] = ()
    for many in range(MOST, 0, -1):
        clear: dict[Hashable, int] = {}
        for p, _, at in ranked:
            if p <= many * RATE / family:
                clear.setdefault(kinds[at], at)
        if len(clear) >= many:
            picked = tuple(clear.values())[:many]
            break
    level = 1 - len(picked) * RATE / family if picked else None
    return Selection(picked, level, family, surviving, min(q_values, default=None))


def _distance(effect: Effect | None) -> float:
    """How many standard errors from 0: it orders comparisons whose p is too small for a float."""
    return abs(effect.difference) / effect.mean.error if effect and effect.mean else 0.0
