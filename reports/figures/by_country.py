"""Boxes that fix the country: for each country the numbers of all languages, its native languages marked."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.chart import Mark
from polyculture.reports.figures.figure import Figure, Key, Panel, make_figure
from polyculture.reports.figures.kinds import FEWEST_IN_BOX, SHORT, WIDE, axis_limits, boxes
from polyculture.reports.figures.style import SHAPES
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import decimal, estimate, known
from polyculture.reports.texts import texts
from polyculture.reports.thin import FEWEST, rests_on

_COUNTS = ("diversity",)  # a count of few is no share of few


def country_boxes(metric: str, frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """A panel per model, from rows of a model in a language about a country; see `sql/by_country.sql`."""
    return _figure("boxes", metric, "model", frame, manifest, names)


def topic_boxes(metric: str, frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """A panel per topic, from rows of a topic in a language about a country, means over models."""
    return _figure("topic_boxes", metric, "topic", frame, manifest, names)


def _figure(name: str, metric: str, by: str, frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    found = frame.dropna(subset=["estimate"])
    if metric not in _COUNTS:
        found = found.assign(thin=[rests_on(items) is not None for items in found["incidences"]])
    else:
        found = found.assign(thin=False)
    found = found.assign(
        value=found["estimate"].astype(float),
        chosen=[names.native(str(row.language), str(row.country)) for row in found.itertuples()],
        row=found["country"],
    )
    limits = _limits(metric, found)
    groups = ordered(manifest.models if by == "model" else manifest.topics, found[by])
    panels = [_panel(metric, by, one, found[found[by] == one], limits, manifest, names) for one in groups]
    native, middle, single, thin = texts().figures[name].keys
    boxed = found.groupby([by, "country"]).agg(many=("value", "size"), thin=("thin", "mean"))
    keys = [
        Key(native, SHAPES["D"], 1),
        *([Key(middle, "▭")] if (boxed["many"] >= FEWEST_IN_BOX).any() else []),
        *([Key(single, "○")] if (boxed["many"] < FEWEST_IN_BOX).any() else []),
        *([Key(thin, "▯")] if (boxed["thin"] > 0.5).any() else []),
    ]
    missing = manifest.why_without("explicit") or "unlinked"
    return make_figure(name, [panels], keys, missing, metric=metric, values={"fewest": str(FEWEST)})


def _panel(
    metric: str,
    by: str,
    one: str,
    own: pd.DataFrame,
    limits: tuple[float, float],
    manifest: Manifest,
    names: Names,
) -> Panel:
    title = names.model(one) if by == "model" else names.topic(one)
    countries = names.by_region(ordered(manifest.countries, own["country"]))
    groups = {str(country): group for country, group in own.groupby("country")}
    marks = [_native_mark(metric, row, names) if row.chosen else None for row in own.itertuples()]
    own = own.assign(mark=pd.Series(marks, own.index, dtype=object))
    said = _above(metric, own)
    name = texts().metrics[metric].name
    place = {"low": float("nan"), "high": float("nan")} if "low" not in own else {}
    chart = boxes(
        own.assign(**place)[["row", "value", "low", "high", "thin", "chosen", "mark"]].astype(
            {"low": float, "high": float}
        ),
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


def _box_mark(metric: str, country: str, own: pd.DataFrame, names: Names) -> Mark:
    """'Japan, 13 languages: from 5.0 (Thai) to 12.0 (Japanese), median 9.1'."""
    rows = own.sort_values(["value", "language"])
    ends = " to ".join(
        f"{decimal(row['value'], metric)} ({names.language(row['language'])})"
        for row in rows.iloc[[0, -1]].to_dict("records")
    )
    many = f"{len(rows)} {'language' if len(rows) == 1 else 'languages'}"
    said = f"{names.country(country)}, {many}: from {ends}, median {decimal(float(rows['value'].median()), metric)}"
    few = int(rows["thin"].sum())
    rest = f"; {few} of the {len(rows)} rest on fewer than {FEWEST} linked items" if few else ""
    return Mark(f"{said}{rest}", {"country": country})


def _native_mark(metric: str, row: Any, names: Names) -> Mark:
    low, high = known(getattr(row, "low", None)), known(getattr(row, "high", None))
    found = estimate(metric, row.value, low, high, without=known(getattr(row, "no_interval", None)) or "no_interval")
    where = f"{names.country(row.country)}, {names.language(row.language)}, native"
    few = f"; {rests_on(row.incidences)}" if row.thin else ""
    said = f"{where}: {found.value}, {found.interval or found.missing}{few}"
    return Mark(said, {"language": row.language, "country": row.country})


def _above(metric: str, own: pd.DataFrame) -> str:
    """A sentence on how often the native language is above the median of all languages."""
    asked: Sequence[pd.DataFrame] = [
        group for _, group in own.groupby("country") if group["chosen"].any() and not group["chosen"].all()
    ]
    above = sum(group.loc[group["chosen"], "value"].max() > group["value"].median() for group in asked)
    name = texts().metrics[metric].name.lower()
    end = f"{name} in a native language is above the median of all languages."
    return f"In {above} of {len(asked)} countries {end}" if asked else ""


def _limits(metric: str, found: pd.DataFrame) -> tuple[float, float]:
    if metric == "granularity":
        return 0.0, 1.0
    ends = found[[column for column in ("value", "low", "high") if column in found]].astype(float)
    low, high = axis_limits(ends)
    return (min(low, 1.05 * float(ends.min().min())) if metric == "specificity_gain" else low), high
