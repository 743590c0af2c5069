"""Boxes that fix the country: for each country the diversity of all languages, its native languages marked."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from statistics import median
from typing import Any

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.chart import Mark
from polyculture.reports.figures.figure import Figure, Key, Panel, make_figure, number_mark
from polyculture.reports.figures.kinds import FEWEST_IN_BOX, axis_limits, boxes
from polyculture.reports.figures.style import SHAPES
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import decimal
from polyculture.reports.texts import texts

Row = Mapping[Hashable, Any]


def country_boxes(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """A panel per model, from the rows of `sql/diversity.sql`."""
    found = frame.dropna(subset=["estimate"]).astype({"estimate": float, "low": float, "high": float})
    native = [names.native(str(row.language), str(row.country)) for row in found.itertuples()]
    found = found.assign(value=found["estimate"], row=found["country"], chosen=native)
    limits = axis_limits(found[["value", "low", "high"]])
    models = ordered(manifest.models, found["model"])
    panels = [_panel(model, found[found["model"] == model], limits, manifest, names) for model in models]
    many = found.groupby(["model", "country"]).size()
    shown = (any(native), (many >= FEWEST_IN_BOX).any(), (many < FEWEST_IN_BOX).any())
    marks = ((SHAPES["D"], 1), ("▭", 0), ("○", 0))
    keys = [
        Key(label, *mark)
        for label, mark, is_shown in zip(texts().figures["boxes"].keys, marks, shown, strict=True)
        if is_shown
    ]
    return make_figure("boxes", [panels], keys, manifest.why_without("explicit") or "unlinked")


def _panel(model: str, own: pd.DataFrame, limits: tuple[float, float], manifest: Manifest, names: Names) -> Panel:
    title = names.model(model)
    countries = names.by_region(ordered(manifest.countries, own["country"]))
    rows = own.to_dict("records")  # a frame's rows one by one would take longer than all else here
    groups: dict[str, list[Row]] = {country: [] for country in countries}
    for row in rows:
        groups[row["country"]].append(row)
    marks = [
        number_mark(row, "diversity", {axis: row[axis] for axis in ("country", "language")}, names, "native")
        if row["chosen"]
        else None
        for row in rows
    ]
    said = _above(groups)
    name = texts().metrics["diversity"].name
    chart = boxes(
        own.assign(mark=pd.Series(marks, own.index, dtype=object)),
        alternative=f"{name}, {title}. {said}",
        rows={country: names.country(country) for country in countries},
        says={country: _box_mark(country, groups[country], names) for country in countries},
        label=name.lower(),
        limits=limits,
        begins=[one for before, one in itertools.pairwise(countries) if names.region(one) != names.region(before)],
        place={"model": model, "condition": "explicit"},
    )
    return Panel(title, chart, model, said)


def _box_mark(country: str, rows: Sequence[Row], names: Names) -> Mark:
    """'Japan, 13 languages: from 5.0 (Thai) to 12.0 (Japanese), median 9.1'."""
    ranked = sorted(rows, key=lambda row: (row["value"], row["language"]))
    ends = " to ".join(
        f"{decimal(row['value'], 'diversity')} ({names.language(row['language'])})" for row in (ranked[0], ranked[-1])
    )
    middle = decimal(median(row["value"] for row in rows), "diversity")
    return Mark(f"{names.country(country)}, {len(rows)} languages: from {ends}, median {middle}", {"country": country})


def _above(groups: Mapping[str, Sequence[Row]]) -> str:
    """A sentence on how often the native language is above the median of all languages."""
    asked = [rows for rows in groups.values() if 0 < sum(row["chosen"] for row in rows) < len(rows)]
    above = sum(
        max(row["value"] for row in rows if row["chosen"]) > median(row["value"] for row in rows) for rows in asked
    )
    return (
        f"In {above} of {len(asked)} countries a native language is above the median of all languages." if asked else ""
    )
