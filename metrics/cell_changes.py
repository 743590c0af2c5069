"""The metrics of a model's cells, with their changes without each response: what intervals and comparisons rest on.

cells = CellMetrics(reader.read(model), reader)
table = cells.table("specificity_gain")
table.places[7], table.found.values[7]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, groupby

import numpy as np
from scipy.sparse import coo_array, csr_array, hstack

from polyculture.cache.schema.measured import UNNAMED, WITHOUT
from polyculture.metrics.inference.jackknife import (
    COMPANIONS,
    Changes,
    Incidence,
    Integers,
    Numbers,
    consensus,
    distinct,
    long_response_variance,
    rare_variance,
)
from polyculture.metrics.places import CONSENSUS, Place
from polyculture.metrics.responses import Answers, Cell, ResponseReader

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
    country = UNNAMED if place.condition == NEUTRAL else place.country
    own = place._replace(other_language=WITHOUT, country=country)
    if metric == CONSENSUS:
        return [own, own._replace(language=place.other_language)]
    if metric == "specificity_gain":
        return [own, own._replace(condition=NEUTRAL, country=UNNAMED)]
    return [own]


class CellMetrics:
    """The metrics of one model's cells."""

    def __init__(self, answers: Answers, reader: ResponseReader) -> None:
        self.answers = answers
        self._reader = reader
        self._tables: dict[str, MetricTable] = {}
        # Many comparisons ask for the consensus of the same two cells at the same number of responses.
        self._consensus_of = cache(self._consensus_at)

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
        if metric == "granularity_defined":
            defined = (at for at, cell in enumerate(answers.cells) if cell.topic in self._reader.defined_topics)
            return self.table("granularity").some(defined)
        if metric == "specificity":
            return self._specificity(self._reader.countries)
        if metric == "specificity_gain":
            return self._gains()
        if metric == CONSENSUS:
            return self._consensus(sizes)
        return self._counts(metric, sizes)

    def size_at(self, metric: str, place: Place) -> int:
        """The fewest responses that a count of a place rests on."""
        here = self._size_of[place._replace(other_language=WITHOUT)]
        if metric != CONSENSUS:
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
        answers = self.answers
        values, rare = np.full(len(answers.cells), np.nan), np.zeros(len(answers.cells))
        parts: list[tuple[Incidence, Numbers, int]] = []
        for at, (cell, found) in enumerate(zip(answers.cells, answers.incidences, strict=True)):
            size = min(sizes.get(cell.place, found.responses), found.responses)
            if cell.diversity is None or not found.responses:
                continue
            if metric in ("diversity", "rarefied"):
                values[at], change = distinct(found, size)
                rare[at] = rare_variance(size, found.responses)
            elif metric == "dominance" and not len(found.items):
                values[at], change = 0.0, np.zeros(0)
            elif len(found.items) and (metric != "coverage" or found.responses > 1):
                values[at], change = COMPANIONS[metric](found)
                rare[at] = 0.0 if metric in ("dominance", "coverage") else rare_variance(size, found.responses)
            else:
                continue
            parts.append((found, change, at))
        told = np.array(answers.sizes)
        changes = Changes(values, self._matrix(parts, len(answers.cells)), told, answers.few, rare)
        return MetricTable(self._places, changes, values[None, :])

    def _matrix(self, parts: Sequence[tuple[Incidence, Numbers, int]], columns: int) -> csr_array:
        if not parts:
            return csr_array((self.answers.responses, columns))
        rows = np.concatenate([found.naming for found, _, _ in parts])
        data = np.concatenate([change for _, change, _ in parts])
        column = np.concatenate([np.full(len(change), at) for _, change, at in parts])
        return csr_array(coo_array((data, (rows, column)), shape=(self.answers.responses, columns)))

    def _consensus(self, sizes: Sizes) -> MetricTable:
        """Of each pair of languages in which the same was asked."""
        answers = self.answers
        order = sorted(range(len(answers.cells)), key=lambda at: _asked(answers.cells[at]))
        groups = groupby(order, key=lambda at: _asked(answers.cells[at])[:-1])
        pairs = [pair for _, group in groups for pair in combinations(group, 2)]
        places = [answers.cells[a].place._replace(other_language=answers.cells[b].language) for a, b in pairs]
        numbers = np.full((3, len(pairs)), np.nan)  # consensus, its rare variance, how many items either names
        parts: list[tuple[Incidence, Numbers, int]] = []
        for column, (pair, place) in enumerate(zip(pairs, places, strict=True)):
            one, other = (answers.incidences[at] for at in pair)
            most = max(one.responses, other.responses)
            known = all(answers.cells[at].diversity is not None and answers.sizes[at] for at in pair)
            if known and (found := self._consensus_of(*pair, min(sizes.get(place, most), most))):
                value, changes, other_changes, rare, either = found
                numbers[:, column] = value, rare, either
                parts += [(one, changes, column), (other, other_changes, column)]
        values, (rares, items) = numbers[0], np.nan_to_num(numbers[1:])
        both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        responses = np.array([found.responses for found in answers.incidences], dtype=np.int64)
        told, single = responses[both].min(axis=1), np.asarray(answers.few[both].any(axis=1))
        changed = Changes(values, self._matrix(parts, len(places)), told, single, rares)
        return MetricTable(places, changed, np.stack([np.nan_to_num(values) * items, items]))

    def _consensus_at(self, one: int, other: int, size: int) -> tuple[float, Numbers, Numbers, float, float] | None:
        return consensus(self.answers.incidences[one], self.answers.incidences[other], size)


def _asked(cell: Cell) -> tuple[str, ...]:
    return (cell.topic, cell.condition, cell.country or "", cell.wording, cell.language)


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
