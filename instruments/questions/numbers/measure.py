"""The numbers of a run's question sets with their intervals, from its store into `numbers` and `differences`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from polyculture.cache.store.layout import Measure, compose
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.schema.measured import EVERY, WITHOUT, Difference, Number
from polyculture.cache.store.store import Store
from polyculture.instruments.differences import with_verdicts
from polyculture.instruments.questions.layout import EMPTY, LAYOUT, MEASURE
from polyculture.instruments.questions.numbers.declared import DeclaredNumber
from polyculture.instruments.questions.numbers.families import BOUNDS, SURVEY, named, numbers_of
from polyculture.instruments.questions.numbers.hypotheses import hypothesis_numbers, level_differences
from polyculture.instruments.questions.numbers.paired import paired_differences, set_differences
from polyculture.instruments.questions.numbers.survey import survey_numbers
from polyculture.instruments.questions.numbers.tally import FacetValue, Tally, TallyGroup, count_answers, studies
from polyculture.instruments.questions.numbers.withheld import withheld
from polyculture.metrics.inference.ratios import Ratio, estimate
from polyculture.metrics.measured import renew

ACCURACY = "acc_a"
AS_UNKNOWN = "_as_unknown"  # behind a metric's name: unread answers that name no option count as 'unknown'
HYPOTHESES = "hypotheses"  # a family that is computed from other counts, as is `SURVEY`
_COLUMNS = {"country": "country", "category": "topic", "topic": "topic"}  # facets that have a column of their own
_METHOD = "jackknife over units, crossed with prompts; Wilson's limits at least, and room for a unit of another kind"


def measure_questions(run: RunFolder) -> None:
    """Writes the numbers and differences of a run's question sets, where they are to be renewed. Raises as `renew`."""
    renew(run, compose(CORE, LAYOUT), [MEASURE], _measured)


def _measured(store: Store, _: Measure, inputs: str) -> tuple[list[Number], list[Difference]]:
    families = families_of(store)
    count_answers(store)
    tested, surveys = ([name for name, some in families.items() if one in some] for one in (HYPOTHESES, SURVEY))
    tests = chain.from_iterable(hypothesis_numbers(store, name, inputs) for name in tested)
    numbers = [
        *number_rows(store, families, inputs),
        *tests,
        *(survey_numbers(store, surveys, inputs) if surveys else ()),
    ]
    levels = (level_differences(store, name, inputs) for name in tested)
    rows = chain(paired_differences(store, families, inputs), *levels)
    # Questions of other sets are no test of the same: their rows have false discovery rates of their own.
    others = with_verdicts(set_differences(store, families, inputs))
    return numbers, [*with_verdicts(rows), *others]


def families_of(store: Store) -> dict[str, tuple[str, ...]]:
    """The families of numbers of each set of the run."""
    rows = store.sql("SELECT DISTINCT set, numbers FROM questions ORDER BY ALL").fetchall()
    found: dict[str, dict[str, None]] = {}
    for name, families in rows:
        found.setdefault(name, {}).update(dict.fromkeys(families))
    return {name: tuple(families) for name, families in found.items()}


def number_rows(store: Store, families: Mapping[str, Sequence[str]], inputs: str) -> Iterator[Number]:
    """Every number of every part of every study, over prompts and under each.

    It reads the tables of `tally.count_answers`.
    """
    for study, tally in studies(store):
        declared = numbers_of(families[study.dataset])
        for part, some in tally.parts():
            sizes = {prompt: sizes_of(some, prompt) for prompt in (None, *some.prompts)}
            ratios = {metric: number.of(some) for metric, number in declared.items()}
            ends = _if_unknown(declared, ratios, some)
            for prompt in (None, *some.prompts):
                rows = {metric: _row(metric, ratio, some.prompts, prompt) for metric, ratio in ratios.items()}
                rows |= {
                    metric: withheld(row or EMPTY)
                    for metric, row in rows.items()
                    if declared[metric].few_read(some, prompt) and (row or declared[metric].counts_answers)
                }
                for metric, row in (rows | _bounds(ends, some.prompts, prompt, rows)).items():
                    if row is not None:
                        yield replace(
                            row, **_place(study, part, prompt, some), sizes=sizes[prompt],
                            metric=named(metric, study.reader), inputs=inputs,
                        )  # fmt: skip


