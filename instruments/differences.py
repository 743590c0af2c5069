"""Differences of two sides that were asked the same, of any instrument: interval, test, and rows of `differences`.

The variance is that of the difference: what the sides have in common is taken off before anything is squared.
`metrics/inference/paired.py` makes interval and p-value of it.

An instrument's contexts, entities and questions are a sample: its target is *new prompts*, more of their kind.
Likelihoods, and answers at temperature 0, are not sampled: of the *same prompts*, the difference is exact and has no
interval. Higher or lower is told where the false discovery rate over all rows of the measure is below 5 %.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from polyculture.cache.store.schema.measured import Difference
from polyculture.metrics.inference.family import (
    NEW_PROMPTS,
    NO_SAMPLING,
    NOT_SHOWN,
    SAME_PROMPTS,
    UNTESTABLE,
    in_families,
)
from polyculture.metrics.inference.paired import PairedDifference


@dataclass(frozen=True, slots=True)
class SharedCell:
    """A cell that both sides have, as a type of entities in a language and culture: its difference and its weight."""

    topic: str
    country: str
    difference: float
    weight: float


@dataclass(frozen=True, slots=True)
class ComparedFacets:
    """What is compared, and what both sides share: the facets of `Difference` that are not its defaults."""

    measure: str
    metric: str
    dimension: str
    a: str
    b: str
    shared: Mapping[str, Any]
    facets: Mapping[str, str | None] = field(default_factory=dict)


def difference_rows(
    sides: ComparedFacets,
    found: PairedDifference,
    *,
    unit: str,
    units: int,
    inputs: str,
    parts: Sequence[SharedCell] = (),
    missing: tuple[int, int] = (0, 0),
    left_out: int = 0,
    chance: float | None = None,
    sampled: bool = False,
    tipping: float | None = None,
) -> Iterator[Difference]:
    """The rows of a difference, still without q: of other units like these, and of these where nothing is `sampled`.

    `tipping` is the smallest share of the units without which the difference is 0 or has the other sign.
    """
    over_topics, over_countries = (_over(parts, name) for name in ("topic", "country"))
    row = Difference(
        measure=sides.measure,
        metric=sides.metric,
        dimension=sides.dimension,
        a=sides.a,
        b=sides.b,
        target=NEW_PROMPTS,
        selection="all",
        **sides.shared,
        facets={name: value for name, value in sorted(sides.facets.items()) if value},
        a_estimate=found.one,
        b_estimate=found.other,
        difference=found.value,
        low=found.low,
        high=found.high,
        p=found.p,
        reason=found.lacking,
        verdict=UNTESTABLE if found.lacking else NOT_SHOWN,
        unit=unit,
        units=units,
        cells=len(parts),
        missing_a=missing[0],
        missing_b=missing[1],
        left_out=left_out,
        without_largest=_without_largest(parts),
        topics=len(over_topics),
        topics_same_sign=_same_sign(over_topics, found.value),
        countries=len(over_countries),
        countries_same_sign=_same_sign(over_countries, found.value),
        tipping=tipping,
        chance=chance,
        inputs=inputs,
        freedom=found.freedom,
    )
    yield row
    if not sampled:
        yield replace(
            row, target=SAME_PROMPTS, low=None, high=None, p=None, reason=NO_SAMPLING, verdict=UNTESTABLE, chance=None,
            freedom=None,
        )  # fmt: skip


def with_verdicts(rows: Iterable[Difference]) -> list[Difference]:
    """The rows of a measure with their false discovery rates, and what they tell."""
    return in_families(list(rows), lambda row: row.measure)


def _over(parts: Sequence[SharedCell], name: str) -> dict[str, float]:
    """The weighted mean of the differences of each topic, or country."""
    groups: dict[str, list[SharedCell]] = {}
    for part in parts:
        groups.setdefault(getattr(part, name), []).append(part)
    return {key: _mean(some) for key, some in groups.items()}


def _mean(parts: Sequence[SharedCell]) -> float:
    return sum(part.difference * part.weight for part in parts) / sum(part.weight for part in parts)


def _same_sign(groups: Mapping[str, float], value: float) -> int:
    return sum(each * value > 0 for each in groups.values())


def _without_largest(parts: Sequence[SharedCell]) -> float | None:
    """The difference without the topic that adds most to it."""
    topics = {part.topic for part in parts}
    if len(topics) < 2:
        return None
    left = [_mean([part for part in parts if part.topic != topic]) for topic in sorted(topics)]
    return min(left) if _mean(parts) > 0 else max(left)
