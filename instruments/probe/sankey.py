"""A Sankey diagram of flattening scores: which cultures' items lean on which, and how much.

A band is an ordered pair of cultures, as wide as its score. Pairs below the mean of all are one band. On the right
stands each culture's share of all items, N_y / N, too: a culture with many items has more to share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path as Outline

from polyculture.reports.figures.drawing import (
    MUTED,
    PAPER,
    SERIES,
    TEXT,
    Margins,
    canvas,
    label_width,
    plain,
    style,
)
from polyculture.reports.figures.inline import to_svg
from polyculture.reports.figures.mark import Jump

WIDTH = 460.0  # pixels between the labels
_NODE = 10.0  # width of a culture's bar
_HIGH = 15.0  # pixels of bands per culture, on average
_APART = 6.0  # between bars
_LINE = 17.0  # pixels that a label needs
_OTHERS = "other pairs"

Ends = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Flow:
    """An ordered pair of cultures."""

    culture: str
    toward: str
    score: float  # F(culture -> toward)
    jump: Jump  # to its row of the table

    @property
    def ends(self) -> Ends:
        return self.culture, self.toward


@dataclass(frozen=True, slots=True)
class Sankey:
    """The flows of all ordered pairs; `shares` is each culture's share of all items."""

    name: str  # of its ids on the page
    alternative: str
    flows: Sequence[Flow]
    shares: Mapping[str, float]

    def draw(self) -> Markup:
        """The diagram as an `<svg>` element."""
        drawn, folded = split_at_mean(self.flows)
        bands = {one.ends: one.score for one in drawn}
        if rest := sum(one.score for one in folded):
            bands[_OTHERS, _OTHERS] = rest
        left, right = _nodes(bands, 0), _nodes(bands, 1)
        pixels = _HIGH * (max(len(left), len(right)) + 2) / sum(bands.values())
        tops = _Tops(_placed(left, pixels), _placed(right, pixels))
        names = {one: f"{len(folded)} {_OTHERS}" if one == _OTHERS else plain(one) for one in left}
        ends = {one: _share_label(one, self.shares.get(one)) for one in right}
        margins = Margins(label_width(list(names.values())) + 14, 22, label_width(list(ends.values())) + 14, 6)
        with style():
            figure, axes = canvas(WIDTH, tops.height, margins)
            axes.set(xlim=(0, WIDTH), ylim=(tops.height, 0))
            axes.set_axis_off()
            inks = _inks(self.flows)
            jumps = {one.ends: one.jump for one in drawn}
            for band in _bands(bands, pixels, tops):
                _draw_band(axes, band, inks, jumps.get(band.ends))
            _draw_bars(axes, left, tops.left, pixels, inks, names, at_left=True)
            _draw_bars(axes, right, tops.right, pixels, inks, ends, at_left=False)
            axes.text(0, -8, "items of", fontsize=11, color=MUTED, ha="left")
            axes.text(WIDTH, -8, "lean on, its share of all items", fontsize=11, color=MUTED, ha="right")
            return to_svg(figure, self.name, self.alternative)


def split_at_mean(flows: Sequence[Flow]) -> tuple[list[Flow], list[Flow]]:
    """The pairs at or above the mean score of all, the highest first, and those below it."""
    mean = fmean(one.score for one in flows)
    ordered = sorted(flows, key=lambda one: (-one.score, one.ends))
    return [one for one in ordered if one.score >= mean > 0], [one for one in ordered if not one.score >= mean > 0]


@dataclass(frozen=True, slots=True)
class _Tops:
    """Where the bars begin, in pixels from the top."""

    left: Mapping[str, float]
    right: Mapping[str, float]

    @property
    def height(self) -> float:
        return max(self.left["\0end"], self.right["\0end"])


@dataclass(frozen=True, slots=True)
class _Band:
    ends: Ends
    left: float  # its upper edge at the bar on the left
    right: float
    width: float


