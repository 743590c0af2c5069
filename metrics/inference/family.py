"""Many comparisons at once: q, and what may be said of a row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

import numpy as np

from polyculture.cache.store.schema.measured import Difference

RATE = 0.05  # of rows that are told apart, those that do not differ
SAME_PROMPTS, NEW_PROMPTS = (
    "same_prompts",
    "new_prompts",
)  # targets: new samples, or prompts like them
NO_SAMPLING = "no sampling"  # why there is no interval: the difference is exact
HIGHER, LOWER, NOT_SHOWN, UNTESTABLE = "higher", "lower", "not shown", "untestable"


def adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    """Benjamini and Hochberg's (1995) q of each p-value over the family; a missing one stays missing and is no test."""
    known = np.array([p for p in p_values if p is not None])  # scipy.stats takes as long to load as a small comparison
    order = np.argsort(known)[::-1]
    found = np.empty(len(known))
    found[order] = np.minimum.accumulate(known[order] * len(known) / np.arange(len(known), 0, -1))
    q_values = iter(found.tolist())
    return [None if p is None else min(1.0, next(q_values)) for p in p_values]


def in_families(rows: Sequence[Difference], family: Callable[[Difference], Hashable]) -> list[Difference]:
    """The rows with verdict and q, which is over the rows of one family."""
    families: dict[Hashable, list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        families[family(row)].append(at)
    found = list(rows)
    for members in families.values():
        for at, q in zip(members, adjusted([rows[at].p for at in members]), strict=True):
            found[at] = replace(rows[at], q=q, verdict=verdict(rows[at].difference, q))
    return found


def verdict(difference: float | None, q: float | None) -> str:
    """'higher' or 'lower' where q tells the sides apart; 'untestable' without a q."""
    if difference is None or q is None:
        return UNTESTABLE
    if q >= RATE or difference == 0:
        return NOT_SHOWN
    return HIGHER if difference > 0 else LOWER
