"""Culture specificity: per model a map of country x language, and beside it what naming the country adds."""

from __future__ import annotations

import pandas as pd

from cache.manifest import Manifest
from reports.figures.figure import Figure, Key, Panel, caption_of, cross_table, extremes, make_figure, reach
from reports.figures.heat import Heat
from reports.names import Names, ordered
from reports.reading import Reading
from reports.words import words

NAME = "specificity"


def specificity(reading: Reading, manifest: Manifest, names: Names) -> Figure:
    """How much of what is named belongs to the country, and what naming the country adds."""
    frame = reading.frame(NAME)
    sides = {metric: frame[frame["metric"] == metric] for metric in words().figures[NAME].panels}
    ends = {metric: extremes(side, metric, names) for metric, side in sides.items()}
    caption = caption_of(
        NAME, neutral=ends["specificity"], gain=ends["specificity_gain"], dash=words().missing["unlinked"]
    )
    rows = []
    for number, model in enumerate(ordered(manifest.models, frame.dropna(subset=["estimate"])["model"])):
        own = {metric: side[side["model"] == model] for metric, side in sides.items()}
        rows.append(
            [
                _panel(f"{metric}-{number}", metric, side, reach(sides[metric]["estimate"]), manifest, names)
                for metric, side in own.items()
                if side["estimate"].notna().any()
            ]
        )
    keys = [Key(label, "outline") for label in words().figures[NAME].keys]
    missing = "unlinked" if "neutral" in manifest.conditions else "no_neutral"
    return make_figure(NAME, frame, caption, rows, keys, missing)


def _panel(name: str, metric: str, own: pd.DataFrame, top: float, manifest: Manifest, names: Names) -> Panel:
    signed = metric == "specificity_gain"
    title = f"{names.model(own['model'].iloc[0])}: {words().figures[NAME].panels[metric]}"
    table = cross_table(own, "country", "language", manifest.countries, manifest.languages)
    chart = Heat(
        name=name,
        alternative=f"{title}. {extremes(own, metric, names)}",
        table=table,
        rows=[names.country(country) for country in table.index],
        columns=list(table.columns),
        limits=(-top if signed else 0.0, top),
        outlined=frozenset((c, lang) for c in table.index for lang in table.columns if names.native(lang, c)),
        signed=signed,
    )
    return Panel(title, chart.draw())
