"""Two models, or two conditions, on the answers of both: rows of `differences` over units.

Answers are paired by question, prompt, order and sample; of conditions by the question that stands under both (facet
`pair`). What the sides have in common is taken off before anything is squared (`uncertainty.paired`).

Two sets as one model answers them: KoBBQ beside BBQ, or an evaluation set beside all samples (Jin et al. 2024).

Their questions are others, so that nothing is paired. p is that of Wilcoxon's rank-sum test in its form of Mann and
Whitney, over units: each unit's own number, as its mean over prompts. There is no interval, and no test where the ranks
say otherwise than the difference of the numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
from scipy import stats

from polyculture.cache.schema.measured import EVERY, Difference
from polyculture.cache.sql_file import read_sql
from polyculture.instruments.differences import PairedDifference, Sides, difference_rows
from polyculture.instruments.questions.layout import MEASURE
from polyculture.instruments.questions.numbers.declared import Declared, declared_numbers, is_declared
from polyculture.instruments.questions.numbers.families import FAMILIES, Metrics, few_read, named
from polyculture.instruments.questions.numbers.tally import (
    NOT_READ,
    Mask,
    Part,
    Study,
    Tally,
    apart_studies,
    kinds_of,
    stored_studies,
    studies,
    tally_of,
)
from polyculture.instruments.questions.numbers.uncertainty import Numbers, Ratio, paired
from polyculture.instruments.questions.numbers.withheld import withheld_differences

ANSWERED = ("picked", "refusal", "tie", "unread")  # outcomes of answers to questions with options
# What is compared of a family, and the outcomes that an answer needs to be in a pair. Of several families of a set the
# first one here is compared: other numbers of the same answers are no further tests.
COMPARED: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "kobbq": (("acc_a", "acc_d", "diff_bias_a", "diff_bias_d"), ("picked",)),
    "bbq": (("acc_a", "acc_d", "s_dis", "s_amb"), ("picked",)),
    "levels": (("accuracy", "biased", "others", "out_of_choice"), ANSWERED),
    "accuracy": (("accuracy",), ANSWERED),
    "pairs": (("first_preferred",), ("picked", "tie")),
    "cloze": (("ranked_first",), ("picked", "tie")),
    "exact_match": (("exact_match",), ("read", "unread")),
}
# Conditions of which the first is compared with the second: the rest is no question that anybody asks.
_CONDITIONS = (
    *((one, "alone") for one in ("culture", "probe", "source")),
    *(("probe", other) for other in ("culture", "source")),
)
_EACH = "level"  # the facet of which each value is compared, too
_FOLDER = Path(__file__).parent
# A row is an answer to a question (`item`); where that is asked under a condition, once more as one to the question
# that several stand for.
_SIDES = """
CREATE OR REPLACE TEMP TABLE question_sides AS
WITH sides AS (
    SELECT
        dataset, language, model, method, reader, wording, question_id AS item, '' AS condition, pair,
        k.facets['condition'] AS own, hash("order", sample) AS shown, k.kind, undirected,
        coalesce(role, '') AS role, coalesce(place, -1) AS place, "right"::DOUBLE AS "right", outcome, matched
    FROM question_readings
    INNER JOIN question_kinds AS k USING (unit, facets)
)
FROM sides
UNION ALL
SELECT * REPLACE (pair AS item, own AS condition) FROM sides WHERE own IS NOT NULL AND pair IS NOT NULL
"""
_UNDER = "SELECT set, list(DISTINCT facets['condition']) FROM questions GROUP BY ALL"


class _Pair(NamedTuple):
    """Two sides, and what they are called in the row."""

    one: Study
    other: Study
    dimension: str
    names: tuple[str, str]

    def side(self, name: str) -> dict[str, Any]:
        """What says which answers a side has; '' where conditions are not compared."""
        study, called = (self.one, self.names[0]) if name == "one" else (self.other, self.names[1])
        return {**study._asdict(), "condition": called if self.dimension == "condition" else ""}


def paired_differences(
    store: duckdb.DuckDBPyConnection, families: Mapping[str, Sequence[str]], inputs: str
) -> Iterator[Difference]:
    """The differences of every two sides that answered the same questions, still without q.

    It reads the tables of `tally.count_answers`.
    """
    compared = [one for one in stored_studies(store) if any(map(_is_compared, families[one.dataset]))]
    pairs = list(_pairs(compared, dict(store.sql(_UNDER).fetchall())))
    if not pairs:
        return
    store.execute(_SIDES)
    kinds = kinds_of(store)
    for pair in pairs:
        values: dict[str, Any] = {"dataset": pair.one.dataset, "language": pair.one.language}
        values |= {name: pair.side(name) for name in ("one", "other")}
        rows = store.execute(read_sql(_FOLDER, "pairs"), values).fetchnumpy()
        if not len(rows["n"]):
            continue
        for study, both in apart_studies(pair.one, tally_of(rows, kinds)):
            for part, some in both.parts():
                if part.facet == "" or (part.facet == _EACH and pair.dimension != "condition"):
                    yield from _differences(pair, study, part, some, families[study.dataset], inputs)


def _is_compared(number: str) -> bool:
    return number in COMPARED or is_declared(number)


def _pairs(studies: Sequence[Study], conditions: Mapping[str, Sequence[str]]) -> Iterator[_Pair]:
    read = [study for study in studies if study.reader != NOT_READ]
    for study in read:
        known = conditions.get(study.dataset, ())
        yield from (_Pair(study, study, "condition", names) for names in _CONDITIONS if {*names} <= {*known})
    for one, other in combinations(read, 2):
        if one._replace(model="") == other._replace(model=""):
            yield _Pair(one, other, "model", (one.model, other.model))


def _differences(
    pair: _Pair, study: Study, part: Part, both: Tally, families: Sequence[str], inputs: str
) -> Iterator[Difference]:
    sides = {name: _side(both, name) for name in ("one", "other")}
    declared = declared_numbers(families)
    shared = {
        "model": study.model if pair.dimension == "condition" else EVERY,
        "dataset": study.dataset,
        "language": study.language,
        "wording": EVERY,
        "method": study.method,
        "reader": study.reader,
    }
    facets = dict(study.apart) | ({part.facet: part.value} if part.facet else {})
    condition = facets.pop("condition", None)
    if condition is not None and pair.dimension != "condition":
        shared["condition"] = condition
    for metrics, outcomes, numbers_of in _compared(families, declared):
        usable: list[Mask] = [np.isin(side["outcome"], outcomes) for side in sides.values()]
        missing = tuple(int(both["n"][~rows].sum()) for rows in usable)
        numbers = [numbers_of(side.where(usable[0] & usable[1])) for side in sides.values()]
        for metric in metrics:
            one, other = (number[metric] for number in numbers)
            if not isinstance(one, Ratio) or not isinstance(other, Ratio):
                continue
            told = Sides(MEASURE.name, named(metric, study.reader), pair.dimension, *pair.names, shared, facets)
            units, short = int((one.units & other.units).sum()), (missing[0], missing[1])
            # Whether generated answers were sampled is not kept with them.
            sampled = study.method == "generated"
            if any(few_read(side, metric, declared) for side in sides.values()):
                yield from withheld_differences(
                    told, unit="unit", units=units, inputs=inputs, missing=short, sampled=sampled
                )
            elif (found := paired(one, other)) is not None:
                yield from difference_rows(
                    told, found, unit="unit", units=units, inputs=inputs, missing=short, sampled=sampled
                )


def _compared(
    families: Sequence[str], declared: Mapping[str, Declared]
) -> Iterator[tuple[Sequence[str], Sequence[str], Callable[[Tally], Metrics]]]:
    """What is compared: metrics, the outcomes that an answer needs to be in a pair, and the numbers of a tally."""
    family = next((name for name in COMPARED if name in families), None)
    if family is not None:
        yield *COMPARED[family], FAMILIES[family]
    if declared:
        yield tuple(declared), ANSWERED, lambda at: {name: one.of(at) for name, one in declared.items()}


def _side(both: Tally, name: str) -> Tally:
    """One side of the pairs, as if it stood alone."""
    columns = dict(both.columns)
    columns |= {column: both[f"{column}_{name}"] for column in ("role", "right", "outcome", "place", "matched")}
    return Tally(columns, both.facets, both.prompts, both.units)


RANKS = "rank-sum test"  # why there is no interval
_COMPARED = ("kobbq", "bbq")  # families of sets that ask the same of other people
_PARTS = ("", "label")
Found = dict[tuple[Part, str], Ratio | None]  # None of a number that is withheld


class RankSum(NamedTuple):
    """Two sets of units compared by rank."""

    p: float
    higher: float  # the chance that a unit of one has the higher value than one of the other, ties half


def set_differences(
    store: duckdb.DuckDBPyConnection, families: Mapping[str, Sequence[str]], inputs: str
) -> Iterator[Difference]:
    """Every two sets of stereotypes that a model answers by one method and reader, still without q."""
    found: dict[tuple[str, str, str], list[tuple[Study, Found]]] = {}
    for study, tally in studies(store):
        family = next((name for name in _COMPARED if name in families[study.dataset]), None)
        if family is not None:
            numbers: Found = {}
            for part, some in tally.parts():
                if part.facet in _PARTS:
                    of_part = FAMILIES[family](some)
                    numbers |= {
                        (part, name): None if few_read(some, name, {}) else ratio
                        for name in COMPARED[family][0] if isinstance(ratio := of_part[name], Ratio)
                    }  # fmt: skip
            found.setdefault((study.model, study.method, study.reader), []).append((study, numbers))
    for own in found.values():
        for (one, ones), (other, others) in combinations(own, 2):
            for part, metric in sorted(ones.keys() & others.keys()):
                a, b = ones[part, metric], others[part, metric]
                told = _sides(one, other, part, metric)
                if a is None or b is None:
                    yield from withheld_differences(told, unit="unit", units=0, inputs=inputs, sampled=True)
                elif (difference := _difference(a, b)) is not None:
                    yield from difference_rows(told, difference, unit="unit", units=0, inputs=inputs, sampled=True)


def _sides(one: Study, other: Study, part: Part, metric: str) -> Sides:
    a, b = (f"{study.dataset}, {study.language}" for study in (one, other))
    shared = {"model": one.model, "dataset": EVERY, "wording": EVERY, "method": one.method, "reader": one.reader}
    return Sides(MEASURE.name, metric, "dataset", a, b, shared, {part.facet: part.value} if part.facet else {})


def _difference(one: Ratio, other: Ratio) -> PairedDifference | None:
    values = [number.of_prompts() for number in (one, other)]
    if any(np.isnan(own).all() for own in values):
        return None
    a, b = (float(np.nanmean(own)) for own in values)
    ranks = rank_sum(unit_values(one), unit_values(other))
    agree = ranks is not None and (a - b) * (ranks.higher - 0.5) > 0
    return PairedDifference(a, b, p=ranks.p if ranks and agree else None, lacking=RANKS)


def unit_values(number: Ratio) -> Numbers:
    """Each unit's own number as the mean over the prompts that have it; units without it are left out.

    They are rounded: equal numbers that were summed in another order would else be no ties of a rank test.
    """
    own = number.by_unit()
    prompts = own.denominators[0].sum(axis=1)
    values = np.divide(own.numerators[0].sum(axis=1), prompts, out=np.full(len(prompts), np.nan), where=prompts > 0)
    return np.asarray(np.round(values[~np.isnan(values)], 12))


def rank_sum(one: Numbers, other: Numbers) -> RankSum | None:
    """Do the units of two sets differ? None where one of them has no unit with the number."""
    if not len(one) or not len(other):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all values alike: p is not a number, and 1 here
        found = stats.mannwhitneyu(one, other, alternative="two-sided")
    p = float(found.pvalue)
    return RankSum(1.0 if np.isnan(p) else p, float(found.statistic) / (len(one) * len(other)))
