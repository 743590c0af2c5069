"""Conditions on a comparison, as a pipeline asks them: 'specificity[explicit] lower by more than .02'.

A condition is asked of every row of its metric, of the conditions in its brackets. It holds where q is below 0.05 on
its side. Each test is two-sided and inverts the row's interval: 'lower by more than .02' holds, but for q, where the
whole 95 % interval is below -.02. q is over all tests of a command.

'not lower by more than .02' (`--pass-if`) is a test of non-inferiority: it holds where the whole 95 % interval is above
-.02. All such conditions must hold, so that none of them is adjusted for the others (an intersection-union test: Berger
and Hsu 1996, Stat. Sci. 11, 283).

Where nothing was sampled, the difference is exact and decides. Else a condition cannot be tested

- in a row without an interval
- where the candidate lacks more than a twentieth of the cells that its baseline has
- where it does not hold, and the interval leaves open a change that it is meant to find: `_is_blind`
- where it does not hold for new prompts, and the same prompts show what it is about
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from polyculture.cache.errors import ExperimentError
from polyculture.cache.store.schema.measured import EVERY
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.metrics import MEASURE
from polyculture.metrics.comparison.compare import ComparisonRow
from polyculture.metrics.comparison.sides import RUN
from polyculture.metrics.declared import RANGES, is_per_country
from polyculture.metrics.inference.family import NO_SAMPLING, RATE, adjusted
from polyculture.metrics.inference.limits import Interval, found_with_power
from polyculture.metrics.means import MOST_UNKNOWN

_WORDS = re.compile(
    r"(?P<metric>[^\[\]]*?[^\[\]\s])\s*(\[(?P<conditions>[^\[\]]+)\])?\s+(?P<negated>not\s+)?(?P<side>lower|higher|different)"
    r"(?:\s+by\s+more\s+than\s+(?P<by>\S+))?",
    re.IGNORECASE,
)
FAIL_IF, PASS_IF = "--fail-if", "--pass-if"
_REMEDIES = {
    FAIL_IF: "Write METRIC lower|higher|different [by more than NUMBER], "
    "as in 'specificity[explicit] lower by more than .02'.",
    PASS_IF: "Write METRIC not lower|higher|different by more than NUMBER, as in 'diversity not lower by more than 1'.",
}
NOT_COVERED, BLIND, SHOWN_FOR_SAME = "candidate lacks cells", "too wide", "shown for the same prompts"
CANNOT_FAIL = "no candidate could differ by so much"
_SMALLEST_PART = 0.05  # of a metric's range: no gate must find a smaller change


class GateDirection(StrEnum):
    """Where a condition looks: at `a` below `b`, above it, or either."""

    LOWER = "lower"
    HIGHER = "higher"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class GateCondition:
    """A condition on the difference `a` - `b` of a metric; `by`: the difference that it must exceed, in its unit."""

    metric: str
    side: GateDirection
    by: float = 0.0
    conditions: tuple[str, ...] = ()  # of the prompts; none: of all
    negated: bool = False  # is it that the difference is not there, as `--pass-if` asks?

    def __str__(self) -> str:
        of = f"[{', '.join(self.conditions)}]" if self.conditions else ""
        side = f"not {self.side}" if self.negated else self.side
        return f"{self.metric}{of} {side}" + (f" by more than {self.by:g}" if self.by else "")

    @property
    def option(self) -> str:
        """The option that asks it."""
        return PASS_IF if self.negated else FAIL_IF

    @property
    def per_condition(self) -> bool:
        """Whether it is asked of rows that are each of one condition."""
        return bool(self.conditions) or is_per_country(self.metric)

    def asks(self, row: ComparisonRow) -> bool:
        """Whether it is asked of a row."""
        told = row.difference
        if told.metric != self.metric:
            return False
        if self.conditions:
            return told.condition in self.conditions
        return self.per_condition or told.condition == EVERY or told.measure != MEASURE.name

    def is_met_by(self, difference: float) -> bool:
        """Whether a difference is on its side."""
        if self.side is GateDirection.DIFFERENT:
            return abs(difference) > self.by
        return difference > self.by if self.side is GateDirection.HIGHER else difference < -self.by

    def p(self, contrast: Interval) -> float:
        """The p-value that decides it."""
        by = self.by
        if self.negated:
            margins = {GateDirection.LOWER: (-by,), GateDirection.HIGHER: (by,), GateDirection.DIFFERENT: (-by, by)}[
                self.side
            ]
            return 1.0 if self.is_met_by(contrast.value) else max(contrast.p(margin) for margin in margins)
        if self.side is GateDirection.DIFFERENT and by:
            outside = abs(contrast.value) > by
            return contrast.p(math.copysign(by, contrast.value)) if outside else max(contrast.p(by), contrast.p(-by))
        return contrast.p(by if self.side is GateDirection.HIGHER else -by)


@dataclass(frozen=True, slots=True)
class Decision:
    """What a condition comes to in a row; `holds` is None where it cannot be tested, and `why` is the reason."""

    condition: GateCondition
    row: ComparisonRow
    holds: bool | None
    q: float | None
    why: str | None = None

    @property
    def least(self) -> float | None:
        """The true difference that the row finds with a power of 80 %; None where it has no interval."""
        contrast = self.row.contrast
        if contrast is None:
            return None
        low, high = contrast.interval()
        return found_with_power((high - low) / 2, contrast.freedom)

    @property
    def fails(self) -> bool:
        """Whether the pipeline fails by it."""
        return self.holds is (not self.condition.negated) if self.holds is not None else False


def read_conditions(
    words: Iterable[str], metrics: Sequence[str], known: Iterable[str], option: str = FAIL_IF
) -> list[GateCondition]:
    """The conditions in `words` of an option, each once. `known`: the conditions of prompts.

    Raises `ExperimentError` for what is none.
    """
    prompts = sorted(known)
    return list(dict.fromkeys(_read(word, metrics, prompts, option) for word in words))


def _read(word: str, metrics: Sequence[str], known: Sequence[str], option: str) -> GateCondition:
    found = _WORDS.fullmatch(word.strip())
    if found is None or bool(found["negated"]) != (option == PASS_IF) or (found["negated"] and not found["by"]):
        raise ExperimentError(f"{option} {word!r} is no condition", remedy=_REMEDIES[option])
    written = found["metric"]  # as those of other harnesses are: 'exact_match,strict-match'
    metric = written if written in metrics else re.sub(r"[\s-]+", "_", written.lower())
    if metric not in metrics:
        what = f"{option} {word!r}: {found['metric']!r} is not compared"
        raise ExperimentError(what, remedy=did_you_mean(metric, metrics))
    conditions = tuple(part.strip() for part in (found["conditions"] or "").split(",") if part.strip())
    for condition in conditions:
        if condition not in known:
            what = f"{option} {word!r}: the run has no condition {condition!r}"
            raise ExperimentError(what, remedy=did_you_mean(condition, known))
    lowest, highest = RANGES.get(metric, (-math.inf, math.inf))
    by = _number(found["by"])
    if not 0 <= by < highest - lowest or (found["by"] and by == 0):
        limit = "above 0" if math.isinf(highest) else f"between 0 and {highest - lowest:g}"
        raise ExperimentError(f"{option} {word!r}: {found['by']} is not a number {limit}", remedy=_REMEDIES[option])
    return GateCondition(metric, GateDirection(found["side"].lower()), by, conditions, bool(found["negated"]))


def _number(word: str | None) -> float:
    try:
        return float(word or 0)
    except ValueError:
        return math.nan


def decide(
    conditions: Sequence[GateCondition], rows: Sequence[ComparisonRow], same: Sequence[ComparisonRow] = ()
) -> list[Decision]:
    """What each condition comes to in each row that it is asked of.

    `same` are rows of the same prompts, where `rows` are of new ones.
    """
    asked = [(condition, at) for condition in conditions for at, row in enumerate(rows) if condition.asks(row)]
    p_values: dict[tuple[int, GateDirection, float], float | None] = {}  # without a margin all sides are one test
    for condition, at in asked:
        contrast = rows[at].contrast
        if not condition.negated:
            p_values[_test(condition, at)] = None if contrast is None else condition.p(contrast)
    q_values = dict(zip(p_values, adjusted(list(p_values.values())), strict=True))
    beside = {_place(row): row for row in same}
    return [
        _decision(condition, rows[at], q_values.get(_test(condition, at)), beside.get(_place(rows[at])))
        for condition, at in asked
    ]


def _test(condition: GateCondition, at: int) -> tuple[int, GateDirection, float]:
    return (at, condition.side if condition.by else GateDirection.DIFFERENT, condition.by)


def _place(row: ComparisonRow) -> tuple[object, ...]:
    """What a row is of, but for its target."""
    told = row.difference
    facets = (told.model, told.dataset, told.language, told.country, told.topic, told.condition, told.wording)
    ways = (told.method, told.reader, *sorted(told.facets.items()))
    return (told.measure, told.metric, told.dimension, told.a, told.b, told.selection, *facets, *ways)


def _decision(condition: GateCondition, row: ComparisonRow, q: float | None, same: ComparisonRow | None) -> Decision:
    told, contrast = row.difference, row.contrast
    if told.difference is None:
        return Decision(condition, row, None, None, told.reason)
    if told.dimension == RUN and row.unasked > MOST_UNKNOWN * (told.cells + row.unasked):
        return Decision(condition, row, None, None, NOT_COVERED)
    met = condition.is_met_by(told.difference)
    if told.reason == NO_SAMPLING:
        return Decision(condition, row, met is not condition.negated, None)
    if contrast is None:
        return Decision(condition, row, None, None, told.reason)
    if condition.negated:
        if _cannot_fail(condition, row):
            return Decision(condition, row, None, None, CANNOT_FAIL)
        return Decision(condition, row, condition.p(contrast) < RATE, None)
    if met and q is not None and q < RATE:
        return Decision(condition, row, True, q)
    if same is not None and _is_shown(condition, same):
        return Decision(condition, row, None, q, SHOWN_FOR_SAME)
    return Decision(condition, row, None, q, BLIND) if _is_blind(condition, row) else Decision(condition, row, False, q)


def _is_shown(condition: GateCondition, row: ComparisonRow) -> bool:
    """Whether a row shows by itself what a condition is about."""
    value, contrast = row.difference.difference, row.contrast
    return value is not None and contrast is not None and condition.is_met_by(value) and condition.p(contrast) < RATE


def _cannot_fail(condition: GateCondition, row: ComparisonRow) -> bool:
    """Whether a margin is so large that the metric's range leaves no number beyond it: it would pass any candidate."""
    told = row.difference
    if told.metric not in RANGES or told.b_estimate is None:
        return False
    (lowest, highest), base = RANGES[told.metric], told.b_estimate
    rooms = {GateDirection.LOWER: base - lowest, GateDirection.HIGHER: highest - base}
    return condition.by >= rooms.get(condition.side, max(rooms.values()))


def _is_blind(condition: GateCondition, row: ComparisonRow) -> bool:
    """Whether a row leaves open a change that any gate is meant to find.

    That is one beyond the margin by half of the second side's number or by a twentieth of the metric's range, whichever
    is larger, as far as there is room for it. Of a metric of an instrument no range is known.
    """
    told, contrast = row.difference, row.contrast
    if told.metric not in RANGES or told.b_estimate is None or contrast is None:
        return False
    (lowest, highest), (low, high), base = RANGES[told.metric], contrast.interval(), told.b_estimate
    part = 0.0 if math.isinf(highest) else _SMALLEST_PART * (highest - lowest)
    change = condition.by + max(abs(base) / 2, part)
    ends = {GateDirection.LOWER: ((base - lowest, -low),), GateDirection.HIGHER: ((highest - base, high),)}
    both = (*ends[GateDirection.LOWER], *ends[GateDirection.HIGHER])
    return any(room >= part and reach >= min(change, room) for room, reach in ends.get(condition.side, both))
