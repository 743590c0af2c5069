"""What a run says of a claim: it holds, it fails, or it is undecided.

Each comparison of a claim has two p-values, by the procedure that its 95 % interval inverts. The first is small where
the interval lies wholly where the claim says, the second where it lies wholly elsewhere:

    expect      holds where the interval is          fails where it is
    higher      above the bound                      below the bound
    lower       below minus the bound                above minus the bound
    same        within minus the bound and the bound on one side of it
    different   on one side of it                    within (needs a bound above 0)

Of a claim that all comparisons must meet, the largest p counts for it (intersection-union), and the smallest against
it, times their number (Bonferroni). Where one is enough it is the other way round. The smaller of both is the claim's
p; Holm's method adjusts it over the claims of a file, and below 0.05 the claim is decided. Each p is of a two-sided
test: the chance of any wrong decision in a file, in either direction, is 5 % at most.

Sources: Berger and Hsu 1996, Bioequivalence trials, intersection-union tests and equivalence confidence sets, Stat.
Sci. 11, 283-319; Holm 1979, A simple sequentially rejective multiple test procedure, Scand. J. Stat. 6, 65-70.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from polyculture.metrics.claims.claim import Claim
from polyculture.metrics.claims.parts import Part, Store, UntestableError
from polyculture.metrics.comparison.blocks import Blocks
from polyculture.metrics.comparison.effect import FEW_BLOCKS, FEWEST_BLOCKS, Effect
from polyculture.metrics.intervals.wordings import FEWEST_WORDINGS

LEVEL = 0.05


class Result(StrEnum):
    """What a claim comes to."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim with its result, the comparison that it turns on, and why it is not decided."""

    claim: Claim
    result: Result
    part: Part | None  # that decides, or stands most in the way
    parts: int  # comparisons of the claim
    tested: int  # of these, with an interval
    p: float | None  # the smaller of for and against it
    adjusted: float | None  # by Holm, over the claims that have a p
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Judged:
    verdict: Verdict
    side: Result  # to which the smaller p points


def judge(store: Store, claims: Sequence[Claim]) -> list[Verdict]:
    """A verdict for each claim, in order; p is adjusted over all of them."""
    judged = [_judged(store, claim) for claim in claims]
    adjusted = holm([one.verdict.p for one in judged])
    return [_decided(one, p) for one, p in zip(judged, adjusted, strict=True)]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p of each; a missing one stays missing and is no test."""
    ranked = sorted((p, at) for at, p in enumerate(p_values) if p is not None)
    found: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, at) in enumerate(ranked):
        largest = max(largest, min(1.0, (len(ranked) - rank) * p))
        found[at] = largest
    return found


def _decided(judged: _Judged, adjusted: float | None) -> Verdict:
    verdict = replace(judged.verdict, adjusted=adjusted)
    if adjusted is None:
        return verdict
    if adjusted < LEVEL:
        return replace(verdict, result=judged.side, why="")
    reached = verdict.p is not None and verdict.p < LEVEL
    return replace(verdict, why="not after Holm over all claims" if reached else verdict.why)


def _judged(store: Store, claim: Claim) -> _Judged:
    nothing = Verdict(claim, Result.UNDECIDED, None, 0, 0, None, None)
    try:
        parts = store.parts(claim)
    except UntestableError as fault:
        return _Judged(replace(nothing, why=str(fault)), Result.UNDECIDED)
    tested = [part for part in parts if part.effect is not None and part.effect.mean is not None]
    verdict = replace(nothing, parts=len(parts), tested=len(tested), part=_first(parts))
    if not tested:
        if len(parts) > 1:  # it turns on none of them
            verdict = replace(verdict, part=None)
        return _Judged(replace(verdict, why=_why_untested(parts, claim.blocks)), Result.UNDECIDED)
    holds = [(_p_for(claim, part.effect), part) for part in tested if part.effect]
    fails = [(_p_against(claim, part.effect), part) for part in tested if part.effect]
    complete = len(tested) == len(parts)
    p_holds, of_holds = _joined(holds, every=claim.of_all, complete=complete)
    p_fails, of_fails = _joined(fails, every=not claim.of_all, complete=complete)
    side, p, part = min(
        ((Result.HOLDS, p_holds, of_holds), (Result.FAILS, p_fails, of_fails)), key=lambda each: each[1]
    )
    missing = f"{len(parts) - len(tested)} of {len(parts)} comparisons have no interval"
    why = "the interval covers the bound" if complete else f"the intervals cover the bound, and {missing}"
    return _Judged(replace(verdict, part=part if p < 1 else of_holds, p=p, why=why), side)


def _joined(found: Sequence[tuple[float, Part]], *, every: bool, complete: bool) -> tuple[float, Part]:
    """The p of all comparisons together, and the one that it rests on."""
    if every:
        p, part = max(found, key=lambda each: each[0])
        return (p if complete else 1.0), part
    p, part = min(found, key=lambda each: each[0])
    return min(1.0, len(found) * p), part


def _p_for(claim: Claim, effect: Effect) -> float:
    bound = claim.bound
    if claim.expect == "higher":
        return _above(effect, bound)
    if claim.expect == "lower":
        return _below(effect, -bound)
    return _within(effect, bound) if claim.expect == "same" else min(_above(effect, bound), _below(effect, -bound))


def _p_against(claim: Claim, effect: Effect) -> float:
    bound = claim.bound
    if claim.expect == "higher":
        return _below(effect, bound)
    if claim.expect == "lower":
        return _above(effect, -bound)
    return min(_above(effect, bound), _below(effect, -bound)) if claim.expect == "same" else _within(effect, bound)


def _above(effect: Effect, bound: float) -> float:
    """The p of a true difference that is not above the bound."""
    return effect.mean.p(bound) if effect.mean and effect.difference > bound else 1.0


def _below(effect: Effect, bound: float) -> float:
    return effect.mean.p(bound) if effect.mean and effect.difference < bound else 1.0


def _within(effect: Effect, bound: float) -> float:
    return effect.mean.p_beyond(bound) if effect.mean and bound else 1.0


def _first(parts: Sequence[Part]) -> Part | None:
    return next((part for part in parts if part.effect), parts[0] if parts else None)


def _why_untested(parts: Sequence[Part], blocks: Blocks) -> str:
    effects = [part.effect for part in parts if part.effect]
    if not effects:
        return "no prompt was asked of both sides"
    most = max(effects, key=lambda effect: effect.blocks)
    if most.no_interval == FEW_BLOCKS:
        fewest = FEWEST_WORDINGS if blocks is Blocks.WORDINGS else FEWEST_BLOCKS
        return f"too few {blocks} for an interval: {most.blocks} of {fewest}"
    return f"all {blocks} have the same difference: no interval"
