"""Compares two sides of a run, or two runs: models, languages, countries, conditions, wordings, native languages.

    run = ComparedRun(store)
    rows = compare([run], [Sides("model", "openai:one", "openai:two")], by=["topic"])

Both sides are means over the cells that both have, each cell with the same weight. A row has one of two targets:

- 'these': other samples of these prompts (`inference.jackknife`)
- 'others': other prompts like these: topics and countries as they were sampled (`inference.prompts`)

Counts of items, which grow with the number of responses, are compared at the fewest of the cells that stand against one
another. Each row stands once more for a part of the texts: those that answer, and those in the prompt's language.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import csr_array

from polyculture.cache.errors import StoreError, did_you_mean
from polyculture.cache.schema.measured import EVERY, UNNAMED, WITHOUT, Difference
from polyculture.metrics import MEASURE
from polyculture.metrics.comparison.columns import Columns, ComparedRun, cells_behind, columns_of, least_sizes
from polyculture.metrics.comparison.sides import RUN, SNAPSHOT, Matched, Pairing, Sides, pairing
from polyculture.metrics.comparison.tipping import tipping_point
from polyculture.metrics.inference.family import NO_SAMPLING, OTHERS, THESE, UNTESTABLE, in_families
from polyculture.metrics.inference.jackknife import Moments, Numbers, moments
from polyculture.metrics.inference.limits import Contrast, Estimate, StudentInterval
from polyculture.metrics.inference.prompts import NO_SPREAD, PromptMean, prompt_mean
from polyculture.metrics.means import (
    FEW_DISTINCT,
    FEW_RESPONSES,
    FEWEST_RESPONSES,
    MOST_SINGLE,
    are_dependent,
    too_few_a_prompt,
)
from polyculture.metrics.places import CONSENSUS, PER_CONDITION, RANGES, Place, is_count, is_share
from polyculture.metrics.responses import SELECTIONS

METRICS = ("granularity", "diversity", "specificity", "specificity_gain", "consensus")
COMPANIONS = ("hill_1", "hill_2", "coverage", "dominance")  # of diversity: compared where they are asked for
TARGETS = (THESE, OTHERS)
UNEQUAL, NO_CELL = "unequal numbers of responses", "no cell has both numbers"
FEW_SHARED, NOTHING = "too few in common", "nothing found"
MOST_LACKING = 0.5  # of the cells that both sides could have: with more, what they share speaks for little of either
_CENTRED = 1e-12
Part = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Terms:
    """What is asked of a comparison."""

    by: Sequence[str] = ()
    metrics: Sequence[str] = METRICS
    targets: Sequence[str] = TARGETS
    selections: Sequence[str] = tuple(SELECTIONS)
    fixed: Mapping[str, str] = field(default_factory=dict)  # metrics in which no difference can be told, and why


@dataclass(frozen=True, slots=True)
class Row:
    """A row, with what its interval was computed from."""

    difference: Difference
    contrast: Contrast | StudentInterval | None  # None: no interval
    # Of each side: by language its part of the weight, and of the number.
    languages: tuple[Mapping[str, Part], Mapping[str, Part]] = ({}, {})


def compare(
    runs: Sequence[ComparedRun], several: Sequence[Sides], terms: Terms | None = None, inputs: str = ""
) -> list[Row]:
    """A row for each comparison, metric, group, target and selection; q is over those of one target and selection.

    `terms.by` names columns of the cells: model, language, topic, condition, country, wording, but for the one that is
    compared. The metrics of `PER_CONDITION` have a row per condition also where it does not name it. Raises
    `StoreError` for a column that there is not.
    """
    terms = terms or Terms()
    rows = [
        row
        for sides in several
        for metric in terms.metrics
        for selection in terms.selections
        for row in _of_metric(runs, sides, metric, selection, terms, inputs)
    ]
    return with_q(rows)


def with_q(rows: Sequence[Row]) -> list[Row]:
    """The rows with q and verdict: those of one target and selection are a family."""
    found = in_families([row.difference for row in rows], lambda told: (told.target, told.selection))
    return [replace(row, difference=told) for row, told in zip(rows, found, strict=True)]


def _of_metric(
    runs: Sequence[ComparedRun], sides: Sides, metric: str, selection: str, terms: Terms, inputs: str
) -> list[Row]:
    models = _models(runs, sides)
    if not any(models):
        return []  # a run of instruments alone
    columns = columns_of(runs, metric, models, selection)
    pairs = pairing(columns.places, sides, metric)
    if len(runs) > 1 and sides.dimension == RUN:
        pairs = _same_prompts(columns, pairs)
    sizes = None
    reason = terms.fixed.get(metric)
    if is_count(metric) or metric in (CONSENSUS, *COMPANIONS):
        sizes = least_sizes(columns, [(*one.a, *one.b) for one in pairs.matched], selection)
        if sizes is not None and metric in COMPANIONS:
            reason = reason or UNEQUAL
        elif sizes is not None:
            columns = columns_of(runs, metric, models, selection, sizes)
    group_of = _grouping(sides, metric, terms.by)
    groups: dict[Place, list[Matched]] = defaultdict(list)
    for one in pairs.matched:
        groups[group_of(one.key)].append(one)
    left_out: dict[Place, int] = defaultdict(int)
    for key, count in pairs.left_out.items():
        left_out[group_of(key)] += count
    found = [
        _Group(columns, groups[key], key, sides, selection, reason, inputs, left_out[key])
        for key in sorted({*groups, *left_out})  # one that nothing is left of has a row with its reason
    ]
    return [row for group in found for row in group.rows(terms.targets, sizes)]


def _models(runs: Sequence[ComparedRun], sides: Sides) -> list[list[str]]:
    if sides.dimension == "model":
        a, b = sides.values
        return [[model for model in run.reader.models if model in (*a, *b)] for run in runs]
    if sides.dimension == RUN:
        return [sorted({pair[at] for pair in sides.pairs} & set(run.reader.models)) for at, run in enumerate(runs)]
    return [run.reader.models for run in runs]


def _same_prompts(columns: Columns, pairs: Pairing) -> Pairing:
    """The pairs whose cells have the same prompts in both runs; the others are left out."""
    left_out = dict(pairs.left_out)
    matched = []
    for one in pairs.matched:
        asked = [
            [columns.runs[run].prompts_of[cell] for cell in cells_behind(columns.metric, place)]
            for at in (*one.a, *one.b)
            for place, run in [columns.places[at]]
        ]
        if all(other == asked[0] for other in asked):
            matched.append(one)
        else:
            left_out[one.key] = 1
    return Pairing(matched, left_out)


def _grouping(sides: Sides, metric: str, by: Sequence[str]) -> Callable[[Place], Place]:
    compared = {"native": "language", RUN: "", SNAPSHOT: "", "within": "language"}.get(sides.dimension, sides.dimension)
    known = [name for name in Place._fields if name not in (compared, "other_language")]
    for column in by:
        if column not in known:
            what = f"a comparison of {sides.a} with {sides.b} has no column {column!r}"
            raise StoreError(what, remedy=did_you_mean(column, known))
    kept = {*by, *({"condition"} if metric in PER_CONDITION and compared != "condition" else ())}

    def group(key: Place) -> Place:
        return Place(
            *(
                value if name in kept else WITHOUT if value == WITHOUT else EVERY
                for name, value in zip(Place._fields, key, strict=True)
            )
        )

    return group


class _Group:
    """The cells of one row: which both sides have, and their means."""

    def __init__(
        self,
        columns: Columns,
        matched: Sequence[Matched],
        key: Place,
        sides: Sides,
        selection: str,
        fixed: str | None,
        inputs: str,
        left_out: int,
    ) -> None:
        values = columns.found.values
        told = [(not np.isnan(values[list(one.a)]).any(), not np.isnan(values[list(one.b)]).any()) for one in matched]
        self.used = [one for one, (a, b) in zip(matched, told, strict=True) if a and b]
        self.columns, self.key, self.sides, self.selection = columns, key, sides, selection
        self.fixed, self.inputs, self.left_out = fixed, inputs, left_out
        self.missing = sum(not a for a, _ in told), sum(not b for _, b in told)
        self.weights = [self._weights([one.a for one in self.used]), self._weights([one.b for one in self.used])]
        self.of_key = np.array(
            [values[list(one.a)].mean() - values[list(one.b)].mean() for one in self.used], dtype=np.float64
        )

    def _weights(self, columns: Sequence[tuple[int, ...]]) -> Numbers:
        found = np.zeros(len(self.columns.places))
        for own in columns:
            found[list(own)] += 1 / (len(own) * len(columns))
        return found

    def rows(self, targets: Sequence[str], sizes: Sequence[Mapping[Place, int]] | None) -> list[Row]:
        """A row for each target."""
        if not self.used:
            return [self._row(target, None, NO_CELL, "", 0, None) for target in targets]
        a, b = self.weights
        matrix = csr_array(np.stack([a, b, a - b], axis=1))
        found = moments(self.columns.found, self.columns.prompts, matrix)
        self.fixed = self.fixed or self._too_few() or self._nothing(found)
        made = {THESE: self._these, OTHERS: self._others}
        at_n = self._at_n(sizes)
        return [made[target](found, at_n) for target in targets]

    def _too_few(self) -> str | None:
        """Whether models, runs or snapshots lack so many cells that the rest speaks for little of them."""
        lacking = max(self.missing) + self.left_out
        whole = self.sides.dimension in ("model", RUN, SNAPSHOT)
        return FEW_SHARED if whole and lacking > MOST_LACKING * (len(self.used) + lacking) else None

    def _nothing(self, found: Moments) -> str | None:
        """Whether neither side names a thing, though both were asked."""
        return NOTHING if is_count(self.columns.metric) and not found.values[:2].any() else None

    def _these(self, found: Moments, at_n: int | None) -> Row:
        read = [self._responses(weights) for weights in self.weights]
        units = self._responses(self.weights[0] + self.weights[1])
        reason = self.fixed or self._no_samples(found, units)
        share = is_share(self.columns.metric)
        sides = [
            Estimate(float(found.values[at]), float(found.variances[at]), float(found.freedom[at]), told, share)
            for at, told in enumerate(float(max(1, min(found.told[at], read[at]))) for at in (0, 1))
        ]
        contrast = Contrast(sides[0], sides[1], float(found.variances[2]), float(found.freedom[2]))
        if reason is None and max(contrast.distances(1.0)) <= _CENTRED:
            reason = NO_SPREAD
        return self._row(THESE, None if reason else contrast, reason, "response", units, at_n)

    def _others(self, found: Moments, at_n: int | None) -> Row:
        keys = [one.key for one in self.used]
        mean = prompt_mean([key.topic for key in keys], [key.named_country for key in keys], self.of_key)
        reason = self.fixed or mean.reason
        contrast = None if reason else self._crossed(found, mean)
        units = mean.topics * mean.countries
        return self._row(OTHERS, contrast, reason, mean.unit, units, at_n)

    def _crossed(self, found: Moments, mean: PromptMean) -> Contrast:
        """The difference with the variance of the table: Student's interval."""
        sides = [
            Estimate(float(found.values[at]), mean.variance * part, mean.freedom, 1, share=False)
            for at, part in ((0, 1.0), (1, 0.0))
        ]
        return Contrast(sides[0], sides[1], mean.variance, mean.freedom)

    def _cells(self, weights: Numbers) -> list[tuple[Place, int]]:
        """The cells behind the columns that have a weight, each with its run."""
        found = {
            (cell, run)
            for place, run in (self.columns.places[at] for at in np.flatnonzero(weights).tolist())
            for cell in cells_behind(self.columns.metric, place)
        }
        return sorted(found)

    def _responses(self, weights: Numbers) -> int:
        """The responses of these cells that the selection takes."""
        cells = [(place, self.columns.runs[run]) for place, run in self._cells(weights)]
        return sum(run.metrics(place.model, self.selection).size_at("diversity", place) for place, run in cells)

    def _no_samples(self, found: Moments, units: int) -> str | None:
        """Why the responses say nothing of other samples; None where they do."""
        drawn = any(not run.deterministic for run in self.columns.runs)
        if not drawn:
            return NO_SAMPLING
        if found.single[2] > MOST_SINGLE:
            return too_few_a_prompt(self.columns.metric)
        cells = [self.columns.runs[run].cell_of[place] for place, run in self._cells(self.weights[0] + self.weights[1])]
        if are_dependent(sum(cell.texts for cell in cells), sum(cell.distinct_texts for cell in cells)):
            return FEW_DISTINCT
        return FEW_RESPONSES if units < 2 * FEWEST_RESPONSES else None

    def _at_n(self, sizes: Sequence[Mapping[Place, int]] | None) -> int | None:
        if sizes is None:
            return None
        used = np.flatnonzero(self.weights[0] + self.weights[1]).tolist()
        places = [self.columns.places[at] for at in used]
        return min(sizes[run][place] for place, run in places)

    def _row(
        self, target: str, contrast: Contrast | None, reason: str | None, unit: str, units: int, at_n: int | None
    ) -> Row:
        metric, key = self.columns.metric, self.key
        a, b = self.weights
        values = np.nan_to_num(self.columns.found.values)
        known = bool(self.used)
        difference = float((a - b) @ values) if known else None
        if difference is not None and abs(difference) <= _CENTRED:  # the same but for rounding
            difference = 0.0
        lowest, highest = RANGES[metric]
        low, high = contrast.interval() if contrast else (None, None)
        topics, countries = self._parts("topic"), self._parts("country")
        found = Difference(
            measure=MEASURE.name,
            metric=metric,
            dimension=self.sides.dimension,
            a=self.sides.a,
            b=self.sides.b,
            target=target,
            selection=self.selection,
            model=key.model,
            dataset=WITHOUT,
            language=key.language,
            country=key.country,
            topic=key.topic,
            condition=key.condition,
            wording=key.wording,
            method=WITHOUT,
            reader=WITHOUT,
            facets={} if key.other_language == WITHOUT else {"other_language": key.other_language},
            a_estimate=float(a @ values) if known else None,
            b_estimate=float(b @ values) if known else None,
            difference=difference,
            low=None if low is None else max(low, lowest - highest),
            high=None if high is None else min(high, highest - lowest),
            p=contrast.p() if contrast else None,
            q=None,
            reason=reason,
            verdict=UNTESTABLE,
            unit=unit,
            units=units,
            cells=len(self.used),
            missing_a=self.missing[0],
            missing_b=self.missing[1],
            left_out=self.left_out,
            at_n=at_n,
            without_largest=self._without_largest(topics, difference),
            topics=len(topics),
            topics_same_sign=_same_sign(topics, difference),
            countries=len(countries),
            countries_same_sign=_same_sign(countries, difference),
            tipping=tipping_point(metric, self.columns.parts, self.columns.doubts, a - b) if known else None,
            chance=None,
            inputs=self.inputs,
            freedom=contrast.freedom if contrast else None,
        )
        return Row(found, contrast, (self._by_language(a), self._by_language(b)))

    def _by_language(self, weights: Numbers) -> dict[str, Part]:
        found: dict[str, Part] = {}
        for at in np.flatnonzero(weights).tolist():
            language = self.columns.places[at][0].language
            weight, part = found.get(language, (0.0, 0.0))
            own = float(weights[at])
            found[language] = weight + own, part + own * float(self.columns.found.values[at])
        return found

    def _parts(self, facet: str) -> dict[str, tuple[float, int]]:
        """The sum of the differences of each topic or country, and how many they are."""
        found: dict[str, tuple[float, int]] = {}
        for one, value in zip(self.used, self.of_key.tolist(), strict=True):
            if facet == "country" and one.key.country == UNNAMED:
                continue
            total, count = found.get(getattr(one.key, facet), (0.0, 0))
            found[getattr(one.key, facet)] = total + value, count + 1
        return found

    def _without_largest(self, topics: Mapping[str, tuple[float, int]], difference: float | None) -> float | None:
        if difference is None or len(topics) < 2:
            return None
        sign = math.copysign(1.0, difference)
        largest = max(sorted(topics), key=lambda topic: sign * topics[topic][0])
        rest = [parts for topic, parts in topics.items() if topic != largest]
        return math.fsum(total for total, _ in rest) / sum(count for _, count in rest)


def _same_sign(parts: Mapping[str, tuple[float, int]], difference: float | None) -> int:
    return sum(total * (difference or 0) > 0 for total, _ in parts.values())
