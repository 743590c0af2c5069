"""Numbers of questions that are asked under several conditions, and the gains of one condition over another.

A question counts once under each condition: where its concepts are drawn several times, it is the mean of its draws.
Conditions are compared on the questions that were answered, in all draws, under every condition of the study (`basis`
'shared'); the numbers of all that a condition has stand beside ('own'). Intervals leave out one unit after another; p
is that of signs of the units' differences flipped, in all ways, or in 9,999 drawn ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, product
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np

from polyculture.cache.schema.measured import EVERY, WITHOUT, Difference, Number
from polyculture.cache.sql_file import read_sql
from polyculture.instruments.differences import PairedDifference, Sides, difference_rows
from polyculture.instruments.questions.layout import MEASURE
from polyculture.instruments.questions.numbers.families import named
from polyculture.instruments.questions.numbers.number import EMPTY
from polyculture.instruments.questions.numbers.uncertainty import Numbers, Ratio, estimate

RESAMPLES = 9_999  # ways to flip signs
SHARED, OWN = "shared", "own"
# Over which conditions one is a gain: those here, in their order; the rest is no question that anybody asks.
ALONE, PROBE = "alone", "probe"
COMPARED = (*((one, ALONE) for one in ("culture", PROBE, "source", "other-culture", "no-answer")),
            *((PROBE, other) for other in ("culture", "source", "other-culture", "no-answer")))  # fmt: skip
_CHOICE: Mapping[str, tuple[str, float]] = {  # metric -> the column, and what it is divided by
    "accuracy": ("accuracy", 1.0),
    "biased": ("biased", 1.0),
    "others": ("other", 2.0),
    "refusal_ratio": ("refusal", 1.0),
    "out_of_choice": ("unread", 1.0),
}
_OPEN: Mapping[str, tuple[str, float]] = {"exact_match": ("accuracy", 1.0)}
_SHOWN: Mapping[str, tuple[str, float]] = {"concepts": ("concepts", 1.0), "gives_away": ("gives_away", 1.0)}
_LEVEL = "model, dataset, language, condition, wording, method, reader"
_METHOD = "jackknife over units"
_ROUNDING = 1e-9


class Study(NamedTuple):
    """What is counted together."""

    dataset: str
    language: str
    model: str
    method: str
    reader: str
    type: str  # of the questions; '' where they have none

    @property
    def facets(self) -> dict[str, str]:
        return {"type": self.type} if self.type else {}


class Answered(NamedTuple):
    """A question under a condition and a prompt: the means of its draws; None where none was answered."""

    wording: str
    unit: str
    pair: str
    condition: str
    draws: int
    answered: int
    accuracy: float | None
    biased: float | None
    other: float | None
    refusal: float | None
    unread: float | None
    concepts: float
    gives_away: float
    kind: str


def gain_numbers(store: duckdb.DuckDBPyConnection, dataset: str, inputs: str) -> Iterator[Number]:
    """Every share under every condition, on either basis: over prompts, and under each of them."""
    for study, rows in study_rows(store, dataset):
        metrics = {**(_OPEN if rows[0].kind == "open" else _CHOICE), **_SHOWN}
        for basis, some in ((OWN, [row for row in rows if row.answered]), (SHARED, shared(rows))):
            for condition in dict.fromkeys(row.condition for row in some):
                for wording in (EVERY, *sorted({row.wording for row in some})):
                    chosen = [row for row in some if row.condition == condition and wording in (EVERY, row.wording)]
                    for metric, (column, by) in metrics.items():
                        values, sizes = sums_of(chosen, column)
                        found = estimate(Ratio(values[np.newaxis] / by, sizes[np.newaxis], highest=1.0 / by))
                        if found is None:
                            continue
                        low, high = (None, None) if column == "concepts" else found.limits(0.0, 1.0 / by)
                        yield replace(
                            EMPTY,
                            metric=named(metric, study.reader),
                            level=_LEVEL, model=study.model, dataset=dataset, language=study.language,
                            condition=condition, wording=wording or WITHOUT, method=study.method, reader=study.reader,
                            facets={"basis": basis, **study.facets}, estimate=found.value, low=low, high=high,
                            no_interval="no share" if column == "concepts" else found.withheld(), units=len(sizes),
                            n=len(chosen), cells=sizes.shape[1], method_of_interval=_METHOD, inputs=inputs,
                        )  # fmt: skip


def gain_differences(store: duckdb.DuckDBPyConnection, dataset: str, inputs: str) -> Iterator[Difference]:
    """The gains of every study over its prompts, still without q."""
    for study, every in study_rows(store, dataset):
        rows = shared(every)
        metric = named("exact_match", study.reader) if every[0].kind == "open" else "accuracy"
        for condition, over in COMPARED:
            found = gain(rows, condition, over)
            if found is None:
                continue  # a condition that nothing was asked under
            sides = {"dataset": dataset, "language": study.language, "model": study.model, "wording": EVERY,
                     "method": study.method, "reader": study.reader}  # fmt: skip
            yield from difference_rows(
                Sides(MEASURE.name, metric, "condition", condition, over, sides, {"basis": SHARED, **study.facets}),
                found, unit="unit", units=len({row.unit for row in rows}), inputs=inputs,
                left_out=len({row.pair for row in every}) - len({row.pair for row in rows}),
                sampled=study.method == "generated",
            )  # fmt: skip


def gain(rows: Sequence[Answered], condition: str, over: str) -> PairedDifference | None:
    """The accuracy under one condition less that under another, paired within units; None where one has no question."""
    sides = [sums_of([row for row in rows if row.condition == name], "accuracy") for name in (condition, over)]
    (one, sizes), (other, _) = sides
    if not len(one) or not len(other):
        return None
    found = estimate(Ratio(np.stack([one, other]), np.stack([sizes, sizes]), lowest=-1.0))
    if found is None:
        return None
    low, high = found.limits(-1.0, 1.0)
    mean, other_mean = (float((side / sizes.sum(axis=0)).sum(axis=0).mean()) for side in (one, other))
    by_unit = ((one - other) / sizes.sum(axis=0)).sum(axis=1)
    return PairedDifference(mean, other_mean, low, high, flipped(by_unit * len(one)), lacking=found.withheld())


def study_rows(store: duckdb.DuckDBPyConnection, dataset: str) -> Iterator[tuple[Study, list[Answered]]]:
    """What is counted together, with a row per prompt, question and condition."""
    size = len(Study._fields)
    rows = store.execute(read_sql(Path(__file__).parent, "gains"), {"dataset": dataset}).fetchall()
    for study, some in groupby(rows, key=lambda row: row[:size]):
        yield Study(*study), [Answered(*row[size:]) for row in some]


def shared(rows: Sequence[Answered]) -> list[Answered]:
    """The rows of questions that were answered, in all draws, under every condition that there is, by prompt."""
    conditions = {row.condition for row in rows}
    whole: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        if row.answered == row.draws:
            whole[row.wording, row.pair].add(row.condition)
    return [row for row in rows if whole[row.wording, row.pair] == conditions]


def sums_of(rows: Sequence[Answered], column: str) -> tuple[Numbers, Numbers]:
    """The sums of a column over the questions of each unit under each prompt, and how many these are.

    Both are of shape (units, prompts), in the order of their names.
    """
    units = {name: place for place, name in enumerate(sorted({row.unit for row in rows}))}
    prompts = {name: place for place, name in enumerate(sorted({row.wording for row in rows}))}
    sums = np.zeros((2, len(units), len(prompts)))
    for row in rows:
        sums[:, units[row.unit], prompts[row.wording]] += (getattr(row, column), 1)
    return sums[0], sums[1]


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
