"""A map of countries x languages per model."""

from __future__ import annotations

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.figure import (
    Figure,
    Key,
    Panel,
    caption_of,
    cross_table,
    details,
    extremes,
    lacking_most,
    make_figure,
    thin_cells,
)
from polyculture.reports.figures.heat import Heat
from polyculture.reports.names import Names, ordered
from polyculture.reports.texts import texts
from polyculture.reports.thin import FEWEST

NAME = "country_map"


def country_map(metric: str, frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """A share of explicit prompts, from 0 to 1, for each model in each language about each country."""
    found = frame.dropna(subset=["estimate"])
    panels = [
        _panel(metric, frame[frame["model"] == model], manifest, names)
        for model in ordered(manifest.models, found["model"])
    ]
    said = texts().figures[NAME]
    name = texts().metrics[metric].name
    caption = caption_of(NAME, metric=name, fewest=str(FEWEST))
    keys = [Key(label, "outline") for label in said.keys]
    missing = "unlinked" if "explicit" in manifest.conditions else "no_explicit"
    return make_figure(NAME, caption, [panels] if panels else [], keys, missing, title=said.title.format(metric=name))


def _panel(metric: str, own: pd.DataFrame, manifest: Manifest, names: Names) -> Panel:
    model = str(own["model"].iloc[0])
    title = names.model(model)
    table = cross_table(own, "country", "language", names.by_region(manifest.countries), manifest.languages)
    said = extremes(own.drop(columns="model"), metric, names)
    chart = Heat(
        caption=f"{texts().metrics[metric].name}, {title}. {said}",
        table=table,
        rows=[names.country(country) for country in table.index],
        columns=list(table.columns),
        limits=(0.0, 1.0),
        axes=("country", "language"),
        cell={"model": model, "condition": "explicit"},
        outlined=frozenset((c, lang) for c in table.index for lang in table.columns if names.native(lang, c)),
        asked=frozenset(zip(own["country"], own["language"], strict=True)),
        thin=thin_cells(own, "country", "language"),
        details=details(own, "country", "language", metric),
        lacking=lacking_most(own),
        blocks={country: names.region(country) for country in table.index},
    )
    return Panel(title, chart, model, said)
