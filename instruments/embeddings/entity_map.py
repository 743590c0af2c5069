"""Maps of entities by t-SNE: a dot per entity, in the colour and shape of its culture."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from polyculture.reports.figures.chart import Chart
from polyculture.reports.figures.figure import key_of
from polyculture.reports.figures.kinds import scatter

MAP_KEY = (
    "model", "dataset", "language", "culture", "entity_type", "gender", "form", "setting", "layer", "contexts",
)  # fmt: skip
KEYS = (key_of("native", 0), key_of("Western", 1))
_SIDE = 204.0  # points: two of them stand side by side in the page


def entity_map(frame: pd.DataFrame, title: str) -> Chart:
    """A map; `frame` has the columns entity, native, x, y. Names as far as there is room for them."""
    sides = frame["native"].map({True: "native", False: "Western"})
    drawn = frame.sort_values("entity_id").assign(series=sides, name=frame["entity"])
    return scatter(drawn, alternative=f"Map of entities. {title}", series=("native", "Western"), width=_SIDE)


def subject(named: Mapping[str, str]) -> str:
    """What a map shows: type, gender, layer, and how its contexts differ from the neutral causal ones."""
    apart = [
        named["form"] if named["form"] == "masked" else "",
        named["setting"] if named["setting"] != "neutral" else "",
    ]
    who = " ".join(filter(None, (named["entity_type"], named["gender"])))
    return ", ".join(filter(None, (who, f"layer {named['layer']}", *apart)))
