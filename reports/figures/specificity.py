"""Culture specificity: maps of country x language per model: the shares, and the gain of naming the country."""

from __future__ import annotations

from dataclasses import replace

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
    reach,
    thin_cells,
)
from polyculture.reports.figures.heat import Heat
from polyculture.reports.names import Names, ordered
from polyculture.reports.texts import texts
from polyculture.reports.thin import FEWEST

NAME = "specificity"
GAIN = "specificity_gain"
FIRST = "explicit"  # the condition whose maps stand open
SELDOM = ("audience", "implicit_male", "implicit_female")  # conditions that not all runs ask: told only where they were


def specificity(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """The figure from the rows of `sql/specificity.sql`: maps per model; those that name no country stand in a fold."""
    found = {panel: _of_panel(frame, *panel.split()) for panel in texts().figures[NAME].panels}
    missing = " ".join(_nothing(panel, rows, manifest) for panel, rows in found.items())
    caption = caption_of(NAME, missing=missing, dash=texts().missing["unlinked"], fewest=str(FEWEST))
    known = frame.dropna(subset=["estimate"])
    tops = {
        metric: reach(pd.concat([rows for panel, rows in found.items() if panel.split()[0] == metric])["estimate"])
        for metric in (NAME, GAIN)
    }
    drawn = [
        (panel, _panel(panel, part, tops[panel.split()[0]], manifest, names))
        for model in ordered(manifest.models, known["model"])
        for panel, rows in found.items()
        if (part := rows[rows["model"] == model])["estimate"].notna().any()
    ]
    keys = [Key(label, "outline") for label in texts().figures[NAME].keys]
    first = [panel for name, panel in drawn if name.endswith(FIRST)]
    rest = [panel for name, panel in drawn if not name.endswith(FIRST)]
    if not first:
        return make_figure(NAME, caption, [rest] if rest else [], keys, "unlinked")
    figure = make_figure(NAME, caption, [first], keys, "unlinked")
    return replace(figure, folded=tuple(rest), fold=texts().figures[NAME].fold)


def _of_panel(frame: pd.DataFrame, metric: str, condition: str) -> pd.DataFrame:
    """The rows of a panel: those of a metric under a condition."""
    return frame[(frame["metric"] == metric) & (frame["condition"] == condition)].astype({"estimate": float})


def _nothing(panel: str, rows: pd.DataFrame, manifest: Manifest) -> str:
    """A sentence on a panel without a number; empty for others, and for a condition that few runs ask."""
    if rows["estimate"].notna().any() or (rows.empty and panel.endswith(SELDOM)):
        return ""
    from_nowhere = panel.startswith(GAIN) and "neutral" not in manifest.conditions
    reason = "not_asked" if rows.empty else "no_neutral" if from_nowhere else "unlinked"
    title = texts().figures[NAME].panels[panel]
    return f"{title[0].upper()}{title[1:]}: {texts().missing[reason]}."


def _panel(panel: str, own: pd.DataFrame, top: float, manifest: Manifest, names: Names) -> Panel:
    metric, condition = panel.split()
    model = own["model"].iloc[0]
    title = f"{names.model(model)}: {texts().figures[NAME].panels[panel]}"
    table = cross_table(own, "country", "language", names.by_region(manifest.countries), manifest.languages)
    said = extremes(own.drop(columns="model"), metric, names)
    chart = Heat(
        caption=f"{title}. {said}",
        table=table,
        rows=[names.country(country) for country in table.index],
        columns=list(table.columns),
        limits=(-top if metric == GAIN else 0.0, top),
        axes=("country", "language"),
        cell={"model": model, "condition": condition},
        outlined=frozenset((c, lang) for c in table.index for lang in table.columns if names.native(lang, c)),
        signed=metric == GAIN,
        asked=frozenset(zip(own["country"], own["language"], strict=True)),
        thin=thin_cells(own, "country", "language"),
        details=details(own, "country", "language", metric),
        lacking=lacking_most(own),
        blocks={country: names.region(country) for country in table.index},
    )
    return Panel(title, chart, model, said)
