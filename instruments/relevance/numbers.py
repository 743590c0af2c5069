"""Shares by condition with their intervals, and gains of one condition over another, paired within questions.

All are over the questions that every condition has. A question of BLEnD is asked of many targets: it is the unit. Its
answers under two conditions are compared with each other, so that how hard it is cancels. Intervals are made by the
jackknife over questions (`choices.uncertainty`). p: the signs of the questions' differences are flipped, all ways where
there are few, else 9,999 drawn ones. False discovery rates (Benjamini and Hochberg 1995) over all gains of one model,
data set, method, reader and wording.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, product
from typing import NamedTuple

import duckdb
import numpy as np
from scipy import stats

from polyculture.cache.layout import compose
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.instruments.choices.uncertainty import FEW_TEMPLATES, ONE_KIND, Numbers, Ratio, estimate
from polyculture.instruments.relevance.conditions import COMPARISONS, CONDITIONS
from polyculture.instruments.relevance.layout import RELEVANCE
from polyculture.instruments.relevance.rows import (
    RELEVANCE_GAINS,
    RELEVANCE_INTERVALS,
    RelevanceGainRow,
    RelevanceIntervalRow,
)
from polyculture.metrics.intervals.estimate import Estimate
from polyculture.metrics.measured import measured

METRICS: Mapping[str, tuple[str, float]] = {  # metric -> the column, and what it is divided by
    "accuracy": ("accuracy", 1.0),
    "biased": ("biased", 1.0),
    "others": ("other", 2.0),
    "refusal": ("refusal", 1.0),
    "out_of_choice": ("out_of_choice", 1.0),
}
RESAMPLES = 9_999  # ways to flip signs
_ROUNDING = 1e-9
_LACKING = {FEW_TEMPLATES: "few questions", ONE_KIND: "few questions differ"}
_COLUMNS = tuple(column for column, _ in METRICS.values())


class Study(NamedTuple):
    """What is counted together."""

    answer_method: str
    model: str
    dataset: str
    language: str
    reader: str
    prompt: str
    question_type: str


class Answered(NamedTuple):
    """A question about a target under a condition: the shares of its draws."""

    source_id: str
    question_id: str
    condition: str
    shares: tuple[float, ...]  # in the order of `_COLUMNS`


class Sums(NamedTuple):
    """A share of some questions, summed over targets, and how many these are: (questions of BLEnD,)."""

    values: Numbers
    sizes: Numbers


def measure_relevance(run: RunFolder) -> None:
    """Writes the intervals and gains of a run. Raises `StoreError` where there is no run."""
    layout = compose(CORE, RELEVANCE)
    measured(run, layout, RELEVANCE_INTERVALS, lambda store: interval_rows(study_rows(store)))
    measured(run, layout, RELEVANCE_GAINS, lambda store: gain_rows(study_rows(store)))


def study_rows(store: duckdb.DuckDBPyConnection) -> Iterator[tuple[Study, list[Answered]]]:
    """What is counted together, with a row per question that all conditions have, and condition."""
    columns = (*Study._fields, "source_id", "question_id", "condition", *_COLUMNS)
    query = f"SELECT {', '.join(columns)} FROM relevance_questions WHERE shared ORDER BY ALL"  # noqa: S608, our names
    size = len(Study._fields)
    for study, rows in groupby(store.execute(query).fetchall(), key=lambda row: row[:size]):
        found = [row[size:] for row in rows]
        yield Study(*study), [Answered(row[0], row[1], row[2], tuple(row[3:])) for row in found]


def interval_rows(studies: Iterable[tuple[Study, Sequence[Answered]]]) -> Iterator[RelevanceIntervalRow]:
    """Every share under every condition."""
    for study, rows in studies:
        for condition in CONDITIONS:
            some = [row for row in rows if row.condition == condition]
            for metric, (column, by) in METRICS.items():
                sums = sums_of(some, column)
                found = estimate(Ratio(_stacked(sums.values / by), _stacked(sums.sizes))) if some else None
                if found is None:
                    continue
                low, high = found.limits(0.0, 1.0 / by)
                yield RelevanceIntervalRow(
                    **study._asdict(), condition=condition, metric=metric, estimate=found.value, low=low, high=high,
                    lacking=_withheld(found), questions=len(sums.sizes),
                )  # fmt: skip


def gain_rows(studies: Iterable[tuple[Study, Sequence[Answered]]]) -> Iterator[RelevanceGainRow]:
    """Every gain of every study, with its false discovery rate."""
    families: dict[Study, list[RelevanceGainRow]] = defaultdict(list)
    for study, rows in studies:
        for row in gains(study, rows):
            families[study._replace(question_type="")].append(row)
    for some in families.values():
        known = [row.p for row in some if row.p is not None]
        rates = iter(stats.false_discovery_control(known).tolist() if known else [])
        for row in some:
            yield row if row.p is None else replace(row, q=next(rates))


def gains(study: Study, rows: Sequence[Answered]) -> Iterator[RelevanceGainRow]:
    """The gains of one study, without false discovery rates."""
    for condition, over in COMPARISONS:
        one, other = (sums_of([row for row in rows if row.condition == name], "accuracy") for name in (condition, over))
        if not len(one.sizes) or not len(other.sizes):
            continue  # a condition that nothing was asked under
        found = estimate(
            Ratio(
                np.stack([one.values, other.values])[:, :, np.newaxis],
                np.stack([one.sizes, other.sizes])[:, :, np.newaxis],
                lowest=-1.0,
            )
        )
        if found is None:
            continue
        low, high = found.limits(-1.0, 1.0)
        total = one.sizes.sum()
        yield RelevanceGainRow(
            **study._asdict(), condition=condition, over=over, accuracy=float(one.values.sum() / total),
            over_accuracy=float(other.values.sum() / total), gain=found.value, low=low, high=high,
            lacking=_withheld(found), p=flipped(one.values - other.values), q=None, questions=len(one.sizes),
            asked=int(total),
        )  # fmt: skip


def sums_of(rows: Sequence[Answered], column: str) -> Sums:
    """The sums over targets of each question of BLEnD, in the order of their ids."""
    place = _COLUMNS.index(column)
    values: dict[str, float] = defaultdict(float)
    sizes: dict[str, float] = defaultdict(float)
    for row in rows:
        values[row.source_id] += row.shares[place]
        sizes[row.source_id] += 1
    names = sorted(sizes)
    return Sums(np.array([values[name] for name in names]), np.array([sizes[name] for name in names]))


def flipped(differences: Numbers) -> float | None:
    """The two-sided p of a sum of differences with signs flipped; None where none differs from 0."""
    some = differences[np.abs(differences) > _ROUNDING]  # what does not differ has no sign
    if not len(some):
        return None
    if 2 ** len(some) <= RESAMPLES:
        signs = np.array(list(product((-1.0, 1.0), repeat=len(some))))
        seen = 0
    else:
        signs = np.random.default_rng(1).choice((-1.0, 1.0), size=(RESAMPLES, len(some)))
        seen = 1  # the study's own signs are one way among those that are drawn
    far = np.abs(signs @ some) >= abs(some.sum()) - _ROUNDING
    return float((far.sum() + seen) / (len(signs) + seen))


def _withheld(found: Estimate) -> str | None:
    lacking = found.withheld()
    return _LACKING.get(lacking, lacking) if lacking else None


def _stacked(numbers: Numbers) -> Numbers:
    return numbers[np.newaxis, :, np.newaxis]
