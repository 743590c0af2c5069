"""Two models, two conditions or two sets compared: rows of `differences` over units.

Answers of two models are paired by question, prompt, order and sample. So are those of two conditions, by the question
that both have (facet `pair`). What the sides have in common is taken off before anything is squared
(`uncertainty.paired`).

Two sets that one model answers have other questions, so that nothing is paired: KoBBQ beside BBQ, or an evaluation set
beside all samples (Jin et al. 2024). p is that of Wilcoxon's rank-sum test in its form of Mann and
Whitney, over units: each unit's own number, as its mean over prompts. There is no interval, and no test where the ranks
say otherwise than the difference of the numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from polyculture.cache.store.schema.measured import EVERY, Difference
from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import Store
from polyculture.instruments.differences import ComparedFacets, difference_rows
from polyculture.instruments.questions.layout import ASK_METHODS, MEASURE
from polyculture.instruments.questions.numbers.families import Family, compared_families, families, named
from polyculture.instruments.questions.numbers.tally import (
    NOT_READ,
    FacetValue,
    Mask,
    Tally,
    TallyGroup,
    apart_studies,
    kinds_of,
    stored_studies,
    studies,
    tally_of,
)
from polyculture.instruments.questions.numbers.withheld import withheld_differences
from polyculture.metrics.inference.arrays import Floats
from polyculture.metrics.inference.paired import PairedDifference
from polyculture.metrics.inference.ratios import Ratio, least_reversing, paired

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


class _GroupPair(NamedTuple):
    """Two sides, and what they are called in the row."""

    one: TallyGroup
    other: TallyGroup
    dimension: str
    names: tuple[str, str]

    def side(self, name: str) -> dict[str, Any]:
        """What says which answers a side has; '' where conditions are not compared."""
        study, called = (self.one, self.names[0]) if name == "one" else (self.other, self.names[1])
        return {**study._asdict(), "condition": called if self.dimension == "condition" else ""}


def paired_differences(store: Store, measured: Mapping[str, Sequence[str]], inputs: str) -> Iterator[Difference]:
    """The differences of every two sides that answered the same questions, still without q.

    It reads the tables of `tally.count_answers`.
    """
    of_sets = {name: list(compared_families(own)) for name, own in measured.items()}
    compared = [one for one in stored_studies(store) if of_sets[one.dataset]]
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
                    yield from _differences(pair, study, part, some, of_sets[study.dataset], inputs)


def _pairs(studies: Sequence[TallyGroup], conditions: Mapping[str, Sequence[str]]) -> Iterator[_GroupPair]:
    read = [study for study in studies if study.reader != NOT_READ]
    for study in read:
        known = conditions.get(study.dataset, ())
        yield from (_GroupPair(study, study, "condition", names) for names in _CONDITIONS if {*names} <= {*known})
    for one, other in combinations(read, 2):
        if one._replace(model="") == other._replace(model=""):
            yield _GroupPair(one, other, "model", (one.model, other.model))


def _differences(
    pair: _GroupPair, study: TallyGroup, part: FacetValue, both: Tally, compared: Sequence[Family], inputs: str
) -> Iterator[Difference]:
    sides = [_side(both, name) for name in ("one", "other")]
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
    for family in compared:
        usable: list[Mask] = [np.isin(side["outcome"], family.paired) for side in sides]
        missing = tuple(int(both["n"][~rows].sum()) for rows in usable)
        paired_sides = [side.where(usable[0] & usable[1]) for side in sides]
        for metric, number in family.of_compared.items():
            one, other = map(number.of, paired_sides)
            told = ComparedFacets(
                MEASURE.name, named(metric, study.reader), pair.dimension, *pair.names, shared, facets
            )
            units, short = int((one.units & other.units).sum()), (missing[0], missing[1])
            sampled = ASK_METHODS[study.method].is_sampled
            if any(map(number.few_read, sides)):
                yield from withheld_differences(
                    told, unit="unit", units=units, inputs=inputs, missing=short, sampled=sampled
                )
            elif (found := paired(one, other)) is not None:
                least = least_reversing(one, other)
                yield from difference_rows(
                    told,
                    found,
                    unit="unit",
                    units=units,
                    inputs=inputs,
                    missing=short,
                    sampled=sampled,
                    tipping=None if least is None else least / units,
                )


def _side(both: Tally, name: str) -> Tally:
    """One side of the pairs, as if it stood alone."""
    columns = dict(both.columns)
    columns |= {column: both[f"{column}_{name}"] for column in ("role", "right", "outcome", "place", "matched")}
    return Tally(columns, both.facets, both.prompts, both.units)


RANKS = "rank-sum test"  # why there is no interval
_PARTS = ("", "label")
NumbersByPart = dict[tuple[FacetValue, str], Ratio | None]  # None of a number that is withheld


class RankSum(NamedTuple):
    """Two sets of units compared by rank."""

    p: float
    higher: float  # the chance that a unit of one has the higher value than one of the other, ties half


def set_differences(store: Store, measured: Mapping[str, Sequence[str]], inputs: str) -> Iterator[Difference]:
    """Every two sets of stereotypes that a model answers by one method and reader, still without q."""
    found: dict[tuple[str, str, str], list[tuple[TallyGroup, NumbersByPart]]] = {}
    for study, tally in studies(store):
        own = measured[study.dataset]
        family = next((one for name, one in families().items() if name in own and one.between_sets), None)
        if family is not None:
            numbers: NumbersByPart = {}
            for part, some in tally.parts():
                if part.facet in _PARTS:
                    numbers |= {
                        (part, name): None if number.few_read(some) else number.of(some)
                        for name, number in family.of_compared.items()
                    }
            found.setdefault((study.model, study.method, study.reader), []).append((study, numbers))
    for of_model in found.values():
        for (one, ones), (other, others) in combinations(of_model, 2):
            for part, metric in sorted(ones.keys() & others.keys()):
                a, b = ones[part, metric], others[part, metric]
                told = _sides(one, other, part, metric)
                if a is None or b is None:
                    yield from withheld_differences(told, unit="unit", units=0, inputs=inputs, sampled=True)
                elif (difference := _difference(a, b)) is not None:
                    yield from difference_rows(told, difference, unit="unit", units=0, inputs=inputs, sampled=True)


def _sides(one: TallyGroup, other: TallyGroup, part: FacetValue, metric: str) -> ComparedFacets:
    a, b = (f"{study.dataset}, {study.language}" for study in (one, other))
    shared = {"model": one.model, "dataset": EVERY, "wording": EVERY, "method": one.method, "reader": one.reader}
    return ComparedFacets(MEASURE.name, metric, "dataset", a, b, shared, {part.facet: part.value} if part.facet else {})


def _difference(one: Ratio, other: Ratio) -> PairedDifference | None:
    values = [number.of_prompts() for number in (one, other)]
    if any(np.isnan(own).all() for own in values):
        return None
    a, b = (float(np.nanmean(own)) for own in values)
    ranks = rank_sum(unit_values(one), unit_values(other))
    agree = ranks is not None and (a - b) * (ranks.higher - 0.5) > 0
    return PairedDifference(a, b, p=ranks.p if ranks and agree else None, lacking=RANKS)


def unit_values(number: Ratio) -> Floats:
    """Each unit's own number as the mean over the prompts that have it; units without it are left out.

    They are rounded: equal numbers that were summed in another order would else be no ties of a rank test.
    """
    own = number.by_unit()
    prompts = own.denominators[0].sum(axis=1)
    values = np.divide(own.numerators[0].sum(axis=1), prompts, out=np.full(len(prompts), np.nan), where=prompts > 0)
    return np.asarray(np.round(values[~np.isnan(values)], 12))


def rank_sum(one: Floats, other: Floats) -> RankSum | None:
    """Do the units of two sets differ? None where one of them has no unit with the number."""
    if not len(one) or not len(other):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all values alike: p is not a number, and 1 here
        found = stats.mannwhitneyu(one, other, alternative="two-sided")
    p = float(found.pvalue)
    return RankSum(1.0 if np.isnan(p) else p, float(found.statistic) / (len(one) * len(other)))
