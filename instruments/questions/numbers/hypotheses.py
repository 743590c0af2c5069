"""CultureScope's hypotheses (2025, appendix D.1, Table 7): the study's tests, and what they compare with intervals.

H1: accuracy is higher over all targets, and over those of middle resources, than over those of few. H2: wrong answers
name the biased option more often than either other. H3: the biased option is chosen more often for targets of few
resources than over all, and than for those of middle resources.

The study's tests are one-sided z-tests of two proportions, pooled. They take all targets against a part of them, two
shares of the same answers, and every answer for independent of the others. Each has its false discovery rate (Benjamini
and Hochberg 1995) over all tests of its model, set, method, reader and prompt: metrics `accuracy_p` and `accuracy_q`,
`biased_p` and `biased_q`.

Rows of `differences` compare disjoint levels (dimension 'level'), and the biased option with half of the two others
('option'), with intervals over units, since a question is asked of many targets.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

import numpy as np
from scipy import stats

from polyculture.cache.store.schema.measured import Difference, Number
from polyculture.cache.store.store import Store
from polyculture.instruments.differences import ComparedFacets, difference_rows
from polyculture.instruments.questions.layout import ASK_METHODS, EMPTY, MEASURE
from polyculture.instruments.questions.numbers.withheld import FEW_READ, few_are_read, withheld_differences
from polyculture.metrics.inference.family import adjusted
from polyculture.metrics.inference.ratios import Ratio, paired

FEW = "no answer differs"  # why a test has no p
ALL = "avg."  # what the study calls all targets
_LEVEL = "model, dataset, language, wording, method, reader"
_COUNTS = """
SELECT
    language, model, method, reader, wording, facets['levels'] AS levels, facets['type'] AS type, unit,
    facets['level'] AS level, count(*) AS answered, count(*) FILTER ("right") AS n_right,
    count(*) FILTER (NOT "right" AND role = 'biased') AS n_biased,
    count(*) FILTER (picked IS NOT NULL AND NOT "right" AND role <> 'biased') AS n_other,
    count(*) FILTER (outcome = 'unread') AS n_unread
