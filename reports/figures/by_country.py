"""Boxes that fix the country: for each country the numbers of all languages, its native languages marked."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.boxes import FEWEST_IN_BOX, Box, Boxes, Marked
from polyculture.reports.figures.charts import MARKERS, SHORT, WIDE, axis_limits, shape_of
from polyculture.reports.figures.figure import Figure, Key, Panel, caption_of, make_figure
from polyculture.reports.figures.mark import Mark
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import decimal, estimate, known
from polyculture.reports.texts import texts
from polyculture.reports.thin import FEWEST, rests_on

_IDS = {"granularity": "g", "diversity": "d", "specificity": "s", "specificity_gain": "n"}  # short: each mark has them
_COUNTS = ("diversity",)  # a count of few is no share of few

Row = Mapping[Hashable, Any]


def country_boxes(metric: str, frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """A panel per model, from rows of a model in a language about a country; see `sql/by_country.sql`."""
    found = frame.dropna(subset=["estimate"])
    limits = _limits(metric, found)
    panels = [
        _panel(
            f"{_IDS.get(metric, metric)}b{number}",
            metric,
            found[found["model"] == model],
            limits,
            manifest,
            names,
            model=model,
        )
        for number, model in enumerate(ordered(manifest.models, found["model"]))
    ]
    return _figure("boxes", metric, panels, manifest)


def topic_boxes(metric: str, frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """A panel per topic, from rows of a topic in a language about a country, means over models."""
    found = frame.dropna(subset=["estimate"])
    limits = _limits(metric, found)
    panels = [
        _panel(
            f"{_IDS.get(metric, metric)}t{number}",
            metric,
            found[found["topic"] == topic],
            limits,
            manifest,
            names,
            topic=topic,
        )
        for number, topic in enumerate(ordered(manifest.topics, found["topic"]))
    ]
    return _figure("topic_boxes", metric, panels, manifest)


def _figure(name: str, metric: str, panels: list[Panel], manifest: Manifest) -> Figure:
    said = texts().figures[name]
    native, middle, single, thin = said.keys
    boxes = [box for panel in panels if isinstance(panel.chart, Boxes) for box in panel.chart.boxes]
    drawn = [len(box.values) >= FEWEST_IN_BOX for box in boxes]
    keys = [
        Key(native, shape_of(MARKERS[3]), 1),
        *([Key(middle, "▭")] if any(drawn) else []),
        *([Key(single, "○")] if not all(drawn) else []),
        *([Key(thin, "▯")] if any(box.thin for box in boxes) else []),
    ]
    caption = caption_of(name, fewest=str(FEWEST))
    missing = "unlinked" if "explicit" in manifest.conditions else "no_explicit"
    title = said.title.format(metric=texts().metrics[metric].name)
    return make_figure(name, caption, [panels] if panels else [], keys, missing, title=title)


def _panel(
    name: str,
    metric: str,
    own: pd.DataFrame,
    limits: tuple[float, float],
    manifest: Manifest,
    names: Names,
    *,
    model: str = "",
    topic: str = "",
) -> Panel:
    title = names.model(model) if model else names.topic(topic)
    countries = names.by_region(ordered(manifest.countries, own["country"]))
    rows = {str(country): group.to_dict("records") for country, group in own.groupby("country")}
    starts = [names.region(one) != names.region(before) for before, one in itertools.pairwise(countries)]
    boxes = [
        _box(metric, country, rows[country], names, begins=begins)
        for country, begins in zip(countries, [False, *starts], strict=True)
    ]
    said = _above(metric, rows, names)
    place = {key: value for key, value in (("model", model), ("topic", topic)) if value}
    chart = Boxes(
        name=name,
        alternative=f"{texts().metrics[metric].name}, {title}. {said}",
        boxes=boxes,
        label=texts().metrics[metric].name.lower(),
        limits=limits,
        place={**place, "condition": "explicit"},
        width=WIDE if model else SHORT,
    )
    return Panel(title, chart, model, said)


def _box(metric: str, country: str, rows: Sequence[Row], names: Names, *, begins: bool) -> Box:
    values = sorted(float(row["estimate"]) for row in rows)
    few = [row for row in rows if _is_thin(metric, row)]
    native = [row for row in rows if names.native(str(row["language"]), country)]
    marked = [_marked(metric, country, row, names) for row in native]
    said = _spread(metric, country, rows, names)
    if few:
        said = f"{said}; {len(few)} of the {len(rows)} rest on fewer than {FEWEST} linked items"
    address = Mark(said, {"country": country}).address()
    return Box(names.country(country), values, address, marked, 2 * len(few) > len(rows), begins)


def _spread(metric: str, country: str, rows: Sequence[Row], names: Names) -> str:
    """'Japan, 13 languages: from 5.0 (Thai) to 12.0 (Japanese), median 9.1'."""
    low, high = (end(rows, key=lambda row: (row["estimate"], row["language"])) for end in (min, max))
    middle = decimal(float(pd.Series([row["estimate"] for row in rows]).median()), metric)
    ends = " to ".join(
        f"{decimal(row['estimate'], metric)} ({names.language(str(row['language']))})" for row in (low, high)
    )
    many = f"{len(rows)} {'language' if len(rows) == 1 else 'languages'}"
    return f"{names.country(country)}, {many}: from {ends}, median {middle}"


def _marked(metric: str, country: str, row: Row, names: Names) -> Marked:
    language = str(row["language"])
    low, high = known(row.get("low")), known(row.get("high"))
    found = estimate(metric, row["estimate"], low, high, without=known(row.get("no_interval")) or "no_interval")
    few = rests_on(row.get("incidences")) if _is_thin(metric, row) else None
    where = f"{names.country(country)}, {names.language(language)}, native"
    said = f"{where}: {found.value}, {found.interval or found.missing}{f'; {few}' if few else ''}"
    return Marked(float(row["estimate"]), low, high, Mark(said, {"language": language, "country": country}).address(),
                  few is not None)  # fmt: skip


def _is_thin(metric: str, row: Row) -> bool:
    return metric not in _COUNTS and rests_on(row.get("incidences")) is not None


def _above(metric: str, rows: Mapping[str, Sequence[Row]], names: Names) -> str:
    """A sentence on how often the native language is above the median of all languages."""
    above, asked = 0, 0
    for country, own in rows.items():
        native = [row["estimate"] for row in own if names.native(str(row["language"]), country)]
        if native and len(own) > len(native):
            asked += 1
            above += max(native) > pd.Series([row["estimate"] for row in own]).median()
    name = texts().metrics[metric].name.lower()
    return (
        f"In {above} of {asked} countries {name} in a native language is above the median of all languages."
        if asked
        else ""
    )


def _limits(metric: str, found: pd.DataFrame) -> tuple[float, float]:
    if metric == "granularity":
        return 0.0, 1.0
    numbers = found[[column for column in ("estimate", "high") if column in found]].astype(float)
    low, high = axis_limits(numbers)
    if metric != "specificity_gain":
        return low, high
    ends = found[[column for column in ("estimate", "low") if column in found]].astype(float).min().min()
    return 1.05 * min(float(ends), 0.0), high
