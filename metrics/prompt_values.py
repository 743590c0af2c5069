"""The values of single prompts, as one model answered them, with the variance of sampling.

`plan` says from them what an experiment would find. They are made of the contributions of the responses, by the code
that makes the numbers of cells, so that their variance is the one on which differences rest (`metrics.comparison`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from polyculture.cache.store.store import Store
from polyculture.metrics.cell_changes import CellMetrics
from polyculture.metrics.declared import OF_PROMPTS
from polyculture.metrics.inference.jackknife import moments
from polyculture.metrics.responses import DataSlice, ResponseReader


@dataclass(frozen=True, slots=True)
class PromptValue:
    """A metric of one prompt as one model answered it."""

    place: DataSlice  # of the prompt's cell, which may hold several prompts (other names)
    estimate: float
    variance: float | None  # over other responses to the same prompt; None: too few responses say something of it
    responses: int


def prompt_values(store: Store) -> dict[str, list[PromptValue]]:
    """By metric (`OF_PROMPTS`), of all prompts that have a value; the store keeps `KEPT`."""
    reader = ResponseReader(store)
    found: dict[str, list[PromptValue]] = {metric: [] for metric in OF_PROMPTS}
    for model in reader.models:
        answers = reader.read_prompts(model)
        cells = CellMetrics(answers)
        for metric, values in found.items():
            changes = cells.table(metric).found
            known = np.flatnonzero(~np.isnan(changes.values))
            alone = csr_array((np.ones(len(known)), (known, np.arange(len(known)))), (len(changes.values), len(known)))
            sampled = moments(changes, answers.prompts, alone)
            rows = zip(known.tolist(), sampled.values.tolist(), sampled.variances.tolist(), strict=True)
            unsure = (sampled.told < 2) | (sampled.single > 0)
            values += [
                PromptValue(answers.cells[at].place, value, None if unknown else variance, answers.cells[at].responses)
                for (at, value, variance), unknown in zip(rows, unsure.tolist(), strict=True)
            ]
    return found
