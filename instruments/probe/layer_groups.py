"""The groups of the report's section: what the layers of one model hold, in one language, under one filter.

A group is a heat map of pairs of cultures, a Sankey diagram of the same scores, and lines by layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from polyculture.instruments.probe.sankey import sankey, split_at_mean
from polyculture.instruments.probe.tables import controls_missing
from polyculture.reports.figures.chart import Chart, Mark
from polyculture.reports.figures.figure import Key, Panel, key_of
from polyculture.reports.figures.heat import Heat, plain_heads
from polyculture.reports.figures.kinds import lines
from polyculture.reports.names import Names, ordered, short
from polyculture.reports.numbers import Row
from polyculture.reports.texts import section_texts

WORDS = section_texts(Path(__file__).with_name("section.toml")).words
_WIDE = 216.0  # points: two figures stand side by side
_TICKS = 8
_ASIDE = 0.15  # of the width: the distance of what has no layer from the first
ARMS = tuple(WORDS["arms"])  # the probe first, then its controls
FILTERS = tuple(WORDS["filters"])  # the one that is drawn first, first
UNIT = ("model", "dataset", "language", "filter")
SHOWN = 12  # groups that are drawn: a page holds no more; the store has all
SURE = 0.05


@dataclass(frozen=True, slots=True)
class LayerGroup:
    """What one model's layers hold, as it was asked in one language, under one filter."""

    title: str
    questions: int
    anchor: str  # where the diagram's bands lead
    withheld: str  # how many pairs have no interval, and why
    scores: Panel
    flows: Panel | None  # None where no pair shares anything
    layers: tuple[Panel, ...]
    keys: tuple[Key, ...]  # of the lines by layer
    uncontrolled: str  # which controls were not run; empty where all were


def layer_groups(
    pairs: Sequence[Row], layers: Sequence[Row], arms: Sequence[Row], names: Names
) -> tuple[tuple[LayerGroup, ...], int]:
    """The groups that are drawn, and how many are not. Every model and language comes before a second filter."""
    found = _by_unit(pairs)
    own_layers, own_arms = _by_unit(layers), _by_unit(arms)
    order = sorted(found, key=_first_filter_first)
    groups = [
        _group(f"layers-{number}", key, found[key], own_layers.get(key, []), own_arms.get(key, []), names)
        for number, key in enumerate(order[:SHOWN])
    ]
    return tuple(groups), len(order) - len(groups)


def said(what: str, code: str) -> str:
    """An arm or a filter in words; a code that nobody explains is its own name."""
    words: Mapping[str, str] = WORDS[what]
    return words.get(code, code)


def _first_filter_first(key: tuple[str, ...]) -> tuple[Any, ...]:
    return FILTERS.index(key[3]) if key[3] in FILTERS else len(FILTERS), key


def arms_of(rows: Sequence[Row]) -> list[str]:
    """The arms of rows, the probe first."""
    return ordered(ARMS, (row["arm"] for row in rows))


def _by_unit(rows: Sequence[Row]) -> dict[tuple[str, ...], list[Row]]:
    def unit(row: Row) -> tuple[str, ...]:
        return tuple(row[name] for name in UNIT)

    return {key: list(some) for key, some in groupby(sorted(rows, key=unit), key=unit)}


def _group(
    anchor: str, key: tuple[str, ...], rows: Sequence[Row], layers: Sequence[Row], compared: Sequence[Row], names: Names
) -> LayerGroup:
    model, dataset, language, name = key
    arms = arms_of(rows)
    arm = "" if arms[0] == ARMS[0] else f", {said('arms', arms[0])}"
    title = f"{names.model(model)}, {names.language(language)}, {short(dataset)}: {said('filters', name)}{arm}"
    title += said("protocols", rows[0]["protocol"])
    own = [row for row in rows if row["arm"] == arms[0]]
    return LayerGroup(
        title,
        own[0]["questions"],
        anchor,
        _withheld(own),
        _heat(WORDS["score"], own),
        _flows(title, own, anchor),
        tuple(_layer_panels(title, layers)),
        tuple(key_of(said("arms", arm), place) for place, arm in enumerate(arms_of(layers))),
        controls_missing([*arms, *(row["arm"] for row in compared)]),
    )


def _layer_panels(title: str, rows: Sequence[Row]) -> Iterator[Panel]:
    """Kept items per text and the echo rate, by layer: a line per arm."""
    arms = arms_of(rows)
    for name, value, most in (("items", "items", None), ("echo", "echo_rate", 1.0)):
        columns = {"arm": "series", "layer": "layer", value: "y", f"{value}_low": "low", f"{value}_high": "high"}
        frame = pd.DataFrame(
            [{new: row[old] for old, new in columns.items()} for row in rows], columns=list(columns.values())
        ).astype({"y": float, "low": float, "high": float})
        if frame["y"].notna().any():
            words = WORDS["by_layer"][name]
            yield Panel(words, _layer_lines(frame, f"{words}: {title}. {_in_words(frame, arms)}", arms, most))


