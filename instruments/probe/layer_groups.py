"""The groups of the report's section: what the layers of one model hold, in one language, under one filter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pandas as pd

from polyculture.instruments.probe.pair_cells import WORDS, Row, heat, said_of, withheld
from polyculture.instruments.probe.sankey import sankey, split_at_mean
from polyculture.instruments.probe.tables import controls_missing
from polyculture.reports.figures.chart import Chart, Mark
from polyculture.reports.figures.figure import Key, Panel, key_of
from polyculture.reports.figures.kinds import lines
from polyculture.reports.names import Names, ordered, short

_WIDE = 216.0  # points: two figures stand side by side
_TICKS = 8
_ASIDE = 0.15  # of the width: the distance of what has no layer from the first
ARMS = tuple(WORDS["arms"])  # the probe first, then its controls
FILTERS = tuple(WORDS["filters"])  # the one that is drawn first, first
UNIT = ("model", "dataset", "language", "filter")
SHOWN_PAIRS = (
    9_000  # of cultures under all arms that are drawn, but for the first group: a page holds no more; the store has all
)


@dataclass(frozen=True, slots=True)
class LayerGroup:
    """What one model's layers hold, as it was asked in one language, under one filter."""

    title: str
    questions: int
    anchor: str  # where its bands lead
    withheld: str  # how many pairs have no interval, and why
    scores: Panel
    flows: Panel | None  # None where no pair shares anything
    folded: str  # what the diagram has as one band
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
    groups: list[LayerGroup] = []
    drawn = 0
    for key in order:
        drawn += len(found[key])
        if groups and drawn > SHOWN_PAIRS:
            break
        groups.append(_group(len(groups), key, found[key], own_layers.get(key, []), own_arms.get(key, []), names))
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
    number: int, key: tuple[str, ...], rows: Sequence[Row], layers: Sequence[Row], compared: Sequence[Row], names: Names
) -> LayerGroup:
    model, dataset, language, name = key
    arms = arms_of(rows)
    arm = "" if arms[0] == ARMS[0] else f", {said('arms', arms[0])}"
    title = f"{names.model(model)}, {names.language(language)}, {short(dataset)}: {said('filters', name)}{arm}"
    title += said("protocols", rows[0]["protocol"])
    own = [row for row in rows if row["arm"] == arms[0]]
    anchor = f"layers-{number}"
    flows, folded = _flows(title, own, anchor)
    return LayerGroup(
        title,
        own[0]["questions"],
        anchor,
        withheld(own),
        heat(WORDS["score"], own),
        flows,
        folded,
        tuple(_layer_panels(title, layers)),
        tuple(key_of(said("arms", arm), place) for place, arm in enumerate(arms_of(layers))),
        controls_missing([*arms, *(row["arm"] for row in compared)]),
    )


def _flows(title: str, rows: Sequence[Row], anchor: str) -> tuple[Panel | None, str]:
    flows = pd.DataFrame([{name: row[name] for name in ("culture", "toward", "score")} for row in rows])
    marks = [Mark(said_of(row), to=anchor) for row in rows]
    flows["mark"] = pd.Series(marks, dtype=object)
    drawn, folded = split_at_mean(flows)
    if drawn.empty:
        return None, ""
    shares = {row["toward"]: row["toward_items"] for row in rows if row["toward_items"] is not None}
    highest = "; ".join(f"{one.culture} to {one.toward} {one.score:.1f}" for one in drawn.head(5).itertuples())
    alternative = f"{WORDS['flows']}: {title}. Highest: {highest}. Other numbers are in the map above."
    empty = int((folded["score"] == 0).sum())
    said = f"{len(folded)} of {len(flows)} pairs{f', {empty} of which share nothing' if empty else ''}"
    return Panel(WORDS["flows"], sankey(flows, shares, alternative)), said


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


def exported(rows: Sequence[Row], most: int) -> list[Row]:
    """The rows of as many whole units as a page carries, in the order in which they are drawn."""
    kept: list[Row] = []
    units = _by_unit(rows)
    for key in sorted(units, key=_first_filter_first):
        if kept and len(kept) + len(units[key]) > most:
            break
        kept += units[key]
    return kept
