"""Conditions on a comparison, as a pipeline asks them: 'specificity lower', 'diversity lower by more than 5'.

A condition is asked of every line of its metric. It holds where q is below 0.05 on its side. Each test is two-sided and
inverts the interval: 'lower by more than .02' holds, but for the adjustment, where the whole 95 % interval is below
-.02. It is ruled out where the tests speak for the opposite, undecided where they speak for neither, and withheld where
a line has no interval. One family has all tests: those of no difference, as the table has them, and one for each line
and margin.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from polyculture.cache.errors import ExperimentError, did_you_mean
from polyculture.metrics.comparison.compare import ComparisonRow
from polyculture.metrics.comparison.effect import NO_SPREAD, Effect, adjusted
from polyculture.metrics.comparison.equivalence import LEVEL
from polyculture.metrics.intervals.estimate import METHODS

GRAMMAR = "METRIC lower|higher|different [by more than NUMBER]"
_WORDS = re.compile(r"(?P<metric>\S.*?)\s+(?P<side>lower|higher|different)(?:\s+by\s+more\s+than\s+(?P<by>\S+))?", re.I)
_REMEDY = f"Write {GRAMMAR}, as in --fail-if 'specificity lower by more than .02'."


class Side(StrEnum):
    """Where a condition looks: at `a` below `b`, above it, or either."""

    LOWER = "lower"
    HIGHER = "higher"
    DIFFERENT = "different"


class Verdict(StrEnum):
    """What the tests say of a condition in a line."""

    HOLDS = "holds"
    RULED_OUT = "ruled out"
    UNDECIDED = "undecided"
    WITHHELD = "withheld"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the difference `a` - `b` of a metric; `by`: the difference that it must exceed, in its unit."""

    metric: str
    side: Side
    by: float = 0.0

    def __str__(self) -> str:
        return f"{self.metric} {self.side}" + (f" by more than {self.by:g}" if self.by else "")


@dataclass(frozen=True, slots=True)
class Decision:
    """What a condition comes to in a line of the comparison."""

    condition: Condition
    row: ComparisonRow
    verdict: Verdict
    q: float | None = None  # of this condition's test, over the family
    reason: str = ""  # why it is withheld


def read_conditions(words: Iterable[str], metrics: Sequence[str]) -> list[Condition]:
    """The conditions that are written in `words`, each once. Raises `ExperimentError` for what is none."""
    return list(dict.fromkeys(_read(word, metrics) for word in words))


def _read(word: str, metrics: Sequence[str]) -> Condition:
    found = _WORDS.fullmatch(word.strip())
    if found is None:
        raise ExperimentError(f"--fail-if {word!r} is no condition", remedy=_REMEDY)
    metric = re.sub(r"[\s-]+", "_", found["metric"].lower())
    if metric not in metrics:
        what = f"--fail-if {word!r}: {found['metric']!r} is not compared"
        raise ExperimentError(what, remedy=did_you_mean(metric, metrics))
    _, lowest, highest = METHODS[metric]
    by = _number(found["by"])
    if not 0 <= by < highest - lowest or (found["by"] and by == 0):
        limit = "above 0" if math.isinf(highest - lowest) else f"between 0 and {highest - lowest:g}"
        raise ExperimentError(f"--fail-if {word!r}: {found['by']} is not a number {limit}", remedy=_REMEDY)
    return Condition(metric, Side(found["side"].lower()), by)


def _number(word: str | None) -> float:
    try:
        return float(word or 0)
    except ValueError:
        return math.nan


def points_of(conditions: Iterable[Condition]) -> dict[str, tuple[float, ...]]:
    """Per metric, the differences that are tested, besides 0."""
    points: dict[str, set[float]] = {}
    for condition in conditions:
        if condition.by:
            points.setdefault(condition.metric, set()).update((condition.by, -condition.by))
    return {metric: tuple(sorted(values)) for metric, values in points.items()}


def family(conditions: Sequence[Condition], rows: Sequence[ComparisonRow]) -> dict[tuple[int, Side, float], float]:
    """The q of every test that the conditions need, by the line's number, the side and the margin.

    Tests of no difference are those of all lines, so that their q is the table's, where no margin is named.
    """
    p_values: dict[tuple[int, Side, float], float | None] = {}
    if any(not condition.by for condition in conditions):
        p_values |= {
            (number, Side.DIFFERENT, 0.0): row.effect.p if row.effect else None for number, row in enumerate(rows)
        }
    for condition in conditions:
        if condition.by:
            for number, row in enumerate(rows):
                if row.metric == condition.metric:
                    p_values[number, condition.side, condition.by] = _p(row.effect, condition) if row.effect else None
    q_values = adjusted(list(p_values.values()))
    return {test: q for test, q in zip(p_values, q_values, strict=True) if q is not None}


def decide(
    conditions: Sequence[Condition], rows: Sequence[ComparisonRow], withheld: Mapping[str, str] | None = None
) -> list[Decision]:
    """What each condition comes to in each line of its metric. `withheld`: why a metric is not decided at all."""
    q_values = family(conditions, rows)
    return [
        _decision(condition, row, q_values.get(_test(number, condition)), (withheld or {}).get(row.metric, ""))
        for condition in conditions
        for number, row in enumerate(rows)
        if row.metric == condition.metric
    ]


def _test(number: int, condition: Condition) -> tuple[int, Side, float]:
    return (number, condition.side if condition.by else Side.DIFFERENT, condition.by)


def _p(effect: Effect, condition: Condition) -> float | None:
    """The p-value of the test that decides a condition with a margin; None without an interval."""
    at = dict(effect.p_at)
    by = condition.by
    if not at:
        return None
    if condition.side is Side.DIFFERENT:
        outside = abs(effect.difference) > by
        return at[math.copysign(by, effect.difference)] if outside else max(at[by], at[-by])
    return at[by if condition.side is Side.HIGHER else -by]


def _decision(condition: Condition, row: ComparisonRow, q: float | None, reason: str) -> Decision:
    if reason or row.effect is None:
        return Decision(condition, row, Verdict.WITHHELD, None, reason or "no prompt has both numbers")
    met = _on_its_side(condition, row.effect.difference)
    if q is None:
        same_everywhere = row.effect.no_interval == NO_SPREAD and condition.by and not met
        verdict = Verdict.RULED_OUT if same_everywhere else Verdict.WITHHELD
        return Decision(condition, row, verdict, None, row.effect.no_interval or "no interval")
    if q >= LEVEL:
        return Decision(condition, row, Verdict.UNDECIDED, q)
    return Decision(condition, row, Verdict.HOLDS if met else Verdict.RULED_OUT, q)


def _on_its_side(condition: Condition, difference: float) -> bool:
    if condition.side is Side.DIFFERENT:
        return abs(difference) > condition.by
    return difference > condition.by if condition.side is Side.HIGHER else difference < -condition.by