def _layer_lines(frame: pd.DataFrame, alternative: str, arms: Sequence[str], top: float | None = None) -> Chart:
    """A line per arm with its 95 % band; the arm 'text' stands before the first layer.

    `frame` has the columns series (an arm), layer, y, low and high; layer 0 says that nothing was patched.

    `arms` are in the order of the legend, `top` is the end of the scale where the numbers have one.
    """
    last = int(frame["layer"].max())
    without = frame.groupby("series")["layer"].max() == 0
    aside = [arm for arm in arms if without.get(arm, False)]
    apart = max(last, 1) * _ASIDE
    places = {arm: 1 - apart * (1 + (len(aside) - 1 - number) / 4) for number, arm in enumerate(aside)}
    placed = frame.assign(x=frame["series"].map(places).fillna(frame["layer"]).astype(float))
    ticks = {float(layer): str(layer) for layer in _ticks(last)}
    if places:
        ticks[sum(places.values()) / len(places)] = "no layer"
    return lines(placed, alternative=alternative, series=arms, labels=("layer", ""), ticks=ticks, top=top, width=_WIDE)


def _ticks(last: int) -> list[int]:
    """Layers to name: the first, and round numbers up to the last."""
    step = next((one for one in (1, 2, 5, 10, 20, 50) if last / one <= _TICKS), 100)
    return [1, *(layer for layer in range(step, last + 1, step) if layer > 1)] if last else []


def _in_words(frame: pd.DataFrame, arms: Sequence[str]) -> str:
    told = []
    for arm in arms:
        own = frame[(frame["series"] == arm) & frame["y"].notna()].sort_values("layer")
        if len(own):
            first, last = own.iloc[0], own.iloc[-1]
            ends = f"{first['y']:.2f} at layer {first['layer']}, {last['y']:.2f} at layer {last['layer']}"
            told.append(f"{said('arms', arm)}: {ends}")
    return "; ".join(told)


def _heat(title: str, rows: Sequence[Row]) -> Panel:
    """A row per culture whose items they are, a column per culture that they lean on."""
    cells = [
        {
            "row": row["culture"],
            "column": row["toward"],
            "value": row["score"],
            "framed": row["p"] is not None and row["p"] <= SURE,
            "note": _interval_of(row),
        }
        for row in rows
    ]
    frame = pd.DataFrame(cells).astype({"value": float})
    top = float(frame["value"].max()) or 1.0
    heads = plain_heads(sorted({row["culture"] for row in rows}))
    chart = Heat(f"{title}: {WORDS['row_and_column']}", frame, heads, heads, (0.0, top))
    return Panel(title, chart)


def _flows(title: str, rows: Sequence[Row], anchor: str) -> Panel | None:
    """The study's own drawing of the scores (6.1.1, Figure 3); a band leads to the map, where its interval is."""
    flows = pd.DataFrame([{name: row[name] for name in ("culture", "toward", "score")} for row in rows])
    told = [f"{row['culture']} to {row['toward']}: F {row['score']:.1f}" for row in rows]
    intervals = [f"; 95 %: {interval}" if (interval := _interval_of(row)) else "" for row in rows]
    marks = [Mark(one + interval, to=anchor) for one, interval in zip(told, intervals, strict=True)]
    flows["mark"] = pd.Series(marks, dtype=object)
    drawn, _ = split_at_mean(flows)
    if drawn.empty:
        return None
    shares = {row["toward"]: row["toward_items"] for row in rows if row["toward_items"] is not None}
    highest = "; ".join(f"{one.culture} to {one.toward} {one.score:.1f}" for one in drawn.head(5).itertuples())
    alternative = f"{WORDS['flows']}: {title}. Highest: {highest}. Other numbers are in the map above."
    return Panel(WORDS["flows"], sankey(flows, shares, alternative))


def _interval_of(row: Row) -> str:
    """The 95 % interval of F in the digits of the heat map; empty where there is none."""
    return "" if None in (row["low"], row["high"]) else f"{row['low']:.1f} to {row['high']:.1f}"


def _withheld(rows: Sequence[Row]) -> str:
    """How many pairs have no interval, and why; empty where all have theirs."""
    reasons = Counter(row["no_interval"] for row in rows if row["no_interval"])
    told = "; ".join(f"{why} ({many})" for why, many in reasons.most_common())
    return f"No interval for {reasons.total()} of {len(rows)} pairs: {told}." if told else ""
