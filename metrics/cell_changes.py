"""The metrics of a model's cells, with their changes without each response: what intervals and comparisons rest on.

cells = CellMetrics(reader.read(model), reader)
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
from scipy.sparse import coo_array, csr_array, hstack

from polyculture.cache.schema.measured import UNNAMED, WITHOUT
from polyculture.metrics.declared import is_gain, is_overlap
from polyculture.metrics.inference.jackknife import Changes, Integers, Numbers, long_response_variance, rare_variance
from polyculture.metrics.inference.named_items import COMPANIONS, Incidences, consensus, distinct
from polyculture.metrics.responses import Answers, Cell, Place, ResponseReader

NEUTRAL = "neutral"
Sizes = Mapping[Place, int]  # of a count: the number of responses that it is taken at, where that is not all
ALL_RESPONSES: Sizes = {}


@dataclass(frozen=True, slots=True)
class MetricTable:
    """A metric of some places, with its changes; a place without a value has NaN."""

    places: Sequence[Place]
    found: Changes
    # Rows x C: numerator and denominator of a share or a consensus; of a gain those of the neutral share, too; of a
    # count the count. What unlinked mentions could change (`comparison.tipping`).
    parts: Numbers

    def some(self, columns: Iterable[int]) -> MetricTable:
        """Those of some columns."""
        chosen = np.fromiter(columns, dtype=np.int64)
        return MetricTable([self.places[at] for at in chosen], self.found.at(chosen), self.parts[:, chosen])


def cells_behind(metric: str, place: Place) -> list[Place]:
    """The cells that a number rests on: of a gain the neutral one, too, of consensus that of each language."""
    model, language, other, topic, condition, country, wording = place
    country = UNNAMED if condition == NEUTRAL else country
    found = [Place(model, language, WITHOUT, topic, condition, country, wording)]
    if is_overlap(metric):
        found.append(Place(model, other, WITHOUT, topic, condition, country, wording))
    elif is_gain(metric):
        found.append(Place(model, language, WITHOUT, topic, NEUTRAL, UNNAMED, wording))
    return found


class CellMetrics:
    """The metrics of one model's cells."""

    def __init__(self, answers: Answers, reader: ResponseReader) -> None:
        self.answers = answers
        self._reader = reader
        self._tables: dict[str, MetricTable] = {}

    def table(self, metric: str, sizes: Sizes = ALL_RESPONSES) -> MetricTable:
        """A metric of all places that have it. Counts are taken at `sizes`."""
        if sizes:
            return self._made(metric, sizes)
        if metric not in self._tables:
            self._tables[metric] = self._made(metric, sizes)
        return self._tables[metric]

    def _made(self, metric: str, sizes: Sizes) -> MetricTable:
        answers = self.answers
        if metric in answers.shares:
            return self._shares(answers.shares[metric], np.ones(len(answers.item)))
        if metric == "specificity":
            return self._specificity(self._reader.countries)
        if is_gain(metric):
            return self._gains()
        if is_overlap(metric):
            return self._consensus(sizes)
        return self._counts(metric, sizes)

    def size_at(self, metric: str, place: Place) -> int:
        """The fewest responses that a count of a place rests on."""
        here = self._size_of[place._replace(other_language=WITHOUT)]
        if not is_overlap(metric):
            return here
        return min(here, self._size_of[place._replace(language=place.other_language, other_language=WITHOUT)])

    @cached_property
    def _size_of(self) -> Mapping[Place, int]:
        return {cell.place: int(size) for cell, size in zip(self.answers.cells, self.answers.sizes, strict=True)}

    @cached_property
    def _places(self) -> Sequence[Place]:
        return [cell.place for cell in self.answers.cells]

    def _shares(self, numerators: Numbers, denominators: Numbers) -> MetricTable:
        """A share of each cell: sums over its responses of a part of the pairs, over those of all pairs."""
        answers, cells = self.answers, len(self.answers.cells)
        top, bottom = answers.per_response(numerators), answers.per_response(denominators)
        values, changes = np.full(cells, np.nan), np.zeros(answers.responses)
        tops, bottoms = (np.bincount(answers.of_cell, part, cells) for part in (top, bottom))
        np.divide(tops, bottoms, out=values, where=bottoms > 0)
        left = bottoms[answers.of_cell] - bottom
        np.divide(values[answers.of_cell] * bottom - top, left, out=changes, where=left > 0)
        matrix = csr_array((changes, (np.arange(answers.responses), answers.of_cell)), shape=(answers.responses, cells))
        longest = np.zeros(cells)
        np.maximum.at(longest, answers.of_cell, bottom)
        rare = long_response_variance(np.nan_to_num(values), np.asarray(bottoms, dtype=np.float64), longest)
        found = Changes(values, matrix, self._naming, answers.single, rare)
        return MetricTable(self._places, found, np.stack([tops, bottoms]))

    @property
    def _naming(self) -> Integers:
        """Per cell: the responses that name an item."""
        return np.bincount(self.answers.of_cell, minlength=len(self.answers.cells))

    def _specificity(self, countries: Sequence[str]) -> MetricTable:
        """Of cells that name a country the share of items associated with it; of neutral ones, for each country."""
        named, neutral = self._named_shares(), self._neutral_shares(countries)
        return _beside(named, neutral)

    def _named_shares(self) -> MetricTable:
        answers = self.answers
        column = {country: at for at, country in enumerate(answers.countries)}
        asked = np.array([column.get(cell.country or "", -1) for cell in answers.cells], dtype=np.int64)
        of_pair = asked[answers.of_cell[answers.response]] if len(answers.response) else np.zeros(0, dtype=np.int64)
        named = np.flatnonzero(of_pair >= 0)
        own = np.zeros(len(of_pair), dtype=bool)
        own[named] = answers.associated[named, of_pair[named]]
        table = self._shares(own.astype(np.float64), np.ones(len(own)))
        return table.some(at for at, cell in enumerate(answers.cells) if cell.country and not self._uncovered(cell))

    def _uncovered(self, cell: Cell, country: str | None = None) -> bool:
        return (cell.topic, country or cell.country) in self._reader.uncovered

    def _neutral_shares(self, countries: Sequence[str]) -> MetricTable:
        """A column for each neutral cell and country: the same responses stand behind all countries."""
        answers = self.answers
        parts: list[MetricTable] = []
        for country in countries:
            at = answers.countries.index(country)
            shares = self._shares(answers.associated[:, at].astype(np.float64), np.ones(len(answers.item)))
            columns = [
                k
                for k, cell in enumerate(answers.cells)
                if cell.condition == NEUTRAL and not self._uncovered(cell, country)
            ]
            own = shares.some(columns)
            parts.append(MetricTable([place._replace(country=country) for place in own.places], own.found, own.parts))
        nothing = self._shares(np.zeros(len(answers.item)), np.ones(len(answers.item))).some(())
        return _beside(nothing, *parts)

    def _gains(self) -> MetricTable:
        """Specificity with the country named, less that of the neutral cell for the same country."""
        named, neutral = self._named_shares(), self._neutral_shares(self.answers.countries)
        base = {place: at for at, place in enumerate(neutral.places)}
        pairs = [
            (at, base[key])
            for at, place in enumerate(named.places)
            if (key := place._replace(condition=NEUTRAL)) in base
        ]
        own, other = (np.array(side, dtype=np.int64) for side in (zip(*pairs, strict=True) if pairs else ((), ())))
        one, two = named.found.at(own), neutral.found.at(other)
        changes, told = csr_array(one.changes - two.changes), np.minimum(one.told, two.told)
        # Where no response changes the gain, both shares are the same in all: leave room for an exception in each.
        alike = np.where(abs(changes).sum(axis=0) > 0, 0.0, np.square(1 / np.maximum(told, 1)))
        rare = np.maximum(one.rare + two.rare, alike)
        found = Changes(one.values - two.values, changes, told, one.single | two.single, rare)
        parts = np.concatenate([named.parts[:, own], neutral.parts[:, other]])
        return MetricTable([named.places[at] for at in own], found, parts)

    def _counts(self, metric: str, sizes: Sizes) -> MetricTable:
        """Diversity, or one of its companions, of each cell whose items are known."""
        answers, found = self.answers, self.answers.incidences
        at = answers.sizes
        if sizes:
            at = np.array(
                [min(sizes.get(place, size), size) for place, size in zip(self._places, at.tolist(), strict=True)]
            )
        counts = metric in ("diversity", "rarefied")

        def without(named: Incidences) -> tuple[Numbers, Numbers]:
            return distinct(named, at) if counts else COMPANIONS[metric](named)

        values, changes = without(found)
        there = self._known
        if not counts and metric != "dominance":
            there = there & (found.distinct_items > 0) & ((answers.sizes > 1) | (metric != "coverage"))
        is_share = metric in ("dominance", "coverage")
        rare = np.zeros(len(there)) if is_share else np.where(there, rare_variance(at, answers.sizes), 0.0)
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
        looked_up = np.array([cell.diversity is not None for cell in self.answers.cells], dtype=bool)
        return looked_up & (self.answers.sizes > 0)

    @cached_property
    def _language_pairs(self) -> tuple[Integers, Sequence[Place]]:
        """The pairs of cells of two languages in which the same was asked (K x 2), and what each pair is of."""
        cells = self.answers.cells
        order = sorted(range(len(cells)), key=lambda at: _asked(cells[at]))
        groups = groupby(order, key=lambda at: _asked(cells[at])[:-1])
        pairs = [pair for _, group in groups for pair in combinations(group, 2)]
        places = [self._places[a]._replace(other_language=cells[b].language) for a, b in pairs]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2), places

    def _consensus(self, sizes: Sizes) -> MetricTable:
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


def _in_cells(changes: Numbers, found: Incidences) -> csr_array:
    """A change for each group, in the column of its cell."""
    at = (np.arange(len(changes)), found.cell)
    return csr_array((changes, at), shape=(len(changes), len(found.responses)))


def _beside(*tables: MetricTable) -> MetricTable:
    """The columns of all tables, which are of the same responses."""
    found = [table.found for table in tables]
    return MetricTable(
        [place for table in tables for place in table.places],
        Changes(
            np.concatenate([one.values for one in found]),
            csr_array(hstack([one.changes for one in found])),
            np.concatenate([one.told for one in found]),
            np.concatenate([one.single for one in found]),
            np.concatenate([one.rare for one in found]),
        ),
        np.concatenate([table.parts for table in tables], axis=1),
    )