FROM question_readings
WHERE dataset = ? AND outcome <> 'failed' AND reader <> '-' AND facets['levels'] IS NOT NULL
GROUP BY ALL
ORDER BY ALL
"""


class QuestionCounts(NamedTuple):
    """The answers to a question about targets of one level."""

    unit: str
    level: str
    answered: int
    right: int
    biased: int
    other: int
    unread: int = 0


@dataclass(frozen=True, slots=True)
class OneSided:
    """A one-sided test: that the first share is higher than the second."""

    hypothesis: str
    side: str  # as 'avg. > low'
    first: float
    second: float
    sizes: tuple[int, int]  # answers of either
    p: float | None
    lacking: str | None = None  # why there is no p

    @property
    def metric(self) -> str:
        return "accuracy" if self.hypothesis == "1" else "biased"


def hypothesis_numbers(store: Store, dataset: str, inputs: str) -> Iterator[Number]:
    """Every test of every study under each prompt, with its false discovery rate."""
    for study, of_study in groupby(_counted(store, dataset), key=lambda one: one[:2]):
        (language, model, method, reader, wording), levels = study
        tests = [(kind, test) for *_, kind, rows in of_study for test in comparisons(rows, levels)]
        for (kind, test), q in zip(tests, adjusted([test.p for _, test in tests]), strict=True):
            facets = {"hypothesis": test.hypothesis, "side": test.side, "test": "paper", "type": kind}
            for name, value in (("p", test.p), ("q", q)):
                yield replace(
                    EMPTY, metric=f"{test.metric}_{name}", level=_LEVEL, model=model, dataset=dataset,
                    language=language, wording=wording, method=method, reader=reader, facets=facets,
                    estimate=value, no_estimate=test.lacking, no_interval="a test",
                    n=sum(test.sizes), sizes={"first": test.sizes[0], "second": test.sizes[1]}, inputs=inputs,
                )  # fmt: skip


def _counted(store: Store, dataset: str) -> Iterator[tuple[tuple[str, ...], Sequence[str], str, list[QuestionCounts]]]:
    """Of each study its language, model, method, reader and prompt; its levels; and a type with its counts."""
    rows = store.execute(_COUNTS, [dataset]).fetchall()
    for (*study, levels, kind), some in groupby(rows, key=lambda row: row[:7]):
        yield tuple(study), levels.split("; "), kind, [QuestionCounts(*row[7:]) for row in some]


def level_differences(store: Store, dataset: str, inputs: str) -> Iterator[Difference]:
    """What the hypotheses compare, with intervals over units, still without q: levels apart, and the two wrong options.

    Of a unit that was asked of one side alone, nothing counts.
    """
    for (language, model, method, reader, wording), levels, kind, rows in _counted(store, dataset):
        shared = {"dataset": dataset, "language": language, "model": model, "wording": wording, "method": method,
                  "reader": reader}  # fmt: skip
        for one in contrasts(rows, levels):
            a, b = (side.ratio(rows) for side in (one.first, one.second))
            sides = ComparedFacets(
                MEASURE.name, one.metric, one.dimension, one.first.name, one.second.name, shared, {"type": kind}
            )
            units, sampled = int((a.units & b.units).sum()), ASK_METHODS[method].is_sampled
            if one.first.is_withheld or one.second.is_withheld:
                yield from withheld_differences(sides, unit="unit", units=units, inputs=inputs, sampled=sampled)
            elif (found := paired(a, b)) is not None:
                yield from difference_rows(sides, found, unit="unit", units=units, inputs=inputs, sampled=sampled)


class HypothesisSide(NamedTuple):
    """One side of a comparison: its name, its answers, and which of them are counted."""

    name: str
    rows: Sequence[QuestionCounts]
    counted: str  # a field of `QuestionCounts`
    by: int = 1

    def ratio(self, of: Sequence[QuestionCounts]) -> Ratio:
        """The share of its answers in each of the units of all rows."""
        units = {name: number for number, name in enumerate(sorted({row.unit for row in of}))}
        chosen, answered = np.zeros(len(units)), np.zeros(len(units))
        for row in self.rows:
            chosen[units[row.unit]] += getattr(row, self.counted) / self.by
            answered[units[row.unit]] += row.answered
        return Ratio(chosen[np.newaxis, :, np.newaxis], answered[np.newaxis, :, np.newaxis])

    @property
    def is_withheld(self) -> bool:
        return few_are_read(_size(self.rows), _sum(self.rows, "unread"))


class ComparedSides(NamedTuple):
    """Two sides that are compared."""

    metric: str
    dimension: str
    first: HypothesisSide
    second: HypothesisSide


def contrasts(rows: Sequence[QuestionCounts], levels: Sequence[str]) -> Iterator[ComparedSides]:
    """What is compared of one kind of questions."""
    least = levels[-1]
    low = [row for row in rows if row.level == least]
    higher = {f"all but {least}": [row for row in rows if row.level != least]}
    higher |= {level: [row for row in rows if row.level == level] for level in levels[1:-1]}
    for metric, what in (("accuracy", "right"), ("biased", "biased")):
        for name, some in higher.items():
            yield ComparedSides(metric, "level", HypothesisSide(name, some, what), HypothesisSide(least, low, what))
    yield ComparedSides(
        "biased", "option", HypothesisSide("biased", rows, "biased"), HypothesisSide("others", rows, "other", 2)
    )


def comparisons(rows: Sequence[QuestionCounts], levels: Sequence[str]) -> Iterator[OneSided]:
    """The tests of one kind of questions; `levels` from the most resources to the least.

    A group without an answer is compared with nothing.
    """
    of_level = {level: [row for row in rows if row.level == level] for level in levels}
    least = levels[-1]
    low, between = of_level[least], {level: of_level[level] for level in levels[1:-1] if _size(of_level[level])}
    if _size(rows) and _size(low):
        yield _z("1", "right", f"{ALL} > {least}", rows, low)
        yield from (_z("1", "right", f"{ALL} > {level}", rows, some) for level, some in between.items())
        yield from (_z("1", "right", f"{level} > {least}", some, low) for level, some in between.items())
        yield _z("3", "biased", f"{least} > {ALL}", low, rows)
        yield from (_z("3", "biased", f"{least} > {level}", low, some) for level, some in between.items())
    for name, some in {ALL: rows, **of_level}.items():
        if _size(some):
            yield _tested("2", name, HypothesisSide(name, some, "biased"), HypothesisSide(name, some, "other", 2))


def two_proportions(first: float, first_size: float, second: float, second_size: float) -> float | None:
    """The p of the pooled z of two shares, that the first is no higher; None where neither varies."""
    pooled = (first * first_size + second * second_size) / (first_size + second_size)
    variance = pooled * (1 - pooled) * (1 / first_size + 1 / second_size)
    return float(stats.norm.sf((first - second) / math.sqrt(variance))) if variance > 0 else None


def _z(
    hypothesis: str, what: str, side: str, first: Sequence[QuestionCounts], second: Sequence[QuestionCounts]
) -> OneSided:
    return _tested(hypothesis, side, HypothesisSide("", first, what), HypothesisSide("", second, what))


def _tested(hypothesis: str, name: str, *sides: HypothesisSide) -> OneSided:
    """The test of two sides, or the reason why there is none."""
    first, second = (_size(side.rows) for side in sides)
    one, other = (_sum(side.rows, side.counted) / side.by / _size(side.rows) for side in sides)
    if any(side.is_withheld for side in sides):
        return OneSided(hypothesis, name, one, other, (first, second), None, FEW_READ)
    p = two_proportions(one, first, other, second)
    return OneSided(hypothesis, name, one, other, (first, second), p, FEW if p is None else None)


def _size(rows: Sequence[QuestionCounts]) -> int:
    return _sum(rows, "answered")


def _sum(rows: Sequence[QuestionCounts], what: str) -> int:
    return sum(getattr(row, what) for row in rows)
