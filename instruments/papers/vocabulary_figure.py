"""Figures of the Cultural Bias Score against the share of a language in a model's vocabulary."""

from __future__ import annotations

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.instruments.papers.culture_figures import WORDS, models_of, place_of
from polyculture.reports.figures.figure import Panel
from polyculture.reports.figures.kinds import axis_limits, scatter
from polyculture.reports.names import Names

PER_CENT = 100


def vocabulary_panels(frame: pd.DataFrame, scores: pd.DataFrame, manifest: Manifest, names: Names) -> tuple[Panel, ...]:
    """A panel per data set, form, setting and way to count: a point per model, language and culture.

    `frame` is that of `culture_vocabularies.sql`; the models have the colours and shapes that they have among `scores`.
    """
    by_panel = frame.groupby(["dataset", "form", "setting", "characters"], sort=True)
    return tuple(_panel(tuple(map(str, key)), own, models_of(scores, manifest), names) for key, own in by_panel)


def _panel(key: tuple[str, ...], own: pd.DataFrame, models: list[str], names: Names) -> Panel:
    dataset, form, setting, characters = key
    title = f"{dataset}, {setting} contexts, {form}"
    places = [place_of(str(row.language), str(row.culture), names) for row in own.itertuples()]
    points = own.assign(name=places, x=own["share"] * PER_CENT).rename(columns={"model": "series", "estimate": "y"})
    points = points[["series", "name", "x", "y", "low", "high"]].astype(
        {"x": float, "y": float, "low": float, "high": float}
    )
    said = f"{WORDS['vocabulary']} ({WORDS['characters'][characters]}): {title}. {_in_words(points, models, names)}"
    chart = scatter(
        points,
        alternative=said,
        series=models,
        labels=(WORDS["characters"][characters], WORDS["axis"]),
        limits=(axis_limits(points[["x"]]), (0.0, 1.0)),
    )
    return Panel(title, chart)


def _in_words(points: pd.DataFrame, models: list[str], names: Names) -> str:
    """All points as text, for those who do not see them."""
    return "; ".join(
        f"{names.model(model)}, {row.name}: {row.x:.2f} %, {row.y:.2f}"
        for model in models
        for row in points[points["series"] == model].itertuples()
    )
