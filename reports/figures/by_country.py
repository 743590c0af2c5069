"""Boxes that fix the country: for each country the numbers of all languages, its native languages marked."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from statistics import median
from typing import Any

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.chart import Mark
from polyculture.reports.figures.figure import COUNTS, Figure, Key, Panel, make_figure, number_mark
from polyculture.reports.figures.kinds import FEWEST_IN_BOX, SHORT, WIDE, axis_limits, boxes
from polyculture.reports.figures.style import SHAPES
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import FEWEST, decimal, rests_on
from polyculture.reports.texts import texts

Row = Mapping[Hashable, Any]
_NO_INTERVAL = ("low", "high")  # columns that means over models have not


def country_boxes(metric: str, frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """A panel per model, from rows of a model in a language about a country; see `sql/by_country.sql`."""
    return _figure("boxes", metric, "model", frame, manifest, names)


def topic_boxes(metric: str, frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """A panel per topic, from rows of a topic in a language about a country, means over models."""
    return _figure("topic_boxes", metric, "topic", frame, manifest, names)


def _figure(name: str, metric: str, by: str, frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    found = frame.reindex(columns=[*frame.columns, *(name for name in _NO_INTERVAL if name not in frame)])
    found = found.dropna(subset=["estimate"]).astype({"estimate": float, "low": float, "high": float})
    native = [names.native(str(row.language), str(row.country)) for row in found.itertuples()]
    few = [metric not in COUNTS and rests_on(items) is not None for items in found["incidences"]]
    found = found.assign(value=found["estimate"], row=found["country"], chosen=native, thin=few)
    limits = _limits(metric, found)
    groups = ordered(manifest.models if by == "model" else manifest.topics, found[by])
    panels = [_panel(metric, by, one, found[found[by] == one], limits, manifest, names) for one in groups]
    boxed = found.groupby([by, "country"]).agg(many=("value", "size"), thin=("thin", "mean"))
    shown = (
        True,
        (boxed["many"] >= FEWEST_IN_BOX).any(),
        (boxed["many"] < FEWEST_IN_BOX).any(),
        (boxed["thin"] > 0.5).any(),
    )
    marks = ((SHAPES["D"], 1), ("▭", 0), ("○", 0), ("▯", 0))
    keys = [
        Key(label, *mark)
        for label, mark, is_shown in zip(texts().figures[name].keys, marks, shown, strict=True)
        if is_shown
    ]
    missing = manifest.why_without("explicit") or "unlinked"
    return make_figure(name, [panels], keys, missing, metric=metric, values={"fewest": str(FEWEST)})


def _panel(
    metric: str, by: str, one: str, own: pd.DataFrame, limits: tuple[float, float], manifest: Manifest, names: Names
) -> Panel:
    title = names.model(one) if by == "model" else names.topic(one)
    countries = names.by_region(ordered(manifest.countries, own["country"]))
    rows = own.to_dict("records")  # a frame's rows one by one would take longer than all else here
    groups: dict[str, list[Row]] = {country: [] for country in countries}
    for row in rows:
        groups[row["country"]].append(row)
    marks = [
        number_mark(row, metric, {axis: row[axis] for axis in ("country", "language")}, names, "native")
        if row["chosen"]
        else None
        for row in rows
    ]
    said = _above(metric, groups)
    name = texts().metrics[metric].name
    chart = boxes(
        own.assign(mark=pd.Series(marks, own.index, dtype=object)),
        alternative=f"{name}, {title}. {said}",
        rows={country: names.country(country) for country in countries},
        says={country: _box_mark(metric, country, groups[country], names) for country in countries},
        label=name.lower(),
        limits=limits,
        begins=[one for before, one in itertools.pairwise(countries) if names.region(one) != names.region(before)],
        place={by: one, "condition": "explicit"},
        width=WIDE if by == "model" else SHORT,
    )
    return Panel(title, chart, one if by == "model" else "", said)


def _box_mark(metric: str, country: str, rows: Sequence[Row], names: Names) -> Mark:
    """'Japan, 13 languages: from 5.0 (Thai) to 12.0 (Japanese), median 9.1'."""
    ranked = sorted(rows, key=lambda row: (row["value"], row["language"]))
    ends = " to ".join(
        f"{decimal(row['value'], metric)} ({names.language(row['language'])})" for row in (ranked[0], ranked[-1])
    )
    many = f"{len(rows)} {'language' if len(rows) == 1 else 'languages'}"
    middle = decimal(median(row["value"] for row in rows), metric)
    said = f"{names.country(country)}, {many}: from {ends}, median {middle}"
    few = sum(row["thin"] for row in rows)
    rest = f"; {few} of the {len(rows)} rest on fewer than {FEWEST} linked items" if few else ""
    return Mark(f"{said}{rest}", {"country": country})


def _above(metric: str, groups: Mapping[str, Sequence[Row]]) -> str:
    """A sentence on how often the native language is above the median of all languages."""
    asked = [rows for rows in groups.values() if 0 < sum(row["chosen"] for row in rows) < len(rows)]
    above = sum(
        max(row["value"] for row in rows if row["chosen"]) > median(row["value"] for row in rows) for rows in asked
    )
    name = texts().metrics[metric].name.lower()
    end = f"{name} in a native language is above the median of all languages."
    return f"In {above} of {len(asked)} countries {end}" if asked else ""


def _limits(metric: str, found: pd.DataFrame) -> tuple[float, float]:
    if metric == "granularity":
        return 0.0, 1.0
    ends = found[["value", "low", "high"]]
    low, high = axis_limits(ends)
    return (min(low, 1.05 * float(ends.min().min())) if metric == "specificity_gain" else low), high
