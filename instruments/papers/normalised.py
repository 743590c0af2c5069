"""A figure over models as KoBBQ draws it (Jin et al. 2024, Figures 3 and 4): normalised numbers of kinds of questions.

Each model's numbers of a column are set to mean 0 and standard deviation 1 over the kinds. A point is a model; `all
models` is their mean with the interval of Tukey's test at 99 % (Hochberg et al. 1982): of two kinds whose intervals do
not overlap the means differ, over other models like these. It needs two models and two kinds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from polyculture.instruments.papers.tables import ALL
from polyculture.reports.figures.figure import Panel
from polyculture.reports.figures.kinds import NARROW, dots

if TYPE_CHECKING:
    from polyculture.instruments.papers.join import JoinedTable

ALL_MODELS = "all models"
_LEVEL = 0.99
_WHOLE = (ALL, "average")  # rows over all kinds
Values = NDArray[np.float64]


def normalised(table: JoinedTable, column: str) -> tuple[list[str], list[str], Values]:
    """Kinds, models, and the numbers of those models that have one of each kind: (models, kinds)."""
    kinds = list(dict.fromkeys(line.row for line in table.lines if line.own and line.row not in _WHOLE))
    cells: dict[str, dict[str, float]] = {}
    for line in table.lines:
        if line.own and line.row in kinds and column in line.cells:
            cells.setdefault(line.model, {})[line.row] = line.cells[column].value
    models = [model for model, own in cells.items() if len(own) == len(kinds) and len(set(own.values())) > 1]
    found = np.array([[cells[model][kind] for kind in kinds] for model in models], np.float64).reshape(-1, len(kinds))
    if not len(models):
        return kinds, models, found
    spread = found.std(axis=1, ddof=1, keepdims=True)
    return kinds, models, (found - found.mean(axis=1, keepdims=True)) / spread


def half_width(found: Values) -> float | None:
    """Half of the interval of each kind's mean over models, by Tukey's test; None with one model or kind."""
    models, kinds = found.shape
    if models < 2 or kinds < 2:
        return None
    within = float(found.var(axis=0, ddof=1).mean())
    return float(stats.studentized_range.ppf(_LEVEL, kinds, kinds * (models - 1))) * math.sqrt(within / models) / 2


def normalised_panels(table: JoinedTable) -> tuple[Sequence[str], tuple[Panel, ...]]:
    """The series and a panel a column; none where no model has a number of each kind."""
    panels: list[Panel] = []
    series: list[str] = []
    for column in table.columns:
        kinds, models, found = normalised(table, column)
        if not models:
            continue
        half = half_width(found)
        points = [(kind, model, value, None, None) for model, own in zip(models, found, strict=True)
                  for kind, value in zip(kinds, own, strict=True)]  # fmt: skip
        if half is not None:
            points += [(kind, ALL_MODELS, mean, mean - half, mean + half)
                       for kind, mean in zip(kinds, found.mean(axis=0), strict=True)]  # fmt: skip
        series = list(dict.fromkeys([*series, *models, *([ALL_MODELS] if half is not None else [])]))
        frame = pd.DataFrame(points, columns=["row", "series", "value", "low", "high"])
        drawn = frame.astype(dict.fromkeys(("value", "low", "high"), float))
        end = math.ceil(float(np.nanmax(np.abs(drawn[["value", "low", "high"]].to_numpy()))) + 0.01)
        told = "; ".join(f"{kind}: {value:.2f}" for kind, value in zip(kinds, found.mean(axis=0), strict=True))
        chart = dots(drawn, alternative=f"{table.table.title}, normalised: {column}. Means over models: {told}",
                     rows={kind: kind for kind in kinds}, series=series, label="standard deviations",
                     limits=(-end, end), width=NARROW)  # fmt: skip
        panels.append(Panel(column, chart))
    return series, tuple(panels)
