"""The uncertainty of all numbers of one model: that of its cells, and that of its means, accumulated cell by cell."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby

from polyculture.cache.schema import SaturationInterval
from polyculture.cache.schema.measured import EVERY, UNNAMED, WITHOUT
from polyculture.metrics.cell_data import Cell, CellReader, Sums
from polyculture.metrics.intervals.assemblage import Assemblage, diversity_estimate
from polyculture.metrics.intervals.diversity_estimators import (
    OF_CELLS_WITH_ITEMS,
    companions,
    items_in,
    saturation_sizes,
)
from polyculture.metrics.intervals.dominance import dominance_estimate
from polyculture.metrics.intervals.estimate import Estimate, Sum, are_dependent, difference, mean, scaled
from polyculture.metrics.intervals.levels import (
    OF_COUNTRY,
    OF_LANGUAGE,
    OF_MODEL,
    OF_PAIR,
    OF_WORDINGS,
    PAIR_OF_WORDINGS,
    Level,
    Place,
    by_condition,
    kept,
)
from polyculture.metrics.intervals.overlap import Overlap, Overlaps, overlap
from polyculture.metrics.intervals.ratio import ratio_estimate

WHOLE = OF_MODEL + OF_LANGUAGE


@dataclass(frozen=True)
class Uncertainty:
    """How uncertain the numbers of a model are: by metric and cell, and by metric, level and what the level keeps."""

    of_cells: dict[tuple[str, Place], Estimate] = field(default_factory=dict)
    of_means: dict[tuple[str, Level, Place], Sum] = field(default_factory=dict)

    def add_cell(self, metric: str, place: Place, estimate: Estimate, levels: tuple[Level, ...] = ()) -> None:
        """The number of a cell, which enters the means at `levels`."""
        self.of_cells[metric, place] = estimate
        self.add_part(metric, levels, place, estimate)

    def add_part(
        self, metric: str, levels: tuple[Level, ...], place: Place, estimate: Estimate, cells: float = 1.0
    ) -> None:
        """An independent part of the means at `levels`: itself the mean of `cells` numbers."""
        for level in levels:
            self.of_means.setdefault((metric, level, kept(place, level)), Sum()).add(estimate, cells)

    def miss(self, metric: str, levels: tuple[Level, ...], place: Place) -> None:
        """A cell that has no such number in this sample, in the means at `levels`."""
        for level in levels:
            self.of_means.setdefault((metric, level, kept(place, level)), Sum()).miss()


def add_granularity(reading: CellReader, model: str, uncertainty: Uncertainty) -> None:
    """The granularity of every cell that has linked items; that of topics which the study defines once more."""
    sums = reading.granularity()
    for cell in reading.cells_of[model]:
        estimate = _ratio(cell, sums.get(cell.number))
        if estimate is not None:
            names = ("granularity", "granularity_defined") if cell.topic in reading.defined_topics else ("granularity",)
            for name in names:
                uncertainty.add_cell(name, place_of(cell), estimate, _levels(cell))


def add_without_country(reading: CellReader, model: str, uncertainty: Uncertainty) -> None:
    """The share of linked items of which no country is known, of every cell that has linked items."""
    sums = reading.without_country()
    for cell in reading.cells_of[model]:
        if (estimate := _ratio(cell, sums.get(cell.number))) is not None:
            uncertainty.add_cell("share_without_country", place_of(cell), estimate, _levels(cell))


def add_specificity(reading: CellReader, model: str, uncertainty: Uncertainty) -> None:
    """The specificity of every cell that has linked items, and the gain over the neutral cell."""
    sums, neutral = reading.specificity(), reading.neutral_specificity()
    by_topic = sorted(
        reading.cells_of[model], key=lambda cell: (cell.language, cell.topic, cell.wording, cell.condition, cell.number)
    )
    for _, group in groupby(by_topic, key=lambda cell: (cell.language, cell.topic, cell.wording)):
        cells = list(group)
        base = next(((cell, neutral[cell.number]) for cell in cells if cell.number in neutral), None)
        for _, same in groupby(cells, key=lambda cell: cell.condition):
            measured = {
                cell: found
                for cell in same
                if (cell.topic, cell.country) not in reading.uncovered
                and (found := _ratio(cell, sums.get(cell.number))) is not None
            }
            for cell, estimate in measured.items():
                uncertainty.add_cell("specificity", place_of(cell), estimate, by_condition(_levels(cell)))
            if base is not None:
                _add_gains(measured, *base, reading.column_of, uncertainty)
        for cell in cells:
            if cell.number in neutral:
                covered = [country for country in reading.countries if (cell.topic, country) not in reading.uncovered]
                named = {country: reading.column_of[country] for country in covered}
                _add_neutral(cell, neutral[cell.number], named, uncertainty)


def add_diversity(cells: Sequence[Cell], found: dict[int, Assemblage], uncertainty: Uncertainty) -> None:
    """The diversity of every cell with known items."""
    for cell in cells:
        if cell.number in found:
            uncertainty.add_cell("diversity", place_of(cell), diversity_estimate(found[cell.number]), _levels(cell))


def add_companions(
    cells: Sequence[Cell],
    found: dict[int, Assemblage],
    rarefied_to: int,
    common_coverage: float | None,
    uncertainty: Uncertainty,
) -> None:
    """The diversity estimators and the dominance of every cell with known items."""
    for cell in cells:
        if cell.number in found:
            estimates = companions(found[cell.number], rarefied_to, common_coverage)
            for metric, estimate in {**estimates, "dominance": dominance_estimate(found[cell.number])}.items():
                uncertainty.add_cell(metric, place_of(cell), estimate, _levels(cell))
            for metric in OF_CELLS_WITH_ITEMS - estimates.keys():
                uncertainty.miss(metric, _levels(cell), place_of(cell))


def saturation_rows(cells: Sequence[Cell], found: dict[int, Assemblage]) -> Iterator[SaturationInterval]:
    """The points of the saturation curve of every cell with known items."""
    for cell in cells:
        if cell.number in found:
            for size in saturation_sizes(cell.responses):
                estimate = items_in(found[cell.number], size)
                place = (cell.model, cell.language, cell.topic, cell.condition, cell.country)
                dependent = are_dependent(cell.texts, cell.distinct_texts)
                limits = (None, None) if dependent else estimate.limits(0.0, math.inf)
                yield SaturationInterval(*place, size, estimate.value, *limits, wording=cell.wording)


def add_consensus(cells: Sequence[Cell], found: dict[int, Assemblage], uncertainty: Uncertainty) -> None:
    """The consensus of every pair of languages with at least one item; `cells` are those of one topic, in order."""
    for _, group in groupby(cells, key=lambda cell: (cell.condition, cell.country, cell.wording)):
        pairs: list[tuple[str, str, Overlap]] = []
        with_items = [cell for cell in group if cell.number in found]
        for one, other in combinations(with_items, 2):
            pair = overlap(found[one.number], found[other.number])
            if pair is not None:
                place = place_of(one)._replace(other_language=other.language)
                pairs.append((one.language, other.language, pair))
                levels = OF_PAIR + (PAIR_OF_WORDINGS if one.wordings > 1 else ())
                uncertainty.add_cell("consensus", place, pair.estimate(), levels)
        if pairs:
            overlaps, every = Overlaps(pairs), place_of(with_items[0])._replace(other_language=EVERY)
            uncertainty.add_part("consensus", OF_MODEL, every, overlaps.mean(), len(pairs))
            for language in sorted({name for pair in pairs for name in pair[:2]}):
                own = sum(language in pair[:2] for pair in pairs)
                place = every._replace(language=language)
                uncertainty.add_part("consensus", OF_LANGUAGE, place, overlaps.mean_of(language), own)


def _add_neutral(cell: Cell, sums: Sums, column_of: Mapping[str, int], uncertainty: Uncertainty) -> None:
    """Specificity for every country from the same responses: a mean over countries is one ratio."""
    for country, column in column_of.items():
        estimate = _ratio(cell, sums, [column])
        if estimate is not None:
            place = place_of(cell)._replace(country=country)
            uncertainty.add_cell("specificity", place, estimate, _by_country(cell))
    # Imported texts may be of no country at all: then there is nothing to be the mean over.
    whole = _ratio(cell, sums, list(column_of.values())) if column_of else None
    if whole is not None:
        uncertainty.add_part("specificity", by_condition(WHOLE), place_of(cell), whole, len(column_of))


def _add_gains(
    measured: dict[Cell, Estimate], base: Cell, sums: Sums, column_of: Mapping[str, int], uncertainty: Uncertainty
) -> None:
    """Gains of the cells of one condition, with the common neutral responses of `base`."""
    columns = {cell: column_of[cell.country] for cell in measured if cell.country is not None}
    for cell, column in columns.items():
        neutral = _ratio(base, sums, [column])
        if neutral is not None:
            uncertainty.add_cell(
                "specificity_gain", place_of(cell), difference(measured[cell], neutral), _by_country(cell)
            )
    neutral = _ratio(base, sums, list(columns.values())) if columns else None
    if neutral is not None:
        estimate = difference(mean(measured[cell] for cell in columns), neutral)
        uncertainty.add_part(
            "specificity_gain", by_condition(WHOLE), place_of(next(iter(columns))), estimate, len(columns)
        )


def _ratio(cell: Cell, sums: Sums | None, columns: Sequence[int] = ()) -> Estimate | None:
    """The ratio of a cell; for a neutral cell, the mean of the ratios for the countries in these columns."""
    if sums is None:
        return None
    if not columns:
        return ratio_estimate(sums.responses, sums.numerators, sums.denominators, cell.responses)
    numerators = sums.numerators[:, list(columns)].sum(axis=1)
    together = ratio_estimate(sums.responses, numerators, sums.denominators, cell.responses)
    return together and scaled(together, 1 / len(columns))


def place_of(cell: Cell) -> Place:
    """What a cell's own numbers are of."""
    country = cell.country or UNNAMED
    return Place(cell.model, cell.language, WITHOUT, cell.topic, cell.condition, country, cell.wording)


def _levels(cell: Cell) -> tuple[Level, ...]:
    """The levels of a cell's means. Of what was asked in one wording, that over wordings is the cell itself."""
    return WHOLE + _by_country(cell)


def _by_country(cell: Cell) -> tuple[Level, ...]:
    return OF_COUNTRY + (OF_WORDINGS if cell.wordings > 1 else ())
