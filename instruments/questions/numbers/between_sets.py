"""Two sets as one model answers them: KoBBQ beside BBQ, or an evaluation set beside all samples (Jin et al. 2024).

Their questions are others, so that nothing is paired. p is that of Wilcoxon's rank-sum test in its form of Mann and
Whitney, over units: each unit's own number, as its mean over prompts. There is no interval, and no test where the ranks
say otherwise than the difference of the numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import duckdb
import numpy as np
from scipy import stats

from polyculture.cache.schema.measured import EVERY, Difference
from polyculture.instruments.differences import PairedDifference, Sides, difference_rows
from polyculture.instruments.questions.layout import MEASURE
from polyculture.instruments.questions.numbers.families import FAMILIES, Bound
from polyculture.instruments.questions.numbers.paired import COMPARED
from polyculture.instruments.questions.numbers.tally import Part, Study, studies
from polyculture.instruments.questions.numbers.uncertainty import Numbers, Ratio

RANKS = "rank-sum test"  # why there is no interval
_COMPARED = ("kobbq", "bbq")  # families of sets that ask the same of other people
_PARTS = ("", "label")
Found = dict[tuple[Part, str], Ratio | Bound]


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
                    numbers |= {(part, name): of_part[name] for name in COMPARED[family][0]}
            found.setdefault((study.model, study.method, study.reader), []).append((study, numbers))
    for own in found.values():
        for (one, ones), (other, others) in combinations(own, 2):
            for part, metric in sorted(ones.keys() & others.keys()):
                a, b = ones[part, metric], others[part, metric]
                difference = _difference(a, b) if isinstance(a, Ratio) and isinstance(b, Ratio) else None
                if difference is not None:
                    yield from _rows(one, other, part, metric, difference, inputs)


def _rows(
    one: Study, other: Study, part: Part, metric: str, found: PairedDifference, inputs: str
) -> Iterator[Difference]:
    a, b = (f"{study.dataset}, {study.language}" for study in (one, other))
    shared = {"model": one.model, "dataset": EVERY, "wording": EVERY, "method": one.method, "reader": one.reader}
    facets = {part.facet: part.value} if part.facet else {}
    yield from difference_rows(
        Sides(MEASURE.name, metric, "dataset", a, b, shared, facets),
        found,
        unit="unit",
        units=0,
        inputs=inputs,
        sampled=True,
    )


def _difference(one: Ratio, other: Ratio) -> PairedDifference | None:
    values = [number.of_prompts() for number in (one, other)]
    if any(np.isnan(own).all() for own in values):
        return None
    a, b = (float(np.nanmean(own)) for own in values)
    ranks = rank_sum(unit_values(one), unit_values(other))
    agree = ranks is not None and (a - b) * (ranks.higher - 0.5) > 0
    return PairedDifference(a, b, p=ranks.p if ranks and agree else None, lacking=RANKS)


def unit_values(number: Ratio) -> Numbers:
    """Each unit's own number as the mean over the prompts that have it; units without it are left out."""
    own = number.by_unit()
    prompts = own.denominators[0].sum(axis=1)
    values = np.divide(own.numerators[0].sum(axis=1), prompts, out=np.full(len(prompts), np.nan), where=prompts > 0)
    return np.asarray(values[~np.isnan(values)])


def rank_sum(one: Numbers, other: Numbers) -> RankSum | None:
    """Do the units of two sets differ? None where one of them has no unit with the number."""
    if not len(one) or not len(other):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all values alike: p is not a number, and 1 here
        found = stats.mannwhitneyu(one, other, alternative="two-sided")
    p = float(found.pvalue)
    return RankSum(1.0 if np.isnan(p) else p, float(found.statistic) / (len(one) * len(other)))
