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
from polyculture.metrics.claims.parts import ClaimedRun, UntestableClaimError
from polyculture.metrics.comparison.compare import ComparisonRow
from polyculture.metrics.comparison.table import with_remedy
from polyculture.metrics.inference.limits import Interval
from polyculture.metrics.responses import ALL

LEVEL = 0.05


class ClaimResult(StrEnum):
    """What a claim comes to."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim with its result, the comparison that it turns on, and why it is not decided."""

    claim: Claim
    result: ClaimResult
    row: ComparisonRow | None  # of the comparison that decides, or stands most in the way
    parts: int  # comparisons of the claim
    tested: int  # of these, with an interval
    p: float | None  # the smaller of for and against it
    adjusted: float | None  # by Holm, over the claims that have a p
    why: str = ""
    not_in: tuple[str, ...] = ()  # selections of texts in which a decided claim's p says otherwise


@dataclass(frozen=True, slots=True)
class _UnadjustedVerdict:
    verdict: Verdict
    side: ClaimResult  # to which the smaller p points


def judge(run: ClaimedRun, claims: Sequence[Claim]) -> list[Verdict]:
    """A verdict for each claim, in order; p is adjusted over all of them."""
    judged = [_judged(run, claim, (ALL,))[ALL] for claim in claims]
    adjusted = holm([one.verdict.p for one in judged])
    return [_decided(run, one, p) for one, p in zip(judged, adjusted, strict=True)]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p of each; a missing one stays missing and is no test."""
    ranked = sorted((p, at) for at, p in enumerate(p_values) if p is not None)
    found: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, at) in enumerate(ranked):
        largest = max(largest, min(1.0, (len(ranked) - rank) * p))
        found[at] = largest
    return found


def _decided(run: ClaimedRun, own: _UnadjustedVerdict, adjusted: float | None) -> Verdict:
    verdict = replace(own.verdict, adjusted=adjusted)
    if adjusted is None:
        return verdict
    if adjusted < LEVEL:
        # A selection that leaves no text out says the same; of others a claim that is not decided has no need.
        others = _judged(run, verdict.claim, run.selections)
        not_in = (name for name, one in others.items() if one.side != own.side or (one.verdict.p or 1) >= LEVEL)
        return replace(verdict, result=own.side, why="", not_in=tuple(not_in))
    reached = verdict.p is not None and verdict.p < LEVEL
    return replace(verdict, why="not after Holm over all claims" if reached else verdict.why)


def _judged(run: ClaimedRun, claim: Claim, selections: Sequence[str]) -> dict[str, _UnadjustedVerdict]:
    """What each selection of texts says of a claim."""
    if not selections:
        return {}
    nothing = Verdict(claim, ClaimResult.UNDECIDED, None, 0, 0, None, None)
    try:
        found = run.rows(claim, selections)
    except UntestableClaimError as fault:
        return {ALL: _UnadjustedVerdict(replace(nothing, why=str(fault)), ClaimResult.UNDECIDED)}
    return {selection: _of_rows(nothing, rows) for selection, rows in found.items()}


def _of_rows(nothing: Verdict, rows: Sequence[ComparisonRow]) -> _UnadjustedVerdict:
    claim = nothing.claim
    tested = [(row, row.contrast) for row in rows if row.contrast is not None]
    verdict = replace(nothing, parts=len(rows), tested=len(tested), row=rows[0] if len(rows) == 1 else None)
    if not tested:
        reason = next((row.difference.reason for row in rows if row.difference.reason), "no rows")
        return _UnadjustedVerdict(replace(verdict, why=with_remedy(reason)), ClaimResult.UNDECIDED)
    holds = [(_p_for(claim, contrast), row) for row, contrast in tested]
    fails = [(_p_against(claim, contrast), row) for row, contrast in tested]
    complete = len(tested) == len(rows)
    p_holds, of_holds = _joined(holds, every=claim.of_all, complete=complete)
    p_fails, of_fails = _joined(fails, every=not claim.of_all, complete=complete)
    side, p, row = min(
        ((ClaimResult.HOLDS, p_holds, of_holds), (ClaimResult.FAILS, p_fails, of_fails)), key=lambda each: each[1]
    )
    missing = f"{len(rows) - len(tested)} of {len(rows)} comparisons have no interval"
    why = "the interval covers the bound" if complete else f"the intervals cover the bound, and {missing}"
    return _UnadjustedVerdict(replace(verdict, row=row if p < 1 else of_holds, p=p, why=why), side)


def _joined(
    found: Sequence[tuple[float, ComparisonRow]], *, every: bool, complete: bool
) -> tuple[float, ComparisonRow]:
    """The p of all comparisons together, and the one that it rests on."""
    if every:
        p, row = max(found, key=lambda each: each[0])
        return (p if complete else 1.0), row
    p, row = min(found, key=lambda each: each[0])
    return min(1.0, len(found) * p), row


def _p_for(claim: Claim, contrast: Interval) -> float:
    bound = claim.bound
    if claim.expect == "higher":
        return _above(contrast, bound)
    if claim.expect == "lower":
        return _below(contrast, -bound)
    return _within(contrast, bound) if claim.expect == "same" else _outside(contrast, bound)


def _p_against(claim: Claim, contrast: Interval) -> float:
    bound = claim.bound
    if claim.expect == "higher":
        return _below(contrast, bound)
    if claim.expect == "lower":
        return _above(contrast, -bound)
    return _outside(contrast, bound) if claim.expect == "same" else _within(contrast, bound)


def _above(contrast: Interval, bound: float) -> float:
    """The p of a true difference that is not above the bound."""
    return contrast.p(bound) if contrast.value > bound else 1.0


def _below(contrast: Interval, bound: float) -> float:
    return contrast.p(bound) if contrast.value < bound else 1.0


def _outside(contrast: Interval, bound: float) -> float:
    return min(_above(contrast, bound), _below(contrast, -bound))


def _within(contrast: Interval, bound: float) -> float:
    """The p of a true difference as large as the bound in either direction; 1 without a bound."""
    return max(_below(contrast, bound), _above(contrast, -bound)) if bound else 1.0
