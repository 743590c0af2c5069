"""Accuracy against diff-bias: a point a category, within the region that the accuracy leaves to a bias."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from polyculture.reports.figures.chart import Chart
from polyculture.reports.figures.kinds import scatter
from polyculture.reports.figures.style import MUTED, RULE

_WIDE, _SMALL = 169.0, 88.0  # points: two of them stand side by side, or five
_ROOM = 0.02  # beyond the scales' ends, so that a point on the edge is whole
_CORNERS = {
    "ambiguous": ((0.0, 0.0, 1.0), (-1.0, 1.0, 0.0)),  # |bias| <= 1 - accuracy
    "disambiguated": ((0.0, 0.5, 1.0, 0.5), (0.0, 1.0, 0.0, -1.0)),  # |bias| <= 1 - |2 accuracy - 1|, where n_b = n_c
}
_WHOLE = "all"  # the name of the point of the whole data set


def region(points: pd.DataFrame, context: str, title: str, *, small: bool = False) -> Chart:
    """The points of one model in one kind of context ('ambiguous' or 'disambiguated').

    Columns: name (a category's number in the table, or 'all'), x (accuracy), y (diff-bias) and mark, which leads to its
    answers. A small one is one of many: without names of points and scales.
    """

    def behind(axes: Axes) -> None:
        axes.fill(*_CORNERS[context], facecolor=RULE, edgecolor=MUTED, alpha=0.35, linewidth=0.6, zorder=1)
        axes.axhline(0, color=MUTED, linewidth=0.6, zorder=2)

    whole = points["name"] == _WHOLE
    frame = points.assign(series=whole.map({True: "whole", False: "category"})).sort_values("series")
    return scatter(
        frame.drop(columns="name") if small else frame.assign(name=frame["name"].mask(whole, "")),
        alternative=f"Accuracy against diff-bias in {context} contexts, a point a category. {title}",
        series=("category", "whole"),
        labels=("", "") if small else (f"accuracy, {context}", "diff-bias"),
        limits=((-_ROOM, 1 + _ROOM), (-1 - 2 * _ROOM, 1 + 2 * _ROOM)),
        width=_SMALL if small else _WIDE,
        size=7.0 if small else 12.0,
        behind=behind,
    )
