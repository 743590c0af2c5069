"""Numbers by layer: a line per arm with its 95 % band; the arm 'text' stands before the first layer."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from polyculture.reports.figures.chart import Chart
from polyculture.reports.figures.kinds import lines

_WIDE = 216.0  # points: two of them stand side by side
_TICKS = 8
_ASIDE = 0.15  # of the width: the distance of what has no layer from the first


def layer_lines(frame: pd.DataFrame, alternative: str, arms: Sequence[str], top: float | None = None) -> Chart:
    """`frame` has the columns series (an arm), layer, y, low and high; layer 0 says that nothing was patched.

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
