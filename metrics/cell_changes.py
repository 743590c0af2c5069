"""The metrics of a model's cells, with their changes without each response: what intervals and comparisons rest on.

cells = CellMetrics(reader.read(model))
table = cells.table("specificity_gain")
table.places[7], table.found.values[7]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, groupby

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from polyculture.cache.store.schema.measured import UNNAMED, WITHOUT
from polyculture.metrics.declared import METRICS, Metric, Statistic, is_gain, is_overlap
from polyculture.metrics.inference.arrays import Floats, Integers
from polyculture.metrics.inference.jackknife import Changes, rare_variance, shares
from polyculture.metrics.inference.named_items import OF_COUNTS, Incidences, consensus, distinct
from polyculture.metrics.responses import Cell, DataSlice, ModelResponses

NEUTRAL = "neutral"
Sizes = Mapping[DataSlice, int]  # of a count: the number of responses that it is taken at, where that is not all
ALL_RESPONSES: Sizes = {}


@dataclass(frozen=True, slots=True)
class MetricTable:
    """A metric of some places, with its changes; a place without a value has NaN."""

    places: Sequence[DataSlice]
    found: Changes
    # Rows x C: numerator and denominator of a share or a consensus; of a gain those of the neutral share, too; of a
    # count the count. What unlinked mentions could change (`comparison.tipping`).
    parts: Floats

    def some(self, columns: Iterable[int]) -> MetricTable:
        """Those of some columns."""
        chosen = np.fromiter(columns, dtype=np.int64)
        return MetricTable([self.places[at] for at in chosen], self.found.at(chosen), self.parts[:, chosen])


def cells_behind(metric: str, place: DataSlice) -> list[DataSlice]:
    """The cells that a number rests on: of a gain the neutral one, too, of consensus that of each language."""
    model, language, other, topic, condition, country, wording = place
    country = UNNAMED if condition == NEUTRAL else country
    found = [DataSlice(model, language, WITHOUT, topic, condition, country, wording)]
    if is_overlap(metric):
        found.append(DataSlice(model, other, WITHOUT, topic, condition, country, wording))
    elif is_gain(metric):
        found.append(DataSlice(model, language, WITHOUT, topic, NEUTRAL, UNNAMED, wording))
    return found


class CellMetrics:
    """The metrics of one model's cells."""

    def __init__(self, answers: ModelResponses) -> None:
        self.answers = answers
        self._tables: dict[str, MetricTable] = {}

    def table(self, metric: str, sizes: Sizes = ALL_RESPONSES) -> MetricTable:
        """A metric of all places that have it. Counts are taken at `sizes`."""
        if sizes:
            return self._made(METRICS[metric], sizes)
        if metric not in self._tables:
            self._tables[metric] = self._made(METRICS[metric], sizes)
        return self._tables[metric]

    def _made(self, metric: Metric, sizes: Sizes) -> MetricTable:
        if metric.statistic is Statistic.SHARE:
            return self._of_experiment(metric)
        if metric.statistic is Statistic.GAIN:
            return self._gains(metric)
        if metric.statistic is Statistic.OVERLAP:
            return self._overlaps(sizes)
        return self._counts(metric, sizes)

    @cached_property
    def responses(self) -> Mapping[DataSlice, int]:
        """The responses of each cell that the extractor read whole."""
        return {cell.place: int(size) for cell, size in zip(self.answers.cells, self.answers.sizes, strict=True)}

    @cached_property
    def _places(self) -> Sequence[DataSlice]:
        return [cell.place for cell in self.answers.cells]

    def _shares(self, metric: Metric) -> MetricTable:
        """A share of each place: the sum of what responses add to its numerator, over that to its denominator."""
        answers, of = self.answers, self.answers.shares[metric.contributions]
        found = shares(of.numerators, of.denominators, of.place, len(of.places))
        matrix = csr_array((found.changes, (of.response, of.place)), shape=(answers.responses, len(of.places)))
        changes = Changes(found.values, matrix, found.told, answers.single[of.cell], found.rare)
        return MetricTable(of.places, changes, np.stack([found.tops, found.bottoms]))

    def _of_experiment(self, metric: Metric) -> MetricTable:
        """A share; one of neutral prompts for the countries of the experiment alone."""
        table, countries = self._shares(metric), {UNNAMED, *self.answers.countries}
        kept = [at for at, place in enumerate(table.places) if place.condition != NEUTRAL or place.country in countries]
        return table if len(kept) == len(table.places) else table.some(kept)

    def _gains(self, metric: Metric) -> MetricTable:
        """A share with the country named, less that of the neutral cell for the same country."""
        of_places = self._shares(metric)
        base = {place: at for at, place in enumerate(of_places.places) if place.condition == NEUTRAL}
        pairs = [
            (at, base[key])
            for at, place in enumerate(of_places.places)
            if place.condition != NEUTRAL and (key := place._replace(condition=NEUTRAL)) in base
        ]
        own, other = (np.array(side, dtype=np.int64) for side in (zip(*pairs, strict=True) if pairs else ((), ())))
        one, two = of_places.found.at(own), of_places.found.at(other)
        changes, told = csr_array(one.changes - two.changes), np.minimum(one.told, two.told)
        # Where no response changes the gain, both shares are the same in all: leave room for an exception in each.
        alike = np.where(abs(changes).sum(axis=0) > 0, 0.0, np.square(1 / np.maximum(told, 1)))
        rare = np.maximum(one.rare + two.rare, alike)
        found = Changes(one.values - two.values, changes, told, one.single | two.single, rare)
        parts = np.concatenate([of_places.parts[:, own], of_places.parts[:, other]])
        return MetricTable([of_places.places[at] for at in own], found, parts)

    def _counts(self, metric: Metric, sizes: Sizes) -> MetricTable:
        """A count of items, or what is made of how many responses name each, of each cell whose items are known."""
        answers, found = self.answers, self.answers.incidences
        at = answers.sizes
        if sizes:
            at = np.array(
                [min(sizes.get(place, size), size) for place, size in zip(self._places, at.tolist(), strict=True)]
            )
        there, statistic = self._known, metric.statistic
        counts = statistic in (Statistic.DISTINCT, Statistic.RAREFIED)

        def without(named: Incidences) -> tuple[Floats, Floats]:
            return distinct(named, at) if counts else OF_COUNTS[statistic](named)

        values, changes = without(found)
        if not counts and statistic is not Statistic.LARGEST_SHARE:
            there = there & (found.distinct_items > 0) & ((answers.sizes > 1) | (statistic is not Statistic.COVERAGE))
        rare = np.where(there, rare_variance(at, answers.sizes), 0.0) if metric.is_count else np.zeros(len(there))
        values = np.where(there, values, np.nan)
        matrix = _in_cells(np.where(there[answers.of_cell], changes, 0.0), found)
        if answers.prompts.clusters:
            groups = answers.groups.found
            of_groups = np.where(there[groups.cell], without(groups)[1], 0.0)
            matrix = answers.groups.share_out(matrix, _in_cells(of_groups, groups))
        return MetricTable(self._places, Changes(values, matrix, answers.sizes, answers.few, rare), values[None, :])

    @cached_property
    def _known(self) -> NDArray[np.bool_]:
        """Per cell: are its items known?"""
        looked_up = np.array([cell.known for cell in self.answers.cells], dtype=bool)
        return looked_up & (self.answers.sizes > 0)

    @cached_property
    def _language_pairs(self) -> tuple[Integers, Sequence[DataSlice]]:
        """The pairs of cells of two languages in which the same was asked (K x 2), and what each pair is of."""
        cells = self.answers.cells
        order = sorted(range(len(cells)), key=lambda at: _asked(cells[at]))
        groups = groupby(order, key=lambda at: _asked(cells[at])[:-1])
        pairs = [pair for _, group in groups for pair in combinations(group, 2)]
        places = [self._places[a]._replace(other_language=cells[b].language) for a, b in pairs]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2), places

    def _overlaps(self, sizes: Sizes) -> MetricTable:
        """Of each pair of languages in which the same was asked."""
        answers, (pairs, places) = self.answers, self._language_pairs
        responses = answers.sizes[pairs]
        at = responses.max(axis=1)
        if sizes:
            at = np.array(
                [min(sizes.get(place, most) or most, most) for place, most in zip(places, at.tolist(), strict=True)]
            )
        known = np.flatnonzero(self._known[pairs].all(axis=1))
        found = consensus(answers.incidences, pairs[known], at[known])
        numbers = np.zeros((3, len(places)))
        numbers[:, known] = found.values, np.nan_to_num(found.rare), found.either
        values, rare, items = numbers
        there = items > 0
        changed = found.changes
        if answers.prompts.clusters:
            of_groups = consensus(answers.groups.found, pairs[known], at[known]).changes
            changed = answers.groups.share_out(changed, of_groups)
        own = changed.tocoo()
        entries = (own.data, (own.row, known[own.col]))
        matrix = csr_array(coo_array(entries, shape=(answers.responses, len(places))))
        single = np.asarray(answers.few[pairs].any(axis=1))
        changes = Changes(np.where(there, values, np.nan), matrix, responses.min(axis=1), single, rare)
        return MetricTable(places, changes, np.stack([np.where(there, values * items, 0.0), items]))


def _asked(cell: Cell) -> tuple[str, ...]:
    return (cell.topic, cell.condition, cell.country or "", cell.wording, cell.language)


def _in_cells(changes: Floats, found: Incidences) -> csr_array:
    """A change for each group, in the column of its cell."""
    at = (np.arange(len(changes)), found.cell)
    return csr_array((changes, at), shape=(len(changes), len(found.responses)))
