"""Curves of saturation: how many items so many of a cell's responses name, and what share of all mentions these have.

Both are the exact expectation over all ways to draw so many responses (`inference.named_items`). `measure` writes the
points beside the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from polyculture.metrics.cell_changes import CellMetrics
from polyculture.metrics.inference.named_items import coverage_in, items_in
from polyculture.metrics.layout import SaturationPoint

_STEPS = [step * 10**power for power in range(6) for step in (1, 2, 5)]


def saturation(cells: CellMetrics, inputs: str) -> Iterator[SaturationPoint]:
    """The points of each cell whose items are known; `inputs` is the hash of the data."""
    answers = cells.answers
    found, sizes = answers.incidences, answers.sizes
    steps = [step for step in _STEPS if step < sizes.max(initial=0)]
    curves = [(items_in(found, at), coverage_in(found, at)) for at in (np.minimum(step, sizes) for step in steps)]
    ends = (cells.table(metric).found.values.tolist() for metric in ("diversity", "coverage"))
    for cell, (place, size, entities, coverage) in enumerate(zip(answers.cells, sizes.tolist(), *ends, strict=True)):
        if np.isnan(entities):
            continue
        points = [
            (step, float(items[cell]), float(covered[cell]))
            for step, (items, covered) in zip(steps, curves, strict=True)
            if step < size
        ]
        for drawn, items_at, covered_at in [*points, (size, entities, coverage)]:
            yield SaturationPoint(
                place.model,
                place.language,
                place.topic,
                place.condition,
                place.country,
                place.wording,
                drawn,
                items_at,
                None if np.isnan(covered_at) else covered_at,
                inputs,
            )
