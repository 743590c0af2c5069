"""Conditions on a comparison, as a pipeline asks them: 'specificity[explicit] lower by more than .02'.

A condition is asked of every row of its metric, of the conditions in its brackets. It holds where q is below 0.05 on
its side. Each test is two-sided and inverts the row's interval: 'lower by more than .02' holds, but for q, where the
whole 95 % interval is below -.02. q is over all tests of a command. A row without an interval cannot be tested; but
where nothing was sampled, the difference is exact and decides.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from polyculture.cache.errors import ExperimentError, did_you_mean
from polyculture.cache.schema.measured import EVERY
from polyculture.metrics import MEASURE
from polyculture.metrics.comparison.compare import Row
from polyculture.metrics.inference.family import NO_SAMPLING, RATE, adjusted
from polyculture.metrics.inference.limits import Interval
from polyculture.metrics.responses import PER_CONDITION, RANGES

_WORDS = re.compile(
    r"(?P<metric>[^\[\]]*[^\[\]\s])\s*(\[(?P<conditions>[^\[\]]+)\])?\s+(?P<side>lower|higher|different)"
    r"(?:\s+by\s+more\s+than\s+(?P<by>\S+))?",
    re.IGNORECASE,
)
_REMEDY = (
    "Write METRIC lower|higher|different [by more than NUMBER], as in 'specificity[explicit] lower by more than .02'."
)


class Side(StrEnum):
    """Where a condition looks: at `a` below `b`, above it, or either."""

    LOWER = "lower"
    HIGHER = "higher"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the difference `a` - `b` of a metric; `by`: the difference that it must exceed, in its unit."""

    metric: str
    side: Side
    by: float = 0.0
    conditions: tuple[str, ...] = ()  # of the prompts; none: of all

    def __str__(self) -> str:
        of = f"[{', '.join(self.conditions)}]" if self.conditions else ""
        return f"{self.metric}{of} {self.side}" + (f" by more than {self.by:g}" if self.by else "")

    @property
    def per_condition(self) -> bool:
        """Whether it is asked of rows that are each of one condition."""
        return bool(self.conditions) or self.metric in PER_CONDITION

    def asks(self, row: Row) -> bool:
        """Whether it is asked of a row."""
        told = row.difference
        if told.metric != self.metric:
            return False
        if self.conditions:
            return told.condition in self.conditions
        return self.per_condition or told.condition == EVERY or told.measure != MEASURE.name

    def is_met_by(self, difference: float) -> bool:
        """Whether a difference is on its side."""
        if self.side is Side.DIFFERENT:
            return abs(difference) > self.by
        return difference > self.by if self.side is Side.HIGHER else difference < -self.by

    def p(self, contrast: Interval) -> float:
        """The p-value that decides it."""
        by = self.by
        if self.side is Side.DIFFERENT and by:
            outside = abs(contrast.value) > by
            return contrast.p(math.copysign(by, contrast.value)) if outside else max(contrast.p(by), contrast.p(-by))
        return contrast.p(by if self.side is Side.HIGHER else -by)


@dataclass(frozen=True, slots=True)
class Decision:
    """What a condition comes to in a row; `holds` is None where it cannot be tested."""

    condition: Condition
    row: Row
    holds: bool | None
    q: float | None


def read_conditions(words: Iterable[str], metrics: Sequence[str], known: Iterable[str]) -> list[Condition]:
    """The conditions in `words`, each once. `known`: the conditions of prompts.

    Raises `ExperimentError` for what is none.
    """
    prompts = sorted(known)
    return list(dict.fromkeys(_read(word, metrics, prompts) for word in words))


def _read(word: str, metrics: Sequence[str], known: Sequence[str]) -> Condition:
    found = _WORDS.fullmatch(word.strip())
    if found is None:
        raise ExperimentError(f"--fail-if {word!r} is no condition", remedy=_REMEDY)
    metric = re.sub(r"[\s-]+", "_", found["metric"].lower())
    if metric not in metrics:
        what = f"--fail-if {word!r}: {found['metric']!r} is not compared"
        raise ExperimentError(what, remedy=did_you_mean(metric, metrics))
    conditions = tuple(part.strip() for part in (found["conditions"] or "").split(",") if part.strip())
    for condition in conditions:
        if condition not in known:
            what = f"--fail-if {word!r}: the run has no condition {condition!r}"
            raise ExperimentError(what, remedy=did_you_mean(condition, known))
    lowest, highest = RANGES.get(metric, (-math.inf, math.inf))
    by = _number(found["by"])
    if not 0 <= by < highest - lowest or (found["by"] and by == 0):
        limit = "above 0" if math.isinf(highest) else f"between 0 and {highest - lowest:g}"
        raise ExperimentError(f"--fail-if {word!r}: {found['by']} is not a number {limit}", remedy=_REMEDY)
    return Condition(metric, Side(found["side"].lower()), by, conditions)


def _number(word: str | None) -> float:
    try:
        return float(word or 0)
    except ValueError:
        return math.nan


def decide(conditions: Sequence[Condition], rows: Sequence[Row]) -> list[Decision]:
    """What each condition comes to in each row that it is asked of."""
    asked = [(condition, at) for condition in conditions for at, row in enumerate(rows) if condition.asks(row)]
    p_values: dict[tuple[int, Side, float], float | None] = {}  # without a margin all sides are one test
    for condition, at in asked:
        contrast = rows[at].contrast
        p_values[_test(condition, at)] = None if contrast is None else condition.p(contrast)
    q_values = dict(zip(p_values, adjusted(list(p_values.values())), strict=True))
    return [_decision(condition, rows[at], q_values[_test(condition, at)]) for condition, at in asked]


def _test(condition: Condition, at: int) -> tuple[int, Side, float]:
    return (at, condition.side if condition.by else Side.DIFFERENT, condition.by)


def _decision(condition: Condition, row: Row, q: float | None) -> Decision:
    told = row.difference
    if told.difference is None:
        return Decision(condition, row, None, None)
    met = condition.is_met_by(told.difference)
    if told.reason == NO_SAMPLING:
        return Decision(condition, row, met, None)
    return Decision(condition, row, None if q is None else met and q < RATE, q)
