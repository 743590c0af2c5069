"""Shares of answers with their 95 % intervals over questions.

A question of BLEnD is asked of many targets: it is the unit, resampled by the jackknife (`choices.uncertainty`). Other
questions could have been asked; the targets, the wordings and the options drawn are taken as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, groupby
from typing import NamedTuple

import duckdb
import numpy as np

from polyculture.cache.layout import compose
from polyculture.cache.manifest import read_manifest
from polyculture.cache.numbers import inputs_of, write_differences
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.cache.schema.measured import Difference
from polyculture.cache.store import open_store
from polyculture.instruments.choices.uncertainty import FEW_TEMPLATES, ONE_KIND, Numbers, Ratio, estimate, paired
from polyculture.instruments.culture_mcq.layout import CULTURE_MCQ, MEASURE
from polyculture.instruments.culture_mcq.rows import MCQ_INTERVALS, MCQ_TESTS, McqIntervalRow
from polyculture.instruments.culture_mcq.significance import hypothesis_rows
from polyculture.instruments.differences import Sides, difference_rows, with_verdicts
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
    manifest = read_manifest(run.manifest)
    inputs = inputs_of(run, manifest, MEASURE) if manifest else ""
    with open_store(run, layout) as store:
        write_differences(run, MEASURE.name, with_verdicts(model_differences(dict(study_rows(store)), inputs)))


def model_differences(studies: Mapping[Study, Sequence[QuestionCounts]], inputs: str) -> Iterator[Difference]:
    """Every two models on the questions that both answered, over all and at each level of resources, without q."""
    for first, second in combinations(sorted(studies), 2):
        if first.model >= second.model or first._replace(model="") != second._replace(model=""):
            continue
        sides = [{(row.source_id, row.target): row for row in studies[study]} for study in (first, second)]
        answered = [{key for key, row in side.items() if row.counts[0]} for side in sides]
        both, asked = sorted(answered[0] & answered[1]), sides[0].keys() & sides[1].keys()
        missing = len(asked - answered[0]), len(asked - answered[1])
        for level in (None, *sorted({sides[0][key].level for key in both})):
            chosen = [key for key in both if level in (None, sides[0][key].level)]
            counts = [counts_of([side[key] for key in chosen]) for side in sides]
            for metric, (count, by) in METRICS.items():
                found = paired(*(share(of, count, by) for of in counts)) if chosen else None
                if found is not None:
                    yield from difference_rows(
                        _sides(first, second, metric, level),
                        replace(found, lacking=_LACKING.get(found.lacking, found.lacking) if found.lacking else None),
                        unit="question",
                        units=len({source for source, _ in chosen}),
                        inputs=inputs,
                        missing=missing,
                        left_out=len(sides[0].keys() ^ sides[1].keys()),
                        sampled=first.answer_method == "generated",
                    )


def _sides(first: Study, second: Study, metric: str, level: str | None) -> Sides:
    shared = {"dataset": first.dataset, "language": first.language, "topic": first.question_type}
    shared |= {"wording": first.prompt, "method": first.answer_method, "reader": first.reader}
    return Sides(MEASURE.name, metric, "model", first.model, second.model, shared, {"level": level})


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
