"""The people's shares of answers against a model's: a point an answer to a stereotype."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from polyculture.reports.figures.drawing import MUTED, SERIES, Margins, canvas, style
from polyculture.reports.figures.inline import to_svg

_SIDE = 260.0  # pixels
_ROOM = 0.02  # beyond the axes' ends, so that a point on the edge is whole


@dataclass(frozen=True, slots=True)
class SharePoint:
    """An answer: a group, or that there is no such stereotype."""

    people: float
    model: float
    none: bool


@dataclass(frozen=True, slots=True)
class SharesFigure:
    """The points of one model in one language."""

    name: str  # of its ids on the page
    alternative: str
    points: Sequence[SharePoint]

    def draw(self) -> Markup:
        """The figure as an `<svg>` element."""
        with style():
            figure, axes = canvas(_SIDE, _SIDE, Margins(62, 10, 16, 44))
            axes.plot((0, 1), (0, 1), color=MUTED, linewidth=1, zorder=1)
            for none, marker in ((False, "o"), (True, "s")):
                some = [point for point in self.points if point.none is none]
                across, up = [point.people for point in some], [point.model for point in some]
                axes.scatter(across, up, s=14, alpha=0.5, color=SERIES[int(none)], marker=marker, linewidth=0, zorder=2)
            axes.set_xlim(-_ROOM, 1 + _ROOM)
            axes.set_ylim(-_ROOM, 1 + _ROOM)
            axes.set_xticks((0, 0.5, 1))
            axes.set_yticks((0, 0.5, 1))
            axes.set_xlabel("share of people")
            axes.set_ylabel("share of the model's answers")
            return to_svg(figure, self.name, self.alternative)
