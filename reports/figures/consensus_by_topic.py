"""Culture consensus of each model by topic: a row per topic, in it a mark with its interval for each model."""

from __future__ import annotations

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.charts import Dots, axis_limits, key_of
from polyculture.reports.figures.figure import Figure, Panel, basis, caption_of, make_figure, tidy
from polyculture.reports.names import Names, ordered
from polyculture.reports.texts import texts
from polyculture.reports.thin import FEWEST

NAME = "consensus_by_topic"
METRIC = "consensus"
WHOLE = ""  # the row of all topics


def consensus_by_topic(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """The figure from the rows of `sql/consensus_by_topic.sql`: topics in the experiment's order, below all of them."""
    said = texts().figures[NAME]
    found = frame.dropna(subset=["estimate"])
    whole = found[found["topic"].isna()]
    by_topic = found[found["topic"].notna()]
    topics = ordered(manifest.topics, by_topic["topic"])
    models = ordered(manifest.models, found["model"])
    rows = [*([WHOLE] if len(whole) else []), *topics]
    marks = pd.concat(
        [
            tidy(whole.assign(topic=WHOLE), "topic", METRIC, ("model",), names).assign(series=whole["model"]),
            tidy(by_topic, "topic", METRIC, ("model", "topic"), names).assign(series=by_topic["model"]),
        ]
    )
    rests_on = basis(whole["responses"].sum(), whole["incidences"].sum())
    caption = caption_of(NAME, basis=rests_on, fewest=str(FEWEST))
    chart = Dots(
        name="ct",
        alternative=f"{said.title}. {caption}",
        frame=marks,
        rows=rows,
        labels=[names.topic(topic) if topic else said.panels["whole"] for topic in rows],
        series=models,
        label=said.axis,
        limits=(0.0, min(1.0, axis_limits(marks[["value", "high"]])[1])),
    )
    keys = [key_of(names.model(model), index) for index, model in enumerate(models)]
    missing = "one_language" if len(manifest.languages) < 2 else "unlinked"
    return make_figure(NAME, caption, [[Panel("", chart)]] if topics else [], keys, missing)
