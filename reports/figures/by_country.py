"""Boxes that fix the country: its diversity in a native language, beside a box of all other languages."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import pandas as pd

from polyculture.cache.store.manifest import Manifest
from polyculture.reports.figures.chart import Mark
from polyculture.reports.figures.figure import Figure, Key, Panel, key_of, make_figure, number_mark
from polyculture.reports.figures.kinds import FEWEST_IN_BOX, axis_limits, boxes
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import Row, decimal
from polyculture.reports.texts import texts

NATIVE, OTHER = "native", "other"


def country_boxes(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """A panel per model, all on one scale, from the rows of `sql/diversity.sql`."""
    found = frame.dropna(subset=["estimate"]).astype({"estimate": float, "low": float, "high": float})
    native = [names.native(str(row.language), str(row.country)) for row in found.itertuples()]
    found = found.assign(
        row=found["country"], value=found["estimate"], series=[NATIVE if one else OTHER for one in native]
    )
    limits = axis_limits(found[["value", "high"]])
    models = ordered(manifest.models, found["model"])
    panels = [_panel(model, found[found["model"] == model], limits, manifest, names) for model in models]
    many = found[found["series"] == OTHER].groupby(["model", "country"]).size() >= FEWEST_IN_BOX
    native_key, box_key, other_key = texts().figures["boxes"].keys
    keys = [
        *([key_of(native_key, 0)] if any(native) else []),
        *([Key(box_key, "outline")] if many.any() else []),
        *([key_of(other_key, 1)] if not many.all() else []),
    ]
    return make_figure("boxes", [panels], keys, manifest.why_without("explicit") or "unlinked")


def _panel(model: str, own: pd.DataFrame, limits: tuple[float, float], manifest: Manifest, names: Names) -> Panel:
    title, name = names.model(model), texts().metrics["diversity"].name
    countries = names.by_region(ordered(manifest.countries, own["country"]))
    rows = own.to_dict("records")
    marks = [
        number_mark(row, "diversity", {axis: row[axis] for axis in ("country", "language")}, names) for row in rows
    ]
    others = {
        country: [row for row in rows if (row["row"], row["series"]) == (country, OTHER)] for country in countries
    }
    said = _above(own)
    chart = boxes(
        own.assign(mark=pd.Series(marks, own.index, dtype=object)),
        alternative=f"{name}, {title}. {said}",
        rows={country: names.country(country) for country in countries},
        says={country: _box_mark(country, some, names) for country, some in others.items() if some},
        series=(NATIVE, OTHER),
        label=name.lower(),
        limits=limits,
        place={"model": model, "condition": "explicit"},
    )
    return Panel(title, chart, model, said)


def _box_mark(country: str, rows: Sequence[Row], names: Names) -> Mark:
    """'Japan, 12 other languages: from 5.0 (Thai) to 12.0 (Arabic), median 9.1'."""
    ranked = sorted(rows, key=lambda row: (row["value"], row["language"]))
    ends = " to ".join(
        f"{decimal(row['value'], 'diversity')} ({names.language(row['language'])})" for row in (ranked[0], ranked[-1])
    )
    middle = decimal(median(row["value"] for row in rows), "diversity")
    return Mark(
        f"{names.country(country)}, {len(rows)} other languages: from {ends}, median {middle}", {"country": country}
    )


def _above(own: pd.DataFrame) -> str:
    """A sentence on how often a native language is above the median of the others; of several, their median is."""
    medians = own.pivot_table(index="country", columns="series", values="value", aggfunc="median")
    if not {NATIVE, OTHER} <= set(medians):
        return ""
    both = medians.dropna()
    above = int((both[NATIVE] > both[OTHER]).sum())
    return (
        f"The native language is above the median of the others in {above} of {len(both)} countries."
        if len(both)
        else ""
    )
