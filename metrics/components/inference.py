"""Variance components from mean squares: estimates, shares and 95 % intervals.

A component is the mean square of its effect less that which it is held against, summed over the effects that it names.
The weight of each effect makes the components add up to the variance of a value drawn at random: of a fixed factor this
is the finite-population variance of its levels (over n), of a sampled one the variance that another draw brings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from polyculture.metrics.components.design import (
    COUNTRY,
    FACTORS,
    FIXED,
    LANGUAGE,
    MODEL,
    NAME,
    TOPIC,
    WORDING,
    Design,
)
from polyculture.metrics.components.distribution import (
    MeanSquare,
    Spread,
    fixed_effect,
    interval,
    share_of,
    sum_of,
    sum_of_squares,
)
from polyculture.metrics.components.strata import Effect, Stratum, noise_of, strata

OTHERS, MODEL_WORDING, MODEL_NAME = "other interactions", "model x wording", "model x name"
SAMPLING = "sampling"
NO_SPREAD, BELOW_NOISE = "no response differs from another", "less than its noise alone brings"
NO_SAMPLING, NO_OTHERS = "one response a prompt", "no further interaction"
NAMED: Mapping[str, Effect] = {
    "model": frozenset({MODEL}),
    "language": frozenset({LANGUAGE}),
    "topic": frozenset({TOPIC}),
    "country": frozenset({COUNTRY}),
    "model x language": frozenset({MODEL, LANGUAGE}),
    "language x country": frozenset({LANGUAGE, COUNTRY}),
}
COMPONENTS = (*NAMED, OTHERS, "wording", MODEL_WORDING, "name", MODEL_NAME, SAMPLING)


@dataclass(frozen=True, slots=True)
class Component:
    """A variance component; without an estimate or an interval, `reason` says what it lacks."""

    name: str
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    share: float | None = None  # of the sum of all that can be told
    share_low: float | None = None
    share_high: float | None = None
    reason: str | None = None


def variance_components(table: Design) -> list[Component]:
    """All `COMPONENTS` of a table, in order."""
    found = spreads(table)
    whole = sum(max(one.value, 0.0) for one in found.values())
    rows = []
    for name in COMPONENTS:
        if name not in found:
            rows.append(Component(name, reason=_reason(name, table)))
            continue
        own, rest = found[name], sum_of([one for other, one in found.items() if other != name])
        value, limits = max(own.value, 0.0), interval(own.limits)
        share, of_share = (value / whole, interval(share_of(own, rest))) if whole > 0 else (None, None)
        reason = None
        if limits is None or (share is not None and of_share is None):
            reason = NO_SPREAD if np.isnan(own.limits + rest.limits).any() else BELOW_NOISE
        low, high = limits or (None, None)
        share_low, share_high = of_share or (None, None)
        rows.append(Component(name, value, low, high, share, share_low, share_high, reason))
    return rows


def spreads(table: Design) -> dict[str, Spread]:
    """The components that a design tells, each with its confidence distribution; a value may be below 0."""
    known = strata(table)
    found = {}
    for name in COMPONENTS:
        own = [stratum for effect, stratum in known.items() if effect and name_of(effect) == name]
        noise = [_noise(stratum, known, table) for stratum in own]
        if own and all(part is not None for part in noise):
            found[name] = _spread(own, [part for part in noise if part is not None], table)
    if table.sampling is not None:
        found[SAMPLING] = sum_of_squares([MeanSquare(1.0, table.sampling, table.sampling_freedom)])
    return found


def name_of(effect: Effect) -> str:
    """The component that an effect is part of."""
    for name, own in NAMED.items():
        if effect == own:
            return name
    if NAME in effect:
        return MODEL_NAME if MODEL in effect else "name"
    if WORDING in effect:
        return MODEL_WORDING if MODEL in effect else "wording"
    return OTHERS


def weight(effect: Effect, levels: tuple[int, ...]) -> float:
    """What turns the variance of an effect over n - 1 into that of a value drawn at random.

    Wordings and names are drawn anew, and countries in which names are nested have no effect of their own there.
    """
    counted = effect - {WORDING, NAME} - ({COUNTRY} if NAME in effect else set())
    return float(np.prod([(levels[factor] - 1) / levels[factor] for factor in counted]))


def _spread(own: list[Stratum], noise: list[MeanSquare], table: Design) -> Spread:
    if own[0].effect <= frozenset(FIXED):
        each = zip(own, noise, strict=True)
        scale = 1 / table.values.size
        return sum_of([fixed_effect(one.squares, one.freedom, against, scale) for one, against in each])
    factors = [weight(stratum.effect, table.levels) / stratum.repeats for stratum in own]
    parts = [
        MeanSquare(factor, stratum.squares / stratum.freedom, stratum.freedom)
        for factor, stratum in zip(factors, own, strict=True)
    ]
    less: dict[tuple[float, float], float] = {}  # several effects may be held against the same mean square
    for part, factor in zip(noise, factors, strict=True):
        less[part.value, part.freedom] = less.get((part.value, part.freedom), 0.0) - factor
    return sum_of_squares([*parts, *(MeanSquare(factor, *square) for square, factor in less.items())])


def _noise(stratum: Stratum, known: Mapping[Effect, Stratum], table: Design) -> MeanSquare | None:
    against = noise_of(stratum.effect, known)
    if against is not None:
        return MeanSquare(1.0, known[against].squares / known[against].freedom, known[against].freedom)
    return None if table.sampling is None else MeanSquare(1.0, table.sampling, table.sampling_freedom)


def _reason(name: str, table: Design) -> str:
    """Why the design does not tell a component: the first of its factors that it lacks."""
    parts = () if name in (OTHERS, SAMPLING) else name.split(" x ")
    lacking = [table.reasons[FACTORS.index(part)] for part in parts if FACTORS.index(part) in table.reasons]
    if lacking:
        return lacking[0]
    return NO_OTHERS if name == OTHERS and not any(map(_is_other, strata(table))) else NO_SAMPLING


def _is_other(effect: Effect) -> bool:
    return bool(effect) and name_of(effect) == OTHERS
