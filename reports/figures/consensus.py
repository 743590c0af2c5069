"""Culture consensus: maps of language x language, one per topic and one per model."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.figure import (
    Figure,
    Panel,
    caption_of,
    cross_table,
    details,
    extremes,
    lacking_most,
    make_figure,
    reach,
    thin_cells,
)
from polyculture.reports.figures.heat import Heat
from polyculture.reports.names import Names, ordered
from polyculture.reports.texts import texts
from polyculture.reports.thin import FEWEST

NAME = "consensus"
Group = tuple[str, dict[str, str], pd.DataFrame]  # a title, the place of its rows, and the rows


def consensus(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """The figure from the rows of `sql/consensus.sql`: a map per model over all topics, and one per topic in a fold."""
    whole = frame[frame["topic"].isna()]
    parts = _parts(frame, whole, manifest, names)
    means = [group.groupby(["language", "other_language"])["estimate"].mean() for part in parts for *_, group in part]
    top = max((reach(mean) for mean in means), default=1.0)
    rows = [[_panel(*group, top, manifest, names) for group in part] for part in parts]
    caption = caption_of(NAME, fewest=str(FEWEST))
    of_model, of_topic = rows
    missing = "one_language" if len(manifest.languages) < 2 else "unlinked"
    if not of_model:
        return make_figure(NAME, caption, [row for row in (of_topic,) if row], [], missing)
    figure = make_figure(NAME, caption, [of_model], [], missing)
    return replace(figure, folded=tuple(of_topic), fold=texts().figures[NAME].fold)


def _parts(frame: pd.DataFrame, whole: pd.DataFrame, manifest: Manifest, names: Names) -> tuple[list[Group], ...]:
    """The rows of each model and of each topic with a number; one model on one topic needs no second map."""
    found = frame.dropna(subset=["estimate"])
    topics = ordered(manifest.topics, found["topic"].dropna())
    models = ordered(manifest.models, found["model"])
    of_topic = [(names.topic(topic), {"topic": topic}, frame[frame["topic"] == topic]) for topic in topics]
    every = texts().figures[NAME].panels["whole"]
    of_model = [(f"{names.model(m)}, {every}", {"model": m}, whole[whole["model"] == m]) for m in models]
    return of_model if len(topics) * len(models) > 1 else [], of_topic


def _panel(
    title: str, place: dict[str, str], group: pd.DataFrame, top: float, manifest: Manifest, names: Names
) -> Panel:
    mirrored = group.rename(columns={"language": "other_language", "other_language": "language"})
    both = pd.concat([group, mirrored], ignore_index=True)
    table = cross_table(both, "language", "other_language", manifest.languages, manifest.languages)
    shown = group.groupby(["language", "other_language"])["estimate"].mean().reset_index()  # over models, as in the map
    said = extremes(shown, NAME, names)
    chart = Heat(
        caption=f"{texts().metrics[NAME].name}, {title}. {said}",
        table=table,
        rows=[names.language(code) for code in table.index],
        columns=list(table.columns),
        limits=(0.0, top),
        axes=("language", "other"),
        cell=place,
        thin=thin_cells(both, "language", "other_language"),
        details=details(both, "language", "other_language", NAME),
        lacking=lacking_most(both),
    )
    return Panel(title, chart, place.get("model", ""), said)
