"""The trust-weighted map: country x language; colour a share, area what it rests on, hatched where it says little."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.figure import Figure, Key, Panel, caption_of, cross_table, make_figure, reach
from polyculture.reports.figures.heat import Heat
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import count, decimal, known
from polyculture.reports.texts import texts

NAME = "trust"
METRIC = "specificity"
Row = Mapping[Hashable, Any]
_PAIR = ["model", "language", "country"]


def trust(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """The map of each model, from the rows of `sql/specificity.sql`."""
    rows = frame[frame["metric"] == METRIC]
    neutral = rows[rows["condition"] == "neutral"][[*_PAIR, "estimate"]].rename(columns={"estimate": "neutral"})
    explicit = rows[rows["condition"] == "explicit"].merge(neutral, on=_PAIR, how="left").dropna(subset=["estimate"])
    top = reach(explicit["estimate"].astype(float))
    most = float(explicit["incidences"].max()) if len(explicit) else 0.0
    unknown = int(explicit["low"].isna().sum())
    without = (
        f"; {count(unknown)} of {count(len(explicit))} squares have no interval and are hatched, too" if unknown else ""
    )
    caption = caption_of(NAME, most=count(most), without=without)
    panels = [
        _panel(explicit[explicit["model"] == model], top, most, manifest, names)
        for model in ordered(manifest.models, explicit["model"])
    ]
    keys = [Key(label, "outline") for label in texts().figures[NAME].keys]
    missing = "unlinked" if "explicit" in manifest.conditions else "no_explicit"
    return make_figure(NAME, caption, [panels] if panels else [], keys, missing)


def _panel(own: pd.DataFrame, top: float, most: float, manifest: Manifest, names: Names) -> Panel:
    model = str(own["model"].iloc[0])
    title = names.model(model)
    table = cross_table(own, "country", "language", names.by_region(manifest.countries), manifest.languages)
    records = {(str(row["country"]), str(row["language"])): row for row in own.to_dict("records")}
    covered = frozenset(place for place, row in records.items() if _says_little(row))
    told = len(records) - len(covered)
    said = f"{count(told)} of {count(len(records))} squares have an interval that lies apart from the neutral share."
    chart = Heat(
        caption=f"{texts().figures[NAME].title}, {title}. {said}",
        table=table,
        rows=[names.country(country) for country in table.index],
        columns=list(table.columns),
        limits=(0.0, top),
        axes=("country", "language"),
        cell={"model": model, "condition": "explicit"},
        outlined=frozenset((c, lang) for c in table.index for lang in table.columns if names.native(lang, c)),
        asked=frozenset(records),
        details={place: _details(row) for place, row in records.items()},
        blocks={country: names.region(country) for country in table.index},
        areas={place: float(row["incidences"]) / most for place, row in records.items() if most},
        hatched=covered,
    )
    return Panel(title, chart, model, said)


def _says_little(row: Row) -> bool:
    """Does the interval cover the neutral share, or is there none?"""
    low, high, neutral = (known(row[key]) for key in ("low", "high", "neutral"))
    return low is None or high is None or (neutral is not None and low <= neutral <= high)


def _details(row: Row) -> str:
    low, high, neutral = (known(row[key]) for key in ("low", "high", "neutral"))
    interval = "no interval" if low is None else f"{decimal(low, METRIC)} to {decimal(high, METRIC)}"
    beside = "" if neutral is None else f"; neutral {decimal(neutral, METRIC)}"
    return f"{interval}{beside}; n = {count(row['incidences'])}"