def _if_unknown(declared: Mapping[str, DeclaredNumber], ratios: Mapping[str, Ratio], tally: Tally) -> dict[str, Ratio]:
    """`acc_a` and the numbers that can be below 0, had every unread answer that names no option picked 'unknown'."""
    if not (tally["unnamed"] > 0).any():
        return {}
    other = tally.with_unknown()
    signed = [name for name, ratio in ratios.items() if ratio.lowest < 0 or name == ACCURACY]
    return {name: declared[name].of(other) for name in signed}


def _bounds(
    ends: Mapping[str, Ratio], prompts: Sequence[str], prompt: str | None, rows: Mapping[str, Number | None]
) -> dict[str, Number]:
    """The other ends of numbers (`_if_unknown`), with `acc_a`, where it matters which end is right.

    It matters where the sign of a bias, or whether its interval holds 0, would be another one.
    """
    known = {name: row for name, row in rows.items() if row is not None and row.estimate is not None}
    other = {name: row for name in ends.keys() & known.keys() if (row := _row(name, ends[name], prompts, prompt))}
    differing = {name for name, row in other.items() if name != ACCURACY and _direction(row) != _direction(known[name])}
    kept = differing | ({ACCURACY} & other.keys() if differing else set())
    return {f"{name}{AS_UNKNOWN}": other[name] for name in sorted(kept)}


def _direction(row: Number) -> tuple[float, bool | None]:
    """The sign of a bias, and whether its interval leaves out 0."""
    apart = None if row.low is None or row.high is None else not row.low <= 0 <= row.high
    return float(np.sign(row.estimate or 0.0)), apart


def sizes_of(tally: Tally, prompt: str | None) -> dict[str, int]:
    """What stands behind all numbers of a part, under one prompt or all: answers, and questions that are undirected."""
    here = np.ones(len(tally["n"]), bool) if prompt is None else tally["wording"] == tally.prompts.index(prompt)
    outcomes = {name: int(tally["n"][here & (tally["outcome"] == name)].sum()) for name in _OUTCOMES}
    questions = tally.count(here & tally["undirected"], "questions").sum(axis=0).max(initial=0)
    return {"answered": sum(outcomes.values()) - outcomes["failed"], **outcomes, "undirected": int(questions)}


_OUTCOMES = ("picked", "read", "refusal", "tie", "unread", "failed")


def _row(metric: str, ratio: Ratio, prompts: Sequence[str], prompt: str | None) -> Number | None:
    """A number without its place; None where there is nothing to count."""
    chosen = np.array([prompt in (None, name) for name in prompts])
    if metric in BOUNDS:
        bound, values = BOUNDS[metric], ratio.of_prompts()[chosen]
        known = values[~np.isnan(values)]
        if not len(known):
            return None
        return replace(EMPTY, estimate=bound.of(float(known.mean())), no_interval=bound.why, cells=len(known))
    one = ratio.where(np.ones(len(ratio.units), bool), chosen)
    found = estimate(one)
    if found is None:
        return None
    low, high = found.limits(one.lowest, one.highest)
    return replace(
        EMPTY, estimate=found.value, low=low, high=high, no_interval=found.withheld(), units=int(one.units.sum()),
        n=round(ratio.denominators[..., chosen].sum()), cells=int((~np.isnan(one.of_prompts())).sum()),
        method_of_interval=_METHOD,
    )  # fmt: skip


def _place(study: TallyGroup, part: FacetValue, prompt: str | None, tally: Tally) -> dict[str, Any]:
    facets = dict(study.apart)
    wording = EVERY if prompt is None else prompt or WITHOUT  # sentences and gaps have no prompt
    columns = {**study._asdict(), "wording": wording, "condition": facets.pop("condition", WITHOUT)}
    del columns["apart"]
    # Where a set has categories and topics, the column `topic` has its categories.
    if part.facet in _COLUMNS and not (part.facet == "topic" and "category" in tally.facets):
        columns[_COLUMNS[part.facet]] = part.value
    elif part.facet:
        facets[part.facet] = part.value
    kept = [name for name in _LEVELS if columns.get(name, EVERY) not in (EVERY, WITHOUT)]
    kept += sorted(facets)
    return {**columns, "level": ", ".join(kept), "facets": dict(sorted(facets.items()))}


_LEVELS = ("model", "dataset", "language", "country", "topic", "condition", "wording", "method", "reader")
