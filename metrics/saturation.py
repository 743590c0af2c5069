"""The points of saturation curves, with their intervals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from polyculture.cache.schema import SaturationInterval
from polyculture.metrics.cell_changes import CellMetrics
from polyculture.metrics.inference.jackknife import Numbers, rare_variance
from polyculture.metrics.inference.limits import Estimate
from polyculture.metrics.inference.named_items import distinct
from polyculture.metrics.means import FEWEST_RESPONSES, are_dependent
from polyculture.metrics.responses import Answers


def saturation_rows(cells: CellMetrics, inputs: str) -> Iterator[SaturationInterval]:
    """The points of the saturation curve of every cell with known items."""
    answers, responses = cells.answers, cells.answers.sizes
    points = {size for own in set(responses.tolist()) for size in saturation_sizes(own)}
    curves = {size: _at_size(answers, size) for size in sorted(points)}
    for at, (cell, own) in enumerate(zip(answers.cells, responses.tolist(), strict=True)):
        if cell.diversity is None:
            continue
        dependent = are_dependent(cell.texts, cell.distinct_texts) or own < FEWEST_RESPONSES or answers.few[at]
        for size in saturation_sizes(own):
            values, variances = curves[size]
            value = float(values[at])
            low, high = (None, None) if dependent else _limits(value, float(variances[at]), own)
            yield SaturationInterval(
                model=cell.model,
                language=cell.language,
                topic=cell.topic,
                condition=cell.condition,
                country=cell.country,
                responses=size,
                entities=value,
                low=low,
                high=high,
                wording=cell.wording,
                inputs=inputs,
            )


def saturation_sizes(responses: int) -> list[int]:
    """The points of a curve: 1, 2, 5, 10, 20, 50, ... and all responses, as in the macro of that name."""
    steps = (step * 10**power for power in range(6) for step in (1, 2, 5))
    return [*(size for size in steps if size < responses), responses]


def _at_size(answers: Answers, size: int) -> tuple[Numbers, Numbers]:
    """The distinct items in so many responses of each cell, or in all of one that has fewer, with their variances."""
    responses = np.maximum(answers.sizes, 1)
    sizes = np.minimum(size, answers.sizes)
    values, changes = distinct(answers.incidences, sizes)
    squares, sums = (np.bincount(answers.of_cell, part, len(responses)) for part in (changes**2, changes))
    spread = np.maximum(0.0, (responses - 1) / responses * (squares - sums**2 / responses))
    return values, spread + rare_variance(sizes, responses)


def _limits(value: float, variance: float, responses: int) -> tuple[float, float]:
    low, high = Estimate(value, variance, responses - 1, responses, share=False).interval()
    return max(0.0, low), high
