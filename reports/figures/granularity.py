"""Granularity: a mark per model and language."""

from __future__ import annotations

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.charts import Dots, key_of
from polyculture.reports.figures.figure import Figure, Panel, basis, caption_of, extremes, make_figure, tidy
from polyculture.reports.names import Names, ordered
from polyculture.reports.reading import Reading
from polyculture.reports.texts import words

NAME = "granularity"


def granularity(reading: Reading, manifest: Manifest, names: Names) -> Figure:
    """How specific the mentions are, by model and language."""
    frame = reading.frame(NAME)
    found = frame.dropna(subset=["estimate"])
    models = ordered(manifest.models, found["model"])
    rows = ordered(manifest.languages, found["language"])
    rests_on = basis(found["responses"].sum(), found["mentions"].sum(), "mentions")
    caption = caption_of(NAME, extremes=extremes(frame, NAME, names), basis=rests_on)
    chart = Dots(
        name=NAME,
        alternative=caption,
        frame=tidy(frame, "language", NAME, ("model", "language"), names).assign(series=frame["model"]),
        rows=rows,
        labels=[names.both(row) for row in rows],
        series=models,
        label=words().figures[NAME].axis,
        limits=(0, 1),
    )
    panels = [[Panel("", chart.draw())]] if rows else []
    keys = [key_of(names.model(model), index) for index, model in enumerate(models)]
    return make_figure(NAME, frame, caption, panels, keys, "unmentioned")
