"""Granularity: a mark per model and language."""

from __future__ import annotations

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.charts import Dots, key_of
from polyculture.reports.figures.figure import Figure, Panel, basis, caption_of, extremes, make_figure, tidy
from polyculture.reports.names import Names, ordered
from polyculture.reports.texts import texts
from polyculture.reports.thin import FEWEST

NAME = "granularity"


def granularity(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """The figure from the rows of `sql/granularity.sql`: a mark per model and language."""
    found = frame.dropna(subset=["estimate"])
    models = ordered(manifest.models, found["model"])
    rows = ordered(manifest.languages, found["language"])
    rests_on = basis(found["responses"].sum(), found["incidences"].sum())
    caption = caption_of(NAME, extremes=extremes(frame, NAME, names), basis=rests_on, fewest=str(FEWEST))
    chart = Dots(
        name=NAME,
        alternative=caption,
        frame=tidy(frame, "language", NAME, ("model", "language"), names).assign(series=frame["model"]),
        rows=rows,
        labels=[names.both(row) for row in rows],
        series=models,
        label=texts().figures[NAME].axis,
        limits=(0, 1),
    )
    panels = [[Panel("", chart)]] if rows else []
    keys = [key_of(names.model(model), index) for index, model in enumerate(models)]
    return make_figure(NAME, caption, panels, keys, "unmentioned")
