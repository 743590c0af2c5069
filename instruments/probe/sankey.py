"""A Sankey diagram of flattening scores: which cultures' items lean on which, and how much.

A band is an ordered pair of cultures, as wide as its score. Pairs below the mean of all are one band. On the right
stands each culture's share of all items, N_y / N, too: a culture with many items has more to share.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path as Outline

from polyculture.reports.figures.chart import Chart, Links, Margins
from polyculture.reports.figures.style import INK, MUTED, PAPER, SERIES, label_width, plain

_WIDE = 268.0  # points between the labels in the page
_NODE = 0.02  # width of a culture's bar, of the whole
_HIGH = 8.8  # points of bands per culture, on average
_APART = 3.5  # between bars
_LABEL = 10.0  # points that a label needs
_OTHERS = "other pairs"


def split_at_mean(flows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The pairs at or above the mean score of all, the highest first, and those below it."""
    mean = flows["score"].mean()
    ordered = flows.sort_values(["score", "culture", "toward"], ascending=[False, True, True])
    high = (ordered["score"] >= mean) & (mean > 0)
    return ordered[high], ordered[~high]


def sankey(flows: pd.DataFrame, shares: Mapping[str, float], alternative: str) -> Chart:
    """The flows of all ordered pairs: a row each, with the columns culture, toward, score (F) and mark.

    `shares` is each culture's share of all items.
    """
    drawn, folded = split_at_mean(flows)
    rest = pd.DataFrame([{"culture": _OTHERS, "toward": _OTHERS, "score": folded["score"].sum(), "mark": None}])
    bands = pd.concat([drawn, rest[rest["score"] > 0]], ignore_index=True)
    many = max(bands["culture"].nunique(), bands["toward"].nunique())
    bands["width"] = bands["score"] * _HIGH * (many + 2) / bands["score"].sum()
    left, right = _bars(bands, "culture"), _bars(bands, "toward")
    bands["start"] = _edges(bands, left, right, "culture", "toward")
    bands["end"] = _edges(bands, right, left, "toward", "culture")
    cultures = sorted({*flows["culture"], *flows["toward"]})
    # Of more than eight cultures some have the same colour, and their labels tell them apart.
    colours = {culture: SERIES[number % len(SERIES)] for number, culture in enumerate(cultures)}
    names = {one: f"{len(folded)} {_OTHERS}" if one == _OTHERS else plain(one) for one in left.index}
    ends = {one: f"{plain(one)}, {100 * shares[one]:.0f} %" if one in shares else "" for one in right.index}
    height = max((bars["top"] + bars["width"]).max() for bars in (left, right))

    def paint(axes: Axes, links: Links) -> None:
        axes.set(xlim=(0, 1), ylim=(height, 0))
        axes.set_axis_off()
        for band in bands.to_dict("records"):
            patch = _band(band["start"], band["end"], band["width"], colours.get(band["culture"], MUTED))
            if band["mark"] is not None:
                patch.set_url(links.urls([band["mark"]])[0])
            axes.add_patch(patch)
        for bars, labels, x in ((left, names, 0.0), (right, ends, 1 - _NODE)):
            for name, bar in zip(bars.index, bars.to_dict("records"), strict=True):
                ink = colours.get(name, MUTED)
                axes.add_patch(Rectangle((x, bar["top"]), _NODE, bar["width"], facecolor=ink, edgecolor="none"))
                side = "left" if x else "right"
                at, middle = (1.012 if x else -0.012), bar["top"] + bar["width"] / 2
                ink = MUTED if name == _OTHERS else INK
                axes.text(at, middle, labels[name], ha=side, va="center", color=ink)
        axes.text(0, -5, "items of", color=MUTED, ha="left")
        axes.text(1, -5, "lean on, its share of all items", color=MUTED, ha="right")

    around = Margins(label_width(list(names.values())) + 8, 14, label_width(list(ends.values())) + 8, 4)
    return Chart(alternative, flows, paint, _WIDE, around, height=float(height))


def _bars(bands: pd.DataFrame, side: str) -> pd.DataFrame:
    """A culture's bar: width and top, in points; the largest first, the folded pairs last, labels never touching."""
    bars = bands.groupby(side)[["width"]].sum().reset_index()
    bars = bars.assign(last=bars[side] == _OTHERS).sort_values(["last", "width", side], ascending=[True, False, True])
    room = bars["width"].clip(lower=_LABEL)
    bars["top"] = (room + _APART).cumsum() - room - _APART + (room - bars["width"]) / 2
    return bars.set_index(side)


def _edges(bands: pd.DataFrame, here: pd.DataFrame, there: pd.DataFrame, side: str, other: str) -> pd.Series:
    """The upper edge of each band at one side: bands leave a bar in the order of the bars that they reach."""
    order = bands.assign(here=bands[side].map(here["top"]), there=bands[other].map(there["top"]))
    order = order.sort_values(["here", "there"])
    return order["here"] + order.groupby(side, sort=False)["width"].cumsum() - order["width"]


def _band(left: float, right: float, width: float, colour: str) -> PathPatch:
    start, end, middle = _NODE, 1 - _NODE, 0.5
    corners = [
        (start, left), (middle, left), (middle, right), (end, right),
        (end, right + width), (middle, right + width), (middle, left + width), (start, left + width), (start, left),
    ]  # fmt: skip
    curve, line = Outline.CURVE4, Outline.LINETO
    codes = [Outline.MOVETO, curve, curve, curve, line, curve, curve, curve, Outline.CLOSEPOLY]
    return PathPatch(Outline(corners, codes), facecolor=colour, edgecolor=PAPER, linewidth=0.3, alpha=0.45)
