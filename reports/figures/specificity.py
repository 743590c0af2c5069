"""Culture specificity: maps of country x language per model: the shares, and the gain of naming the country."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.figure import Figure, Key, Panel, caption_of, cross_table, extremes, make_figure, reach
from polyculture.reports.figures.heat import Heat
from polyculture.reports.names import Names, ordered
from polyculture.reports.texts import texts

NAME = "specificity"
GAIN = "specificity_gain"
FIRST = "explicit"  # the condition whose maps stand open
AUDIENCE = "audience"  # a condition that few runs ask: told only where it was


def specificity(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """The figure from the rows of `sql/specificity.sql`: maps per model; those that name no country stand in a fold."""
    found = {panel: _of_panel(frame, *panel.split()) for panel in texts().figures[NAME].panels}
    ends = {
        panel.replace(" ", "_"): extremes(rows, panel.split()[0], names) or _nothing(panel, rows, manifest)
        for panel, rows in found.items()
    }
    audience = _sentences({panel: rows for panel, rows in found.items() if panel.endswith(AUDIENCE)}, ends)
    caption = caption_of(NAME, **ends, audience=audience, dash=texts().missing["unlinked"])
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
    """The rows of a panel: those of a condition, or the means over the kinds of names."""
    rows = frame[(frame["metric"] == metric) & frame["condition"].str.startswith(condition)]
    means = rows.astype({"estimate": float}).groupby(["model", "language", "country"])["estimate"].mean()
    return means.reset_index()


def _sentences(found: Mapping[str, pd.DataFrame], ends: Mapping[str, str]) -> str:
    titles = texts().figures[NAME].panels
    asked = {titles[panel]: ends[panel.replace(" ", "_")] for panel, rows in found.items() if not rows.empty}
    return " ".join(f"{title[0].upper()}{title[1:]}: {said}" for title, said in asked.items())


def _nothing(panel: str, rows: pd.DataFrame, manifest: Manifest) -> str:
    """The text of a panel without a number."""
    if rows.empty:
        return f"{texts().missing['not_asked']}."
    from_nowhere = panel.startswith(GAIN) and "neutral" not in manifest.conditions
    return f"{texts().missing['no_neutral' if from_nowhere else 'unlinked']}."


def _panel(panel: str, own: pd.DataFrame, top: float, manifest: Manifest, names: Names) -> Panel:
    metric, condition = panel.split()
    model = own["model"].iloc[0]
    title = f"{names.model(model)}: {texts().figures[NAME].panels[panel]}"
    table = cross_table(own, "country", "language", manifest.countries, manifest.languages)
    chart = Heat(
        caption=f"{title}. {extremes(own, metric, names)}",
        table=table,
        rows=[names.country(country) for country in table.index],
        columns=list(table.columns),
        limits=(-top if metric == GAIN else 0.0, top),
        axes=("country", "language"),
        cell={"model": model, "condition": condition},
        outlined=frozenset((c, lang) for c in table.index for lang in table.columns if names.native(lang, c)),
        signed=metric == GAIN,
        asked=frozenset(zip(own["country"], own["language"], strict=True)),
    )
    return Panel(title, chart, model)
