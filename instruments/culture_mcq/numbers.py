"""Shares of answers with their 95 % intervals over questions.

A question of BLEnD is asked of many targets: it is the unit, resampled by the jackknife (`choices.uncertainty`). Other
questions could have been asked; the targets, the wordings and the options drawn are taken as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import duckdb
import numpy as np

from polyculture.cache.layout import compose
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.instruments.choices.uncertainty import FEW_TEMPLATES, ONE_KIND, Numbers, Ratio, estimate
from polyculture.instruments.culture_mcq.layout import CULTURE_MCQ
from polyculture.instruments.culture_mcq.rows import MCQ_INTERVALS, MCQ_TESTS, McqIntervalRow
from polyculture.instruments.culture_mcq.significance import hypothesis_rows
from polyculture.metrics.measured import measured

COUNTS = ("answered", "n_right", "n_biased", "n_other", "n_refused", "n_out")
METRICS: Mapping[str, tuple[str, float]] = {  # metric -> the count, and what it is divided by besides the answers
    "accuracy": ("n_right", 1.0),
    "biased": ("n_biased", 1.0),
    "others": ("n_other", 2.0),
    "refusal": ("n_refused", 1.0),
    "out_of_choice": ("n_out", 1.0),
}
_LACKING = {FEW_TEMPLATES: "few questions", ONE_KIND: "few questions differ"}


class Study(NamedTuple):
    """What is counted together."""

    answer_method: str
    model: str
    dataset: str
    language: str
    reader: str
    prompt: str
    question_type: str


class QuestionCounts(NamedTuple):
    """The counts of a question of BLEnD about one target."""

    source_id: str
    target: str
    level: str
    counts: tuple[int, ...]  # in the order of `COUNTS`
    also_given: str = "not known"  # whether its annotators gave a wrong option, too: 'yes', 'no'


def measure_culture_mcq(run: RunFolder, levels: Sequence[str]) -> None:
    """Writes the intervals and tests of a run; `levels` are from the most resources to the least.

    Raises `StoreError` where there is no run.
    """
    layout = compose(CORE, CULTURE_MCQ)
    measured(run, layout, MCQ_INTERVALS, interval_rows)
    measured(run, layout, MCQ_TESTS, lambda store: hypothesis_rows(study_rows(store), levels))


def study_rows(store: duckdb.DuckDBPyConnection) -> Iterator[tuple[Study, list[QuestionCounts]]]:
    """What is counted together, with a row per question and target."""
    columns = (*Study._fields, "source_id", "target", "target_level", "also_given", *COUNTS)
    query = f"SELECT {', '.join(columns)} FROM culture_mcq_question_counts ORDER BY ALL"  # noqa: S608, our own names
    size = len(Study._fields)
    for study, rows in groupby(store.execute(query).fetchall(), key=lambda row: row[:size]):
        found = [row[size:] for row in rows]
        yield Study(*study), [QuestionCounts(row[0], row[1], row[2], tuple(row[4:]), row[3]) for row in found]


def interval_rows(store: duckdb.DuckDBPyConnection) -> Iterator[McqIntervalRow]:
    """Every share of every part of the questions."""
    for study, rows in study_rows(store):
        for part, name, some in parts_of(rows):
            counts = counts_of(some)
            for metric, (count, by) in METRICS.items():
                found = estimate(share(counts, count, by))
                if found is None:
                    continue
                low, high = found.limits(0.0, 1.0 / by)
                lacking = found.withheld()
                yield McqIntervalRow(
                    **study._asdict(), part=part, name=name, metric=metric, estimate=found.value, low=low, high=high,
                    lacking=_LACKING.get(lacking, lacking) if lacking else None,
                    questions=int((counts["answered"] > 0).sum()),
                )  # fmt: skip


def parts_of(rows: Sequence[QuestionCounts]) -> Iterator[tuple[str, str | None, list[QuestionCounts]]]:
    """All rows, those of each level, of each target, and by what annotators also gave."""
    yield "overall", None, list(rows)
    keys: tuple[tuple[str, Callable[[QuestionCounts], str]], ...] = (
        ("level", lambda row: row.level),
        ("target", lambda row: row.target),
        ("also given", lambda row: row.also_given),
    )
    for part, key in keys:
        for name in sorted({key(row) for row in rows}):
            yield part, name, [row for row in rows if key(row) == name]


def counts_of(rows: Sequence[QuestionCounts]) -> Mapping[str, Numbers]:
    """Name of a count -> its sum over targets for each question of BLEnD: (questions,)."""
    places = {name: number for number, name in enumerate(sorted({row.source_id for row in rows}))}
    table = np.zeros((len(COUNTS), len(places)))
    for row in rows:
        table[:, places[row.source_id]] += row.counts
    return dict(zip(COUNTS, table, strict=True))


def share(counts: Mapping[str, Numbers], count: str, by: float = 1.0) -> Ratio:
    """A count as a share of the answers."""
    return Ratio(counts[count][np.newaxis, :, np.newaxis] / by, counts["answered"][np.newaxis, :, np.newaxis])
