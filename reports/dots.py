"""The dot plot of the opening: models by metrics, each metric on one scale."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from polyculture.cache.store.manifest import Manifest
from polyculture.metrics.declared import RANGES, is_per_country
from polyculture.metrics.limits import disqualified
from polyculture.reports.headline import shared_note, shown_metrics
from polyculture.reports.names import Names
from polyculture.reports.numbers import FormattedEstimate, Rows, count, decimal, known
from polyculture.reports.texts import MetricText, texts

_STEPS = (1, 2, 5, 10)
_PARTS = 5  # of a scale, about
_NARROWEST = 0.1  # a scale of shares, and ten times as much of a count: a narrower one would show noise as a difference


@dataclass(frozen=True, slots=True)
class DotMark:
    """A dot with its interval, in percent of the scale, and what stands beside it."""

    found: FormattedEstimate
    at: float | None  # None where there is no number
    low: float | None  # None where there is no interval
    width: float | None
    rests: str  # 'n = 6,214': linked items, each counted once per response; empty where not known
    rank: str = ""  # 'rank 1 to 2 of 3', as far as differences tell the models apart; empty where nothing was tested


@dataclass(frozen=True, slots=True)
class Scale:
    """A metric and the ends of its scale."""

    metric: MetricText
    condition: str  # of the prompts that the metric is shown for; empty for all
    least: str
    most: str
    zero: float | None  # where 0 lies within the scale, in percent
    fixed: bool  # by the run's sources: it says nothing of models


@dataclass(frozen=True, slots=True)
class DotLine:
    """A model with a mark for each metric."""

    model: str
    name: str
    language: str | None  # None: over all its languages
    marks: tuple[DotMark, ...]


@dataclass(frozen=True, slots=True)
class Dots:
    """The plot."""

    scales: tuple[Scale, ...]
    lines: tuple[DotLine, ...]
    shared: str | None  # what is said where models lack numbers that others have


def dots(
    numbers: Rows,
    ranks: Rows,
    lines: Mapping[tuple[str, str | None], Mapping[str, Any]],
    manifest: Manifest,
    names: Names,
) -> Dots:
    """The plot of models over all their languages, from the rows of `sql/headline.sql` and the lines made of them.

    Where models were asked in different languages by design, lines of the languages that all were asked in come first:
    the means over all are not of the same prompts, and a model without any has no line of them. `ranks` are the rows
    of `sql/ranks.sql`; they stand beside the means that models are ranked by.
    """
    places = {(row["name"], row["metric"]): _rank(row) for row in ranks if row["dimension"] == "model"}
    metrics, fixed = shown_metrics(manifest), disqualified(manifest)
    shown = (*_languages_of_all(manifest), None)
    # Models are ranked by the cells that two of them met: no line is of these where they met in several languages.
    is_ranked = {shown[0]} if len(shown) <= 2 else set()
    found = {(row["model"], row["language"], row["metric"]): row for row in numbers if row["language"] in shown}
    ends = {metric: _ends([row for (*_, of), row in found.items() if of == metric], metric) for metric in metrics}
    drawn = [
        DotLine(
            model,
            names.model(model),
            language,
            tuple(
                replace(
                    _mark(line[metric], found.get((model, language, metric)), *ends[metric]),
                    rank=places.get((model, metric), "") if language in is_ranked else "",
                )
                for metric in metrics
            ),
        )
        for wanted in shown
        for (model, language), line in lines.items()
        if language == wanted
    ]
    return Dots(
        tuple(_scale(metric, *ends[metric], fixed=metric in fixed) for metric in metrics),
        tuple(
            line
            for line in drawn
            if len(shown) == 1 or line.language or any(mark.at is not None for mark in line.marks)
        ),
        shared_note(list(found.values())),
    )


def _languages_of_all(manifest: Manifest) -> tuple[str, ...]:
    """The languages that all models were asked in, where some were asked in fewer than others; else none."""
    own = [set(manifest.languages_of.get(model, manifest.languages)) for model in manifest.models]
    if all(one == own[0] for one in own):
        return ()
    return tuple(code for code in manifest.languages if all(code in one for one in own))


def _ends(rows: Rows, metric: str) -> tuple[float, float]:
    """Round numbers around all values and limits; 0 and 1 where there are none."""
    values = [row[name] for row in rows for name in ("estimate", "low", "high") if known(row[name]) is not None]
    if not values:
        return 0.0, 1.0
    least, most = _widened(min(values), max(values), metric)
    power = 10 ** math.floor(math.log10((most - least) / _PARTS))
    step = next(power * part for part in _STEPS if power * part >= (most - least) / _PARTS)
    return math.floor(least / step + 1e-9) * step, math.ceil(most / step - 1e-9) * step


def _widened(least: float, most: float, metric: str) -> tuple[float, float]:
    """The ends, at least so far apart that the last digit is no difference, and within what the metric can be."""
    lowest, highest = RANGES[metric]
    narrowest = _NARROWEST if math.isfinite(highest) else 10 * _NARROWEST
    lacks = max(0.0, narrowest - (most - least))
    least, most = least - lacks / 2, most + lacks / 2
    least, most = (lowest, most + lowest - least) if least < lowest else (least, most)
    return (least - most + highest, highest) if most > highest else (least, most)


def _scale(metric: str, least: float, most: float, *, fixed: bool) -> Scale:
    condition = "explicit" if is_per_country(metric) else ""
    zero = _percent(0, least, most) if least < 0 < most else None
    return Scale(texts().metrics[metric], condition, decimal(least, metric), decimal(most, metric), zero, fixed)


def _mark(found: FormattedEstimate, row: Mapping[str, Any] | None, least: float, most: float) -> DotMark:
    value = known(row["estimate"]) if row else None
    if row is None or value is None:
        return DotMark(found, None, None, None, "")
    low, high = known(row["low"]), known(row["high"])
    rests = known(row["incidences"])
    told = low is not None and high is not None
    begins = _percent(low, least, most) if told else None
    width = round(_percent(high, least, most) - begins, 2) if begins is not None else None
    return DotMark(
        found, _percent(value, least, most), begins, width, f"n = {count(rests)}" if rests is not None else ""
    )


def _rank(row: Mapping[str, Any]) -> str:
    low, high = row["rank_low"], row["rank_high"]
    return f"rank {low if low == high else f'{low} to {high}'} of {row['ranked']}"


def _percent(value: float, least: float, most: float) -> float:
    return round(100 * (value - least) / (most - least), 2)
