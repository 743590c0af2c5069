"""Where the naming goes: per model two maps of own languages x origins, without and with the country's name."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.figure import Figure, Key, Panel, caption_of, make_figure, reach
from polyculture.reports.figures.heat import Heat
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import count, decimal, known
from polyculture.reports.texts import texts

NAME = "naming"
KINDS = ("more", "several", "former state", "other", "none")
Row = Mapping[Hashable, Any]
Shares = Mapping[tuple[str, str], Row]  # by row of the map and origin


def naming(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """The figure from the rows of `reports.naming`: a row of two maps per model, all on one scale."""
    said = texts().figures[NAME]
    frame = frame.assign(row=[f"{row['country']} {row['language']}" for row in frame.to_dict("records")])
    found = set(frame["origin"])
    columns = [*names.by_region(sorted(found - set(KINDS))), *(kind for kind in KINDS if kind in found)]
    top = reach(frame["estimate"].astype(float))
    rows = []
    for model in ordered(manifest.models, frame["model"]):
        own = frame[frame["model"] == model]
        halves = {condition: _shares(own, condition) for condition in ("neutral", "explicit")}
        rows.append([_panel(model, condition, halves, columns, top, manifest, names) for condition in halves])
    keys = [Key(label, "outline") for label in said.keys]
    missing = next((f"no_{name}" for name in ("explicit", "neutral") if name not in manifest.conditions), "no_origins")
    return make_figure(NAME, caption_of(NAME), rows, keys, missing)


def _shares(own: pd.DataFrame, condition: str) -> Shares:
    rows = own[own["condition"] == condition].to_dict("records")
    return {(str(row["row"]), str(row["origin"])): row for row in rows}


def _panel(
    model: str,
    condition: str,
    halves: Mapping[str, Shares],
    columns: list[str],
    top: float,
    manifest: Manifest,
    names: Names,
) -> Panel:
    said = texts().figures[NAME]
    shares = halves[condition]
    other = halves["explicit" if condition == "neutral" else "neutral"]
    pairs = {place: (str(row["country"]), str(row["language"])) for (place, _), row in shares.items()}
    order = names.by_region(manifest.countries)
    places = sorted(pairs, key=lambda place: (order.index(pairs[place][0]), pairs[place][1]))
    values = [[_value(shares.get((place, origin))) for origin in columns] for place in places]
    title = f"{names.model(model)}, {said.panels[condition]}"
    home = [_value(shares.get((place, pairs[place][0]))) for place in places]
    sentence = f"From the country of the row: {decimal(sum(home) / len(home), NAME)}, the mean of {len(home)} rows."
    chart = Heat(
        caption=f"{said.title}, {title}. {sentence}",
        table=pd.DataFrame(values, index=places, columns=[_head(column, names) for column in columns]),
        rows=[f"{names.country(pairs[place][0])}, {pairs[place][1]}" for place in places],
        columns=[said.panels.get(column, column) for column in columns],
        limits=(0.0, top),
        axes=("country", "origin"),
        cell={"model": model, "condition": condition},
        outlined=frozenset((place, _head(pairs[place][0], names)) for place in places),
        details={
            (place, _head(origin, names)): _details(row, other.get((place, origin)), condition)
            for (place, origin), row in shares.items()
        },
        blocks={place: names.region(pairs[place][0]) for place in places},
        row_places={place: _place(*pairs[place], condition) for place in places},
    )
    return Panel(title, chart, model, sentence)


def _head(origin: str, names: Names) -> str:
    """The code of a column: what the evidence is searched for."""
    return "" if origin == "more" else origin if origin in KINDS else names.country(origin)


def _place(country: str, language: str, condition: str) -> dict[str, str]:
    return {"language": language, **({"country": country} if condition == "explicit" else {})}


def _value(row: Row | None) -> float:
    return float(row["estimate"]) if row else 0.0


def _details(row: Row, other: Row | None, condition: str) -> str:
    low, high = known(row["low"]), known(row["high"])
    interval = "no interval" if low is None or high is None else f"{decimal(low, NAME)} to {decimal(high, NAME)}"
    beside = "country named" if condition == "neutral" else "no country named"
    return f"{interval}; {beside}: {decimal(_value(other), NAME)}; n = {count(row['incidences'])}"
