"""The sections of a metric's figures: one that stands first, and in folds below it others with something to show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from polyculture.reports.diversity_estimators import diversity_estimators
from polyculture.reports.figures.by_country import country_boxes
from polyculture.reports.figures.by_model import by_topic, granularity_marks, saturation_curves
from polyculture.reports.figures.figure import Figure
from polyculture.reports.figures.maps import country_map, pair_maps, specificity_maps
from polyculture.reports.figures.origins import origin_maps
from polyculture.reports.reading import SQL
from polyculture.reports.section import ReportData, ReportTable
from polyculture.reports.table_section import PageTable
from polyculture.reports.texts import Metric, texts


@dataclass(frozen=True)
class FigureSection:
    """The context of a section: its metric, a figure, `others` in folds, and diversity's table of estimators."""

    metric: Metric
    figure: Figure
    others: tuple[Figure, ...] = ()
    estimators: PageTable | None = None


def granularity(data: ReportData) -> FigureSection:
    """Models by language; then countries."""
    of = (data.manifest, data.names)
    return _section(
        "granularity",
        [
            granularity_marks(_frame(data, "granularity"), *of),
            country_map(_frame(data, "granularity_by_country"), *of),
        ],
    )


def diversity(data: ReportData) -> FigureSection:
    """Countries by model."""
    boxes = country_boxes(_frame(data, "diversity"), data.manifest, data.names)
    return _section("diversity", [boxes], diversity_estimators(data))


def specificity(data: ReportData) -> FigureSection:
    """Maps of countries and languages."""
    return _section("specificity", [specificity_maps(_frame(data, "specificity"), data.manifest, data.names)])


def consensus(data: ReportData) -> FigureSection:
    """Maps of pairs of languages; then topics."""
    of = (data.manifest, data.names)
    return _section(
        "consensus",
        [
            pair_maps(_frame(data, "consensus"), *of),
            by_topic(_frame(data, "consensus_by_topic"), *of),
        ],
    )


def origins(data: ReportData) -> FigureSection:
    """Where what is named comes from."""
    of = (data.manifest, data.names)
    return _section("origins", [origin_maps(_frame(data, "origins"), *of)])


def saturation(data: ReportData) -> FigureSection:
    """How many different things more responses name."""
    return _section("saturation", [saturation_curves(_frame(data, "saturation"), data.manifest, data.names)])


def _section(metric: str, figures: Sequence[Figure], estimators: PageTable | None = None) -> FigureSection:
    first, *others = figures
    shown = tuple(figure for figure in others if figure.rows)
    return FigureSection(texts().metrics[metric], first, shown, estimators)


def _frame(data: ReportData, table: str) -> pd.DataFrame:
    """A table's rows without the frame's `attrs`, which pandas copies deeply at every step."""
    found = data.frame(ReportTable(SQL / f"{table}.sql"))
    return pd.DataFrame(dict(found.items()))
