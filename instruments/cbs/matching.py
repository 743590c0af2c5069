"""The Cultural Bias Score of pairs that are alike: in their number of tokens, in their prior, or in both.

A name of many tokens is less probable for that alone, and so is a rare one. In a matched score a native entity is
compared only with Western ones of as many tokens in that context, or whose log-probability after nothing (the prior)
is no further off than the caliper. Within a context each such pair counts alike; a context without any is out.

The caliper is a share of the priors' standard deviation, that of both sides pooled within them: 0.2 by default (Austin
2011, Pharm. Stat. 10, 150). Every pair within it stays: an entity may be in many. Which pairs are alike is fixed for
the interval, which is that of `uncertainty`. There, an entity's placement is its distance to the score by its number of
pairs over the mean number, and the score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from polyculture.instruments.cbs.bias import HALF, Numbers
from polyculture.instruments.cbs.score_interval import ScoreEstimate
from polyculture.instruments.cbs.uncertainty import ScoreMatrix, bias, combined, mean_of, part_of, placed_of

Matched = Literal["tokens", "prior", "both"]
KINDS: tuple[Matched, ...] = get_args(Matched)
CALIPER = 0.2  # standard deviations
Pairs = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Matching:
    """What entities are alike in; `caliper` is in standard deviations of the priors."""

    matched: Matched
    caliper: float = CALIPER

    @property
    def of_tokens(self) -> bool:
        return self.matched != "prior"

    @property
    def of_priors(self) -> bool:
        return self.matched != "tokens"


def matching_of(matched: Matched, caliper: float | None) -> Matching:
    """The matching by its name; where priors do not count, a caliper makes no other one of it."""
    return Matching(matched) if matched == "tokens" or caliper is None else Matching(matched, caliper)


@dataclass(frozen=True, slots=True)
class MatchedScore:
    """A score over pairs that are alike, and what it rests on."""

    estimate: ScoreEstimate
    unmatched: float  # the score over all pairs of the same contexts
    native: int  # entities in a pair that is alike
    western: int
    pairs: int
    tied: int
    won: int  # pairs in which the Western entity is the more probable


def width(priors: ScoreMatrix, caliper: float) -> float | None:
    """The caliper in nats; None where a side has fewer than two priors."""
    sides = [side[~np.isnan(side)] for side in (_of_entities(priors.native), _of_entities(priors.western))]
    if min(map(len, sides)) < 2:
        return None
    return caliper * math.sqrt(sum(float(np.var(side, ddof=1)) for side in sides) / 2)


def all_pairs(matrix: ScoreMatrix) -> tuple[int, int]:
    """The contexts with entities of both sides, and their pairs."""
    native, western = ((~np.isnan(side)).sum(axis=1) for side in (matrix.native, matrix.western))
    return int(((native > 0) & (western > 0)).sum()), int((native * western).sum())


def matched_score(
    matrix: ScoreMatrix, tokens: ScoreMatrix | None, priors: ScoreMatrix | None, nats: float = 0.0
) -> MatchedScore | None:
    """The score over pairs with as many tokens, and with priors at most `nats` apart; None where there is none.

    `tokens` and `priors` have a number for each likelihood of `matrix`; None: pairs need not be alike in it.
    """
    tie = 0.5 if matrix.ties == HALF else 0.0
    near = None if priors is None else _near(priors, nats)
    placed = [np.full(side.shape, np.nan) for side in (matrix.native, matrix.western)]
    kept, counts = [], np.zeros(3)  # pairs, ties and wins of Western entities
    for row, (native, western) in enumerate(zip(matrix.native, matrix.western, strict=True)):
        alike = ~np.isnan(native)[:, None] & ~np.isnan(western)[None, :]
        if near is not None:
            alike &= near
        if tokens is not None:
            alike &= tokens.native[row][:, None] == tokens.western[row][None, :]
        if alike.any():
            won, level = (western[None, :] > native[:, None]) & alike, (western[None, :] == native[:, None]) & alike
            for side, axis in zip(placed, (1, 0), strict=True):
                added = won.sum(axis=axis) + tie * level.sum(axis=axis)
                side[row] = _placed(added, alike.sum(axis=axis))
            counts += alike.sum(), level.sum(), won.sum()
            kept.append(row)
    if not kept:
        return None
    rows = np.isin(np.arange(len(matrix.native)), kept)
    found = placed_of(*placed, *(matrix.units(kind) for kind in ("context", "native", "western")))
    every = bias(part_of(matrix, rows))
    if found is None or every is None:
        return None
    sizes = found.native.shape[1], found.western.shape[1]
    return MatchedScore(combined([mean_of(found)]), every.value, *sizes, *(int(count) for count in counts))


def _near(priors: ScoreMatrix, nats: float) -> Pairs:
    """Which native entities have priors that are no further than `nats` off those of which Western ones."""
    native, western = _of_entities(priors.native), _of_entities(priors.western)
    near: Pairs = np.abs(native[:, None] - western[None, :]) <= nats
    return near


def _placed(added: Numbers, pairs: Numbers) -> Numbers:
    """What each entity of a side would make of the score, by its number of pairs; NaN without one.

    `added` is how many of its pairs the Western entity wins.
    """
    score, mean = added.sum() / pairs.sum(), pairs.sum() / np.count_nonzero(pairs)
    return np.where(pairs > 0, score + (added - score * pairs) / mean, np.nan)


def _of_entities(side: Numbers) -> Numbers:
    """The prior of each entity, which all its contexts have; NaN without one, or without a finite one."""
    finite = np.where(np.isfinite(side), side, -np.inf).max(axis=0, initial=-np.inf)
    return np.where(np.isfinite(finite), finite, np.nan)
