"""Compares two sides of a run, or two runs: models, languages, countries, conditions, wordings, native languages.

    run = ComparedRun(store)
    rows = compare([run], [Sides("model", "openai:one", "openai:two")], by=["topic"])

Both sides are means over the cells that both have, each cell with the same weight. A row has one of two targets:

- 'same_prompts': new samples of the same prompts (`inference.jackknife`)
- 'new_prompts': new prompts like them: topics and countries as they were sampled (`inference.prompts`)

Counts of items, which grow with the number of responses, are compared at the fewest of the cells that stand against one
another. Each row stands once more for a part of the texts: those that answer, and those in the prompt's language.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress, product

import numpy as np
from scipy.sparse import csr_array

from polyculture.cache.errors import StoreError
from polyculture.cache.store.schema.measured import EVERY, UNNAMED, WITHOUT, Difference
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.metrics import MEASURE
from polyculture.metrics.cell_changes import cells_behind
from polyculture.metrics.comparison.columns import ComparedRun, MetricColumns, columns_of, least_sizes
from polyculture.metrics.comparison.sides import RUN, SNAPSHOT, A, B, Pairing, Sides, pairing
from polyculture.metrics.comparison.tipping import tipping_point
from polyculture.metrics.declared import (
    COMPARED,
    METRICS,
    ON_REQUEST,
    RANGES,
    is_count,
    is_overlap,
    is_per_country,
    is_share,
)
from polyculture.metrics.inference.arrays import Integers
from polyculture.metrics.inference.family import NEW_PROMPTS, NO_SAMPLING, SAME_PROMPTS, UNTESTABLE, in_families
from polyculture.metrics.inference.jackknife import Moments, moments
from polyculture.metrics.inference.limits import Contrast, Estimate, Interval, StudentInterval
from polyculture.metrics.inference.prompts import NO_SPREAD, prompt_mean
from polyculture.metrics.means import (
    FEW_RESPONSES,
    FEWEST_RESPONSES,
    MOST_UNKNOWN,
    SAME_TEXTS,
    too_few_a_prompt,
)
from polyculture.metrics.responses import SELECTIONS, DataSlice

TARGETS = (SAME_PROMPTS, NEW_PROMPTS)
UNEQUAL, NO_CELL = "unequal numbers of responses", "no cell has both numbers"
FEW_SHARED, NOTHING = "too few in common", "nothing found"
MOST_LACKING = 0.5  # of the cells that both sides could have: with more, what they share speaks for little of either
_CENTRED = 1e-12
LanguageShare = tuple[float, float]  # the part of a language in a weight, and in a number


@dataclass(frozen=True, slots=True)
class Terms:
    """What is asked of a comparison."""

    by: Sequence[str] = ()
    metrics: Sequence[str] = COMPARED
    targets: Sequence[str] = TARGETS
    selections: Sequence[str] = tuple(SELECTIONS)
    fixed: Mapping[str, str] = field(default_factory=dict)  # metrics in which no difference can be told, and why


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """A row, with what its interval was computed from."""

    difference: Difference
    contrast: Interval | None  # None: no interval
    # Of each side: by language its part of the weight, and of the number.
    languages: tuple[Mapping[str, LanguageShare], Mapping[str, LanguageShare]] = ({}, {})
    unasked: int = 0  # cells of the second side that the first was not asked, or has no number of


def compare(
    runs: Sequence[ComparedRun], several: Sequence[Sides], terms: Terms | None = None, inputs: str = ""
) -> list[ComparisonRow]:
    """A row for each comparison, metric, group, target and selection; q is over those of one target and selection.

    A selection that leaves out no text of any run has no rows: its numbers are those of all texts.
    `terms.by` names columns of the cells: model, language, topic, condition, country, wording, but for the one that is
    compared. Metrics that are per country have a row per condition also where it does not name it. Raises
    `StoreError` for a column that there is not.
    """
    terms = terms or Terms()
    found: dict[tuple[int, str, str], list[ComparisonRow]] = {}
    models = _models(runs, several)
    # A metric's columns are read once for all sides, and forgotten before the next one's.
    selections = [one for one in terms.selections if any(one in run.selections for run in runs)]
    for metric, selection in product(terms.metrics, selections) if any(models) else ():
        columns = _kept_columns(runs, metric, models, selection)
        for at, sides in enumerate(several):
            found[at, metric, selection] = _of_sides(columns, sides, terms, inputs)
    order = product(range(len(several)), terms.metrics, selections)
    return with_q([row for key in order for row in found.get(key, ())])


def _kept_columns(
    runs: Sequence[ComparedRun], metric: str, models: Sequence[Sequence[str]], selection: str
) -> MetricColumns:
    """The columns of a metric; the first run keeps those of one metric, which claims ask for one after the other."""
    kept = runs[0].kept_columns
    asked = (metric, tuple(map(id, runs)), *map(tuple, models), selection)
    if any(key[0] != metric for key in kept):
        kept.clear()
    if asked not in kept:
        kept[asked] = columns_of(runs, metric, models, selection)
    return kept[asked]


def with_q(rows: Sequence[ComparisonRow]) -> list[ComparisonRow]:
    """The rows with q and verdict: those of one target and selection are a family."""
    found = in_families([row.difference for row in rows], lambda told: (told.target, told.selection))
    return [replace(row, difference=told) for row, told in zip(rows, found, strict=True)]


def _of_sides(columns: MetricColumns, sides: Sides, terms: Terms, inputs: str) -> list[ComparisonRow]:
    runs, metric, selection = columns.runs, columns.metric, columns.selection
    models = _models(runs, [sides])
    if not any(models):
        return []  # a run of instruments alone
    pairs = _paired(columns, sides)
    sizes = None
    reason = terms.fixed.get(metric)
    if not METRICS[metric].is_sum:
        sizes = least_sizes(columns, pairs)
        if sizes is not None and metric in ON_REQUEST:
            reason = reason or UNEQUAL
        elif sizes is not None:
            columns = columns_of(runs, metric, models, selection, sizes)
            pairs = _paired(columns, sides)
    keys, group_of = columns.roles(sides).keys, _grouping(sides, metric, (*terms.by, *sides.by))
    groups: dict[DataSlice, list[int]] = defaultdict(list)
    for at, key in enumerate(pairs.keys.tolist()):
        groups[group_of(keys[key])].append(at)
    left_out = Counter(group_of(keys[key]) for key in pairs.left_out.tolist())
    # A language that one side was not asked in at all is the experiment's choice, and no gap in what both were asked.
    languages = {keys[key].language for key in pairs.keys.tolist()}
    lacking = Counter(group_of(keys[key]) for key in pairs.left_out.tolist() if keys[key].language in languages)
    of_b = Counter(group_of(keys[key]) for key in pairs.left_out_of_b.tolist())
    numbers = {key: np.array(members, dtype=np.int64) for key, members in groups.items()}
    nothing = np.array([], dtype=np.int64)
    found = [
        _RowCells(
            columns,
            pairs,
            numbers.get(key, nothing),
            key,
            sides,
            reason,
            inputs,
            (left_out[key], lacking[key], of_b[key]),
        )
        for key in sorted({*groups, *left_out})  # one that nothing is left of has a row with its reason
    ]
    return [row for group in found for row in group.rows(terms.targets, sizes)]


def _models(runs: Sequence[ComparedRun], several: Sequence[Sides]) -> list[list[str]]:
    """The models of each run that any of the sides is of."""
    found: list[set[str]] = [set() for _ in runs]
    for sides in several:
        for at, run in enumerate(runs):
            if sides.dimension == "model":
                found[at] |= {*sides.values[0], *sides.values[1]}
            else:
                found[at] |= {pair[at] for pair in sides.pairs} if sides.dimension == RUN else {*run.reader.models}
    return [[model for model in run.reader.models if model in own] for run, own in zip(runs, found, strict=True)]


def _paired(columns: MetricColumns, sides: Sides) -> Pairing:
    """The pairs of columns; of two runs those whose cells have the same prompts in both."""
    roles = columns.roles(sides)
    pairs = pairing(roles, sides)
    if len(columns.runs) == 1 or sides.dimension != RUN:
        return pairs
    asked: list[set[tuple[tuple[str, ...], ...]]] = [set() for _ in pairs.keys]
    for matched in (pairs.a, pairs.b):
        for at, key in zip(matched.columns.tolist(), matched.key.tolist(), strict=True):
            place, run = columns.places[at]
            prompts = columns.runs[run].prompts_of
            asked[key].add(tuple(prompts[cell] for cell in cells_behind(columns.metric, place)))
    return pairs.some(np.array([len(one) == 1 for one in asked], dtype=bool))


def _grouping(sides: Sides, metric: str, by: Sequence[str]) -> Callable[[DataSlice], DataSlice]:
    compared = {"native": "language", RUN: "", SNAPSHOT: "", "within": "language"}.get(sides.dimension, sides.dimension)
    known = [name for name in DataSlice._fields if name not in (compared, "other_language")]
    for column in by:
        if column not in known:
            what = f"a comparison of {sides.a} with {sides.b} has no column {column!r}"
            raise StoreError(what, remedy=did_you_mean(column, known))
    names = {*by, *({"condition"} if is_per_country(metric) and compared != "condition" else ())}
    kept = [name in names for name in DataSlice._fields]
    groups: dict[tuple[object, ...], DataSlice] = {}  # seldom many, of many keys

    def group(key: DataSlice) -> DataSlice:
        own = (*compress(key, kept), key.other_language == WITHOUT)
        if own not in groups:
            values = zip(DataSlice._fields, key, strict=True)
            groups[own] = DataSlice(
                *(value if name in names else WITHOUT if value == WITHOUT else EVERY for name, value in values)
            )
        return groups[own]

    return group


class _RowCells:
    """The cells of one row: which both sides have, and their means."""

    def __init__(
        self,
        columns: MetricColumns,
        pairs: Pairing,
        members: Integers,
        key: DataSlice,
        sides: Sides,
        fixed: str | None,
        inputs: str,
        left_out: tuple[int, int, int],  # cells that one side alone was asked: all, in languages of both, the second's
    ) -> None:
        inside = np.zeros(len(pairs.keys), dtype=bool)
        inside[members] = True
        values = columns.found.values
        means = [one.means(values, len(inside)) for one in (pairs.a, pairs.b)]
        told = [~np.isnan(mean) for mean in means]
        used = inside & told[0] & told[1]
        self.columns, self.key, self.sides = columns, key, sides
        self.fixed, self.inputs = fixed, inputs
        self.left_out, self.left_out_in_common, of_b = left_out
        self.missing = int((inside & ~told[0]).sum()), int((inside & ~told[1]).sum())
        self.unasked = of_b + int((inside & ~told[0] & told[1]).sum())
        self.weights = [one.weights(used, len(values)) for one in (pairs.a, pairs.b)]
        self.of_key = (means[0] - means[1])[used]  # of each cell that both have
        places = columns.roles(sides).keys
        self.used = [places[key] for key in pairs.keys[used].tolist()]

    def rows(self, targets: Sequence[str], sizes: Sequence[Mapping[DataSlice, int]] | None) -> list[ComparisonRow]:
        """A row for each target."""
        if not self.used:
            return [self._row(target, None, NO_CELL, "", 0, None) for target in targets]
        a, b = self.weights
        matrix = csr_array(np.stack([a, b, a - b], axis=1))
        found = moments(self.columns.found, self.columns.prompts, matrix)
        self.fixed = self.fixed or self._too_few() or self._nothing(found)
        made = {SAME_PROMPTS: self._these, NEW_PROMPTS: self._others}
        at_n = self._at_n(sizes)
        return [made[target](found, at_n) for target in targets]

    def _too_few(self) -> str | None:
        """Whether models, runs or snapshots lack so many cells that the rest speaks for little of them."""
        lacking = max(self.missing) + self.left_out_in_common
        whole = self.sides.dimension in ("model", RUN, SNAPSHOT)
        return FEW_SHARED if whole and lacking > MOST_LACKING * (len(self.used) + lacking) else None

    def _nothing(self, found: Moments) -> str | None:
        """Whether neither side names a thing, though both were asked."""
        return NOTHING if is_count(self.columns.metric) and not found.values[:2].any() else None

    def _these(self, found: Moments, at_n: int | None) -> ComparisonRow:
        of_side = [self.columns.counts(weights) for weights in self.weights]
        units, _ = self.columns.counts(self.weights[0] + self.weights[1])
        reason = self.fixed or self._no_samples(found, of_side)
        share = is_share(self.columns.metric)
        sides = [
            Estimate(float(found.values[at]), float(found.variances[at]), float(found.freedom[at]), told, share)
            for at, told in enumerate(float(max(1, min(found.told[at], of_side[at][0]))) for at in (0, 1))
        ]
        contrast = Contrast(sides[0], sides[1], float(found.variances[2]), float(found.freedom[2]))
        if reason is None and max(contrast.distances(1.0)) <= _CENTRED:
            reason = NO_SPREAD
        return self._row(SAME_PROMPTS, None if reason else contrast, reason, "response", units, at_n)

    def _others(self, found: Moments, at_n: int | None) -> ComparisonRow:
        mean = prompt_mean([key.topic for key in self.used], [key.named_country for key in self.used], self.of_key)
        reason = self.fixed or mean.reason
        value = float(found.values[0]) - float(found.values[1])
        contrast = None if reason else StudentInterval(value, mean.reach, mean.reach, mean.freedom)
        units = mean.topics * mean.countries
        return self._row(NEW_PROMPTS, contrast, reason, mean.unit, units, at_n)

    def _no_samples(self, found: Moments, of_side: Sequence[tuple[int, float]]) -> str | None:
        """Why the responses of either side say nothing of other samples; None where those of both do."""
        drawn = any(not run.deterministic for run in self.columns.runs)
        if not drawn:
            return NO_SAMPLING
        if max(found.single[:2]) > MOST_UNKNOWN:
            return too_few_a_prompt(self.columns.metric)
        if max(alike for _, alike in of_side) > MOST_UNKNOWN:
            return SAME_TEXTS
        return FEW_RESPONSES if min(responses for responses, _ in of_side) < FEWEST_RESPONSES else None

    def _at_n(self, sizes: Sequence[Mapping[DataSlice, int]] | None) -> int | None:
        if sizes is None:
            return None
        used = np.flatnonzero(self.weights[0] + self.weights[1]).tolist()
        places = [self.columns.places[at] for at in used]
        return min(sizes[run][place] for place, run in places)

    def _row(
        self, target: str, contrast: Interval | None, reason: str | None, unit: str, units: int, at_n: int | None
    ) -> ComparisonRow:
        lowest, highest = RANGES[self.columns.metric]
        low, high = contrast.interval() if contrast else (None, None)
        found = replace(
            self._of_both,
            target=target,
            low=None if low is None else max(low, lowest - highest),
            high=None if high is None else min(high, highest - lowest),
            p=contrast.p() if contrast else None,
            reason=reason,
            unit=unit,
            units=units,
            at_n=at_n,
            freedom=contrast.freedom if contrast else None,
        )
        return ComparisonRow(found, contrast, self._languages, self.unasked)

    @cached_property
    def _languages(self) -> tuple[Mapping[str, LanguageShare], Mapping[str, LanguageShare]]:
        """Of each side: by language its part of the weight, and of the number."""
        names, code = self.columns.facet("language")
        values = np.nan_to_num(self.columns.found.values)
        sums = [
            (np.bincount(code, own, len(names)).tolist(), np.bincount(code, own * values, len(names)).tolist())
            for own in self.weights
        ]
        a, b = (
            {name: (weight, part) for name, weight, part in zip(names, *of, strict=True) if weight > 0} for of in sums
        )
        return a, b

    @cached_property
    def _of_both(self) -> Difference:
        """What the rows of both targets have in common."""
        metric, key = self.columns.metric, self.key
        a, b = self.weights
        values = np.nan_to_num(self.columns.found.values)
        known = bool(self.used)
        # No product of matrices: its threads take longer than the sum.
        difference = float(((a - b) * values).sum()) if known else None
        if difference is not None and abs(difference) <= _CENTRED:  # the same but for rounding
            difference = 0.0
        topics, countries = self._parts("topic"), self._parts("country")
        (_, of_a), (_, of_b) = (self.columns.named(weights) for weights in self.weights)
        return Difference(
            measure=MEASURE.name,
            metric=metric,
            dimension=self.sides.dimension,
            a=self.sides.a,
            b=self.sides.b,
            target="",
            selection=self.columns.selection,
            model=key.model,
            language=key.language,
            country=key.country,
            topic=key.topic,
            condition=key.condition,
            wording=key.wording,
            facets={} if key.other_language == WITHOUT else {"other_language": key.other_language},
            a_estimate=float((a * values).sum()) if known else None,
            b_estimate=float((b * values).sum()) if known else None,
            difference=difference,
            verdict=UNTESTABLE,
            unit="",
            units=0,
            cells=len(self.used),
            naming=self.columns.named(a + b)[0],
            a_items=of_a,
            b_items=of_b,
            missing_a=self.missing[0],
            missing_b=self.missing[1],
            left_out=self.left_out,
            without_largest=self._without_largest(topics, difference),
            topics=len(topics),
            topics_same_sign=_same_sign(topics, difference),
            countries=len(countries),
            countries_same_sign=_same_sign(countries, difference),
            a_model=self._alone(A, "model"),
            b_model=self._alone(B, "model"),
            a_language=self._alone(A, "language"),
            b_language=self._alone(B, "language"),
            tipping=tipping_point(metric, self.columns.parts, self.columns.doubts, a - b) if known else None,
            inputs=self.inputs,
        )

    def _alone(self, side: int, facet: str) -> str | None:
        """The one model or language that a side's numbers are of, where the run has others and the row does not say so:
        a mean over "all that both have" is no number of the others."""
        if facet == "language" and is_overlap(self.columns.metric):  # which is of two
            return None
        names, code = self.columns.facet(facet)
        found = {names[at] for at in np.flatnonzero(np.bincount(code[self.weights[side] != 0])).tolist()}
        asked = {value for run in self.columns.runs for value in run.values[facet]}
        named = {getattr(self.key, facet), (self.sides.a, self.sides.b)[side]}
        return found.pop() if len(found) == 1 and len(asked) > 1 and not found & named else None

    def _parts(self, facet: str) -> dict[str, tuple[float, int]]:
        """The sum of the differences of each topic or country, and how many they are."""
        of = [getattr(key, facet) for key in self.used]
        names, code, counts = np.unique(of, return_inverse=True, return_counts=True)
        sums = np.bincount(code, self.of_key, len(names))
        rows = zip(names.tolist(), sums.tolist(), counts.tolist(), strict=True)
        return {name: (total, count) for name, total, count in rows if name != UNNAMED}

    def _without_largest(self, topics: Mapping[str, tuple[float, int]], difference: float | None) -> float | None:
        if difference is None or len(topics) < 2:
            return None
        sign = math.copysign(1.0, difference)
        largest = max(sorted(topics), key=lambda topic: sign * topics[topic][0])
        rest = [parts for topic, parts in topics.items() if topic != largest]
        return math.fsum(total for total, _ in rest) / sum(count for _, count in rest)


def _same_sign(parts: Mapping[str, tuple[float, int]], difference: float | None) -> int:
    return sum(total * (difference or 0) > 0 for total, _ in parts.values())
