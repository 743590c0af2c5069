"""The points of saturation curves, with their intervals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from polyculture.cache.schema import SaturationInterval
from polyculture.metrics.cell_changes import CellMetrics
from polyculture.metrics.inference.jackknife import Incidence, distinct, rare_variance
from polyculture.metrics.inference.limits import Estimate
from polyculture.metrics.means import FEWEST_RESPONSES, are_dependent


def saturation_rows(cells: CellMetrics, inputs: str) -> Iterator[SaturationInterval]:
    """The points of the saturation curve of every cell with known items."""
    answers = cells.answers
    for at, (cell, found) in enumerate(zip(answers.cells, answers.incidences, strict=True)):
        if cell.diversity is None:
            continue
        dependent = are_dependent(cell.texts, cell.distinct_texts) or found.responses < FEWEST_RESPONSES
        for size in saturation_sizes(found.responses):
            value, changes = distinct(found, size)
            low, high = (None, None) if dependent or answers.few[at] else _limits(found, value, changes, size)
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


def _limits(found: Incidence, value: float, changes: np.ndarray, size: int) -> tuple[float, float]:
    responses = found.responses
    spread = float((changes**2).sum() - changes.sum() ** 2 / responses)
    variance = max(0.0, (responses - 1) / responses * spread) + rare_variance(size, responses)
    low, high = Estimate(value, variance, responses - 1, responses, share=False).interval()
    return max(0.0, low), high
