"""Diversity: a strip of countries per language, the native ones among the others."""

from __future__ import annotations

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.charts import SHORT, WIDE, Strip, axis_limits, key_of
from polyculture.reports.figures.figure import Figure, Key, Panel, basis, caption_of, extremes, make_figure, tidy
from polyculture.reports.names import Names, ordered
from polyculture.reports.texts import texts

NAME = "diversity"


def diversity(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """The figure from the rows of `sql/diversity.sql`: a panel per model, native countries among the others."""
    found = frame.dropna(subset=["estimate"])
    models = ordered(manifest.models, found["model"])
    caption = caption_of(NAME)
    limits = axis_limits(found[["estimate", "high"]])
    width = WIDE if len(models) == 1 else SHORT
    panels = [
        _panel(f"{NAME}-{number}", found[found["model"] == model], manifest, names, limits, width)
        for number, model in enumerate(models)
    ]
    native, others, mean = texts().figures[NAME].keys
    keys = [key_of(native, 0), Key(others, "○"), Key(mean, "|", 2)]
    missing = "unlinked" if "explicit" in manifest.conditions else "no_explicit"
    return make_figure(NAME, caption, [panels] if panels else [], keys, missing)


def _panel(
    name: str, own: pd.DataFrame, manifest: Manifest, names: Names, limits: tuple[float, float], width: float
) -> Panel:
    model = own["model"].iloc[0]
    rows = ordered(manifest.languages, own["language"])
    native = [names.native(*pair) for pair in zip(own["language"], own["country"], strict=True)]
    chart = Strip(
        name=name,
        alternative=f"{names.model(model)}. {extremes(own, NAME, names)}",
        frame=tidy(own, "language", NAME, ("language", "country"), names).assign(chosen=native, thin=""),
        rows=rows,
        labels=[names.language(row) for row in rows],
        label=texts().figures[NAME].axis,
        limits=limits,
        place={"model": model, "condition": "explicit"},
        width=width,
    )
    rests_on = basis(own["responses"].sum(), own["incidences"].sum())
    return Panel(names.model(model), chart, model, f"{extremes(own.drop(columns='model'), NAME, names)} {rests_on}")
