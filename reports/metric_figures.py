"""The sections of a metric's figures: one that stands first, and in folds below it others with something to show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd

from polyculture.cache.store.manifest import Manifest
from polyculture.reports.diversity_estimators import diversity_estimators
from polyculture.reports.figures.by_country import country_boxes
from polyculture.reports.figures.figure import Figure
from polyculture.reports.figures.maps import country_maps, granularity_marks, pair_maps, specificity_maps
from polyculture.reports.figures.origins import origin_maps
from polyculture.reports.names import Names
from polyculture.reports.reading import SQL
from polyculture.reports.section import ReportData, ReportTable
from polyculture.reports.table_section import PageTable
from polyculture.reports.texts import MetricText, texts

# The figures of a metric, each with the table (`sql/`) that it is drawn from.
FIGURES: Mapping[str, Sequence[tuple[str, Callable[[pd.DataFrame, Manifest, Names], Figure]]]] = {
    "origins": (("origins", origin_maps),),
    "specificity": (("specificity", specificity_maps),),
    "consensus": (("consensus", pair_maps),),
    "diversity": (("diversity", country_boxes), ("diversity", partial(country_maps, "diversity"))),
    "granularity": (
        ("granularity", granularity_marks),
        ("granularity_by_country", partial(country_maps, "granularity")),
    ),
}


@dataclass(frozen=True)
class FigureSection:
    """The context of a section: its metric, a figure, `others` in folds, and diversity's table of estimators."""

    metric: MetricText
    figure: Figure
    others: tuple[Figure, ...] = ()
    estimators: PageTable | None = None


def build(metric: str, data: ReportData) -> FigureSection:
    """The section of a metric."""
    first, *others = (draw(_frame(data, table), data.manifest, data.names) for table, draw in FIGURES[metric])
    shown = tuple(figure for figure in others if figure.rows)
    return FigureSection(
        texts().metrics[metric], first, shown, diversity_estimators(data) if metric == "diversity" else None
    )


def _frame(data: ReportData, table: str) -> pd.DataFrame:
    """A table's rows without the frame's `attrs`, which pandas copies deeply at every step."""
    found = data.frame(ReportTable(SQL / f"{table}.sql"))
    return pd.DataFrame(dict(found.items()))
