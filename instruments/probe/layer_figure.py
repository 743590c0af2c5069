"""Numbers by layer: a line per arm with its 95 % band; the arm 'text' stands before the first layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import seaborn as sns
from markupsafe import Markup
from matplotlib.axes import Axes

from polyculture.reports.figures.charts import MARKERS
from polyculture.reports.figures.drawing import PAPER, SERIES, Margins, canvas, style
from polyculture.reports.figures.inline import to_svg

WIDTH, HEIGHT = 370.0, 220.0  # pixels: two of them stand side by side
_MARKS = 16  # of a line; more of them would touch
_TICKS = 8
_ASIDE = 0.15  # of the width: the distance of what has no layer from the first
_NOTHING = "no layer"


@dataclass(frozen=True, slots=True)
class LayerLines:
    """`frame` has the columns arm, layer, value, low and high. Layer 0: nothing was patched."""

    name: str
    alternative: str
    frame: pd.DataFrame
    arms: Sequence[str]  # in the order of the legend
    most: float | None = None  # the end of the scale; None: that of the numbers

    def draw(self) -> Markup:
        """The chart as an `<svg>` element."""
        with style():
            figure, axes = canvas(WIDTH, HEIGHT, Margins(left=40, top=8, bottom=48))
            last = int(self.frame["layer"].max())
            placed = self.frame.assign(place=self.frame["layer"].astype(float))
            aside = [arm for arm in self.arms if (self.frame.loc[self.frame["arm"] == arm, "layer"] == 0).all()]
            apart = max(last, 1) * _ASIDE
            for number, arm in enumerate(aside):
                placed.loc[placed["arm"] == arm, "place"] = 1 - apart * (1 + (len(aside) - 1 - number) / 4)
            for number, arm in enumerate(self.arms):
                _draw(axes, placed[placed["arm"] == arm], number)
            middle = [placed.loc[placed["arm"].isin(aside), "place"].mean()] if aside else []
            axes.set_xticks([*middle, *_ticks(last)], [*[_NOTHING for _ in middle], *map(str, _ticks(last))])
            axes.set(xlabel="layer", ylim=(0, self.most), xlim=(min([*middle, 1]) - apart / 2, max(last, 1) * 1.02))
            axes.tick_params(length=0, pad=7)
            axes.grid(axis="y", linewidth=1)
            axes.set_axisbelow(True)
            sns.despine(ax=axes, left=True, bottom=True)
            return to_svg(figure, self.name, self.alternative)


def _draw(axes: Axes, own: pd.DataFrame, number: int) -> None:
    own = own.dropna(subset=["value"]).sort_values("place")
    if own.empty:
        return
    ink, marker = SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]
    across, value = own["place"].to_numpy(), own["value"].to_numpy(dtype=float)
    low, high = own["low"].to_numpy(dtype=float), own["high"].to_numpy(dtype=float)
    if len(own) == 1:
        axes.vlines(across, low, high, color=ink, linewidth=1.8, alpha=0.8)
    else:
        axes.fill_between(across, low, high, color=ink, alpha=0.18, linewidth=0)
        axes.plot(across, value, color=ink, linewidth=1.8)
    step = -(-len(own) // _MARKS)
    some = slice(number % step, None, step)  # lines of several arms have their marks at other layers
    axes.scatter(across[some], value[some], s=30, color=ink, marker=marker, edgecolor=PAPER, zorder=3)


def _ticks(last: int) -> list[int]:
    """Layers to name: the first, and round numbers up to the last."""
    step = next((one for one in (1, 2, 5, 10, 20, 50) if last / one <= _TICKS), 100)
    return [1, *(layer for layer in range(step, last + 1, step) if layer > 1)] if last else []