def _nodes(bands: Mapping[Ends, float], side: int) -> dict[str, float]:
    """The sum of each culture's bands on one side, the largest first; the folded pairs are last."""
    sums: dict[str, float] = {}
    for ends, score in bands.items():
        sums[ends[side]] = sums.get(ends[side], 0.0) + score
    return dict(sorted(sums.items(), key=lambda pair: (pair[0] == _OTHERS, -pair[1], pair[0])))


def _placed(nodes: Mapping[str, float], pixels: float) -> dict[str, float]:
    """The upper edge of each bar; none so near to the next that their labels touch. `\\0end`: below the last."""
    tops, below = {}, 0.0
    for name, score in nodes.items():
        high = score * pixels
        room = max(high, _LINE)
        tops[name] = below + (room - high) / 2
        below += room + _APART
    return {**tops, "\0end": below}


def _bands(bands: Mapping[Ends, float], pixels: float, tops: _Tops) -> Iterator[_Band]:
    """Bands leave a bar in the order of the bars that they reach, so that few cross."""
    left, right = {}, {}
    used_left, used_right = dict(tops.left), dict(tops.right)
    for ends in sorted(bands, key=lambda ends: (tops.left[ends[0]], tops.right[ends[1]])):
        left[ends] = used_left[ends[0]]
        used_left[ends[0]] += bands[ends] * pixels
    for ends in sorted(bands, key=lambda ends: (tops.right[ends[1]], tops.left[ends[0]])):
        right[ends] = used_right[ends[1]]
        used_right[ends[1]] += bands[ends] * pixels
    for ends, score in bands.items():  # the widest first: narrow ones lie on top
        yield _Band(ends, left[ends], right[ends], score * pixels)


def _draw_band(axes: Axes, band: _Band, inks: Mapping[str, str], jump: Jump | None) -> None:
    start, end, middle = _NODE, WIDTH - _NODE, WIDTH / 2
    low_left, low_right = band.left + band.width, band.right + band.width
    corners = [
        (start, band.left), (middle, band.left), (middle, band.right), (end, band.right),
        (end, low_right), (middle, low_right), (middle, low_left), (start, low_left), (start, band.left),
    ]  # fmt: skip
    curve, line = Outline.CURVE4, Outline.LINETO
    codes = [Outline.MOVETO, curve, curve, curve, line, curve, curve, curve, Outline.CLOSEPOLY]
    ink = inks.get(band.ends[0], MUTED)
    patch = PathPatch(Outline(corners, codes), facecolor=ink, edgecolor=PAPER, linewidth=0.5, alpha=0.45)
    if jump:
        patch.set_url(jump.address())
    axes.add_patch(patch)


def _draw_bars(
    axes: Axes,
    nodes: Mapping[str, float],
    tops: Mapping[str, float],
    pixels: float,
    inks: Mapping[str, str],
    labels: Mapping[str, str],
    *,
    at_left: bool,
) -> None:
    start = 0.0 if at_left else WIDTH - _NODE
    for name, score in nodes.items():
        high = score * pixels
        axes.add_patch(Rectangle((start, tops[name]), _NODE, high, facecolor=inks.get(name, MUTED), edgecolor="none"))
        place, side = (-6.0, "right") if at_left else (WIDTH + 6.0, "left")
        ink = MUTED if name == _OTHERS else TEXT
        axes.text(place, tops[name] + high / 2, labels[name], ha=side, va="center", color=ink)


def _inks(flows: Sequence[Flow]) -> dict[str, str]:
    """A colour for each culture; of more than eight, some have the same, and their labels tell them apart."""
    cultures = sorted({one for flow in flows for one in flow.ends})
    return {culture: SERIES[number % len(SERIES)] for number, culture in enumerate(cultures)}


def _share_label(name: str, share: float | None) -> str:
    if share is None:
        return ""
    return f"{plain(name)}, {100 * share:.0f} %"
