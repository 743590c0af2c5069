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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

import duckdb
import numpy as np
from scipy import stats

from polyculture.cache.schema.measured import Difference, Number
from polyculture.instruments.differences import Sides, difference_rows
from polyculture.instruments.questions.layout import EMPTY, MEASURE
from polyculture.instruments.questions.numbers.uncertainty import Ratio, paired
from polyculture.metrics.inference.family import adjusted

FEW = "no answer differs"  # why a test has no p
ALL = "avg."  # what the study calls all targets
_LEVEL = "model, dataset, language, wording, method, reader"
_COUNTS = """
SELECT
    language, model, method, reader, wording, facets['levels'] AS levels, facets['type'] AS type, unit,
    facets['level'] AS level, count(*) AS answered, count(*) FILTER ("right") AS n_right,
    count(*) FILTER (NOT "right" AND role = 'biased') AS n_biased,
    count(*) FILTER (picked IS NOT NULL AND NOT "right" AND role <> 'biased') AS n_other
FROM question_readings
WHERE dataset = ? AND outcome <> 'failed' AND reader <> '-' AND facets['levels'] IS NOT NULL
GROUP BY ALL
ORDER BY ALL
"""


class Counts(NamedTuple):
    """The answers to a question about targets of one level."""

    unit: str
    level: str
    answered: int
    right: int
    biased: int
    other: int


@dataclass(frozen=True, slots=True)
class OneSided:
    """A one-sided test: that the first share is higher than the second."""

    hypothesis: str
    side: str  # as 'avg. > low'
    first: float
    second: float
    sizes: tuple[int, int]  # answers of either
    p: float | None

    @property
    def metric(self) -> str:
        return "accuracy" if self.hypothesis == "1" else "biased"


def hypothesis_numbers(store: duckdb.DuckDBPyConnection, dataset: str, inputs: str) -> Iterator[Number]:
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
                    estimate=value, no_estimate=FEW if value is None else None, no_interval="a test",
                    n=sum(test.sizes), sizes={"first": test.sizes[0], "second": test.sizes[1]}, inputs=inputs,
                )  # fmt: skip


def _counted(
    store: duckdb.DuckDBPyConnection, dataset: str
) -> Iterator[tuple[tuple[str, ...], Sequence[str], str, list[Counts]]]:
    """Of each study its language, model, method, reader and prompt; its levels; and a type with its counts."""
    rows = store.execute(_COUNTS, [dataset]).fetchall()
    for (*study, levels, kind), some in groupby(rows, key=lambda row: row[:7]):
        yield tuple(study), levels.split("; "), kind, [Counts(*row[7:]) for row in some]


def level_differences(store: duckdb.DuckDBPyConnection, dataset: str, inputs: str) -> Iterator[Difference]:
    """What the hypotheses compare, with intervals over units, still without q: levels apart, and the two wrong options.

    Of a unit that was asked of one side alone, nothing counts.
    """
    for (language, model, method, reader, wording), levels, kind, rows in _counted(store, dataset):
        shared = {"dataset": dataset, "language": language, "model": model, "wording": wording, "method": method,
                  "reader": reader}  # fmt: skip
        for metric, dimension, a, b, one, other in contrasts(rows, levels):
            if (found := paired(one, other)) is not None:
                yield from difference_rows(
                    Sides(MEASURE.name, metric, dimension, a, b, shared, {"type": kind}), found, unit="unit",
                    units=int((one.units & other.units).sum()), inputs=inputs, sampled=method == "generated",
                )  # fmt: skip


def contrasts(rows: Sequence[Counts], levels: Sequence[str]) -> Iterator[tuple[str, str, str, str, Ratio, Ratio]]:
    """What is compared of one kind of questions: metric, dimension, the names of the sides, and their shares."""
    least, units = levels[-1], {name: number for number, name in enumerate(sorted({row.unit for row in rows}))}
    low = [row for row in rows if row.level == least]
    higher = {f"all but {least}": [row for row in rows if row.level != least]}
    higher |= {level: [row for row in rows if row.level == level] for level in levels[1:-1]}
    for metric, what in (("accuracy", "right"), ("biased", "biased")):
        for name, some in higher.items():
            yield metric, "level", name, least, _ratio(some, what, units), _ratio(low, what, units)
    yield "biased", "option", "biased", "others", _ratio(rows, "biased", units), _ratio(rows, "other", units, by=2)


def _ratio(rows: Sequence[Counts], what: str, units: Mapping[str, int], by: int = 1) -> Ratio:
    """The share of answers in each of the units."""
    chosen, answered = np.zeros(len(units)), np.zeros(len(units))
    for row in rows:
        chosen[units[row.unit]] += getattr(row, what) / by
        answered[units[row.unit]] += row.answered
    return Ratio(chosen[np.newaxis, :, np.newaxis], answered[np.newaxis, :, np.newaxis])


def comparisons(rows: Sequence[Counts], levels: Sequence[str]) -> Iterator[OneSided]:
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
        if size := _size(some):
            biased, other = _sum(some, "biased") / size, _sum(some, "other") / 2 / size
            yield OneSided("2", name, biased, other, (size, size), two_proportions(biased, size, other, size))


def two_proportions(first: float, first_size: float, second: float, second_size: float) -> float | None:
    """The p of the pooled z of two shares, that the first is no higher; None where neither varies."""
    pooled = (first * first_size + second * second_size) / (first_size + second_size)
    variance = pooled * (1 - pooled) * (1 / first_size + 1 / second_size)
    return float(stats.norm.sf((first - second) / math.sqrt(variance))) if variance > 0 else None


def _z(hypothesis: str, what: str, side: str, first: Sequence[Counts], second: Sequence[Counts]) -> OneSided:
    sizes = _size(first), _size(second)
    one, other = _sum(first, what) / sizes[0], _sum(second, what) / sizes[1]
    return OneSided(hypothesis, side, one, other, sizes, two_proportions(one, sizes[0], other, sizes[1]))


def _size(rows: Sequence[Counts]) -> int:
    return _sum(rows, "answered")


def _sum(rows: Sequence[Counts], what: str) -> int:
    return sum(getattr(row, what) for row in rows)
