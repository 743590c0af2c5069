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
    found = {side: _of_side(frame, side) for side in words().figures[NAME].panels}
    ends = {side: extremes(rows, metric_of(side), names) for side, rows in found.items()}
    caption = caption_of(NAME, **ends, dash=words().missing["unlinked"])
    tops = {"neutral": reach(found["neutral"]["estimate"]), "gain": reach(pd.concat([*found.values()][1:])["estimate"])}
    rows = []
    for number, model in enumerate(ordered(manifest.models, frame.dropna(subset=["estimate"])["model"])):
        own = {side: rows[rows["model"] == model] for side, rows in found.items()}
        rows.append(
            [
                _panel(f"{NAME}-{side}-{number}", side, part, tops.get(side, tops["gain"]), manifest, names)
                for side, part in own.items()
                if part["estimate"].notna().any()
            ]
        )
    keys = [Key(label, "outline") for label in words().figures[NAME].keys]
    missing = "unlinked" if "neutral" in manifest.conditions else "no_neutral"
    return make_figure(NAME, frame, caption, rows, keys, missing)


def metric_of(side: str) -> str:
    """The metric of a panel."""
    return "specificity" if side == "neutral" else "specificity_gain"


def _of_side(frame: pd.DataFrame, side: str) -> pd.DataFrame:
    """The rows of a panel: of one condition, or the means of both kinds of names."""
    rows = frame[(frame["metric"] == metric_of(side)) & frame["condition"].str.startswith(side)]
    means = rows.astype({"estimate": float}).groupby(["model", "language", "country"])["estimate"].mean()
    return means.reset_index()


def _panel(name: str, side: str, own: pd.DataFrame, top: float, manifest: Manifest, names: Names) -> Panel:
    signed = side != "neutral"
    model = own["model"].iloc[0]
    title = f"{names.model(model)}: {words().figures[NAME].panels[side]}"
    table = cross_table(own, "country", "language", manifest.countries, manifest.languages)
    chart = Heat(
        name=name,
        alternative=f"{title}. {extremes(own, metric_of(side), names)}",
        table=table,
        rows=[names.country(country) for country in table.index],
        columns=list(table.columns),
        limits=(-top if signed else 0.0, top),
        outlined=frozenset((c, lang) for c in table.index for lang in table.columns if names.native(lang, c)),
        signed=signed,
        asked=frozenset(zip(own["country"], own["language"], strict=True)),
        cell={"model": model, "condition": side},
    )
    return Panel(title, chart.draw())
