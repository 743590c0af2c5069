"""Saturation: distinct items against the number of responses."""

from __future__ import annotations

from typing import Any

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.charts import Curves, axis_limits, key_of
from polyculture.reports.figures.figure import Figure, Panel, caption_of, make_figure
from polyculture.reports.figures.mark import Mark
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import count, decimal, estimate, known
from polyculture.reports.texts import texts

NAME = "saturation"
_SMALL = 170.0  # pixels of a panel: four stand side by side


def saturation(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """The figure from the rows of `sql/saturation.sql`: a small panel per topic, all on one scale."""
    found = frame[frame["entities"] > 0]
    models = ordered(manifest.models, found["model"])
    _, top = axis_limits(found[["entities", "high"]])
    caption = caption_of(NAME, ends=_ends(found, names))
    panels = [
        _panel(f"{NAME}-{number}", topic, found[found["topic"] == topic], models, top, caption, names)
        for number, topic in enumerate(ordered(manifest.topics, found["topic"]))
    ]
    keys = [key_of(names.model(model), index) for index, model in enumerate(models)]
    return make_figure(NAME, caption, [panels] if panels else [], keys, "unlinked")


def _panel(
    name: str, topic: str, own: pd.DataFrame, models: list[str], top: float, caption: str, names: Names
) -> Panel:
    title, place = names.topic(topic), {"topic": topic}
    frame = own.rename(columns={"model": "series", "responses": "x", "entities": "y"})
    frame = frame.astype({"low": float, "high": float}).assign(mark=[_mark(row, names) for row in own.itertuples()])
    chart = Curves(name, f"{title}. {caption}", frame, models, texts().figures[NAME].keys, place, top, _SMALL)
    return Panel(title, chart)


def _mark(row: Any, names: Names) -> str:
    found = estimate("diversity", row.entities, row.low, row.high)
    said = f"{found.value} items in {count(row.responses)} responses, {found.interval or found.missing}"
    return Mark(f"{names.model(row.model)}: {said}", {"model": row.model}).address()


def _ends(found: pd.DataFrame, names: Names) -> str:
    """A sentence on the coverage at the end of the least and the most complete curve."""
    last = found.sort_values("responses").groupby(["model", "topic"]).tail(1).dropna(subset=["coverage"])
    rows = last.sort_values("coverage").to_dict("records")
    if not rows or known(rows[0]["coverage"]) is None:
        return ""
    said = [
        f"{decimal(row['coverage'], 'coverage')} ({names.topic(row['topic'])}, {names.model(row['model'])})"
        for row in (rows if len(rows) < 2 else [rows[0], rows[-1]])
    ]
    return f"Coverage at the end of the curves: {' to '.join(said)}."
