"""The numbers of a model that are counts of items, with their uncertainty: diversity, its companions, consensus."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, groupby

from polyculture.cache.schema import SaturationInterval
from polyculture.cache.schema.measured import EVERY
from polyculture.metrics.cells import Cell
from polyculture.metrics.intervals.assemblage import Assemblage, diversity_estimate
from polyculture.metrics.intervals.diversity_estimators import (
    OF_CELLS_WITH_ITEMS,
    companions,
    items_in,
    saturation_sizes,
)
from polyculture.metrics.intervals.dominance import dominance_estimate
from polyculture.metrics.intervals.estimate import (
    OF_LANGUAGE,
    OF_MODEL,
    OF_PAIR,
    PAIR_OF_WORDINGS,
    Uncertainty,
    are_dependent,
)
from polyculture.metrics.intervals.overlap import Overlap, Overlaps, overlap


def add_diversity(cells: Sequence[Cell], found: dict[int, Assemblage], uncertainty: Uncertainty) -> None:
    """The diversity of every cell with known items."""
    for cell in cells:
        if cell.number in found:
            uncertainty.add_cell("diversity", cell.place, diversity_estimate(found[cell.number]), cell.levels)


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
                uncertainty.add_cell(metric, cell.place, estimate, cell.levels)
            for metric in OF_CELLS_WITH_ITEMS - estimates.keys():
                uncertainty.miss(metric, cell.levels, cell.place)


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
                place = one.place._replace(other_language=other.language)
                pairs.append((one.language, other.language, pair))
                levels = OF_PAIR + (PAIR_OF_WORDINGS if one.wordings > 1 else ())
                uncertainty.add_cell("consensus", place, pair.estimate(), levels)
        if pairs:
            overlaps, every = Overlaps(pairs), with_items[0].place._replace(other_language=EVERY)
            uncertainty.add_part("consensus", OF_MODEL, every, overlaps.mean(), len(pairs))
            for language in sorted({name for pair in pairs for name in pair[:2]}):
                own = sum(language in pair[:2] for pair in pairs)
                place = every._replace(language=language)
                uncertainty.add_part("consensus", OF_LANGUAGE, place, overlaps.mean_of(language), own)
