"""The figures of a metric: the one that stands first, and others in folds below it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.by_country import country_boxes, topic_boxes
from polyculture.reports.figures.consensus_by_topic import consensus_by_topic
from polyculture.reports.figures.country_map import country_map
from polyculture.reports.figures.figure import Figure
from polyculture.reports.figures.naming import naming
from polyculture.reports.figures.trust import trust
from polyculture.reports.figures.voices import voices
from polyculture.reports.names import Names

Frames = Mapping[str, pd.DataFrame]
Folded = tuple[Figure, tuple[Figure, ...]]


def first_and_others(name: str, drawn: Figure, frames: Frames, manifest: Manifest, names: Names) -> Folded:
    """The figure that stands first in a section, and those that are folded; `frames` are its tables by name."""
    more = _MORE.get(name)
    if more is None:
        return drawn, ()
    first, others = more(drawn, frames, manifest, names)
    return first, tuple(figure for figure in others if figure.rows)


def _granularity(drawn: Figure, frames: Frames, manifest: Manifest, names: Names) -> Folded:
    by_country = frames["granularity_by_country"]
    return drawn, (
        country_boxes("granularity", by_country, manifest, names),
        country_map("granularity", by_country, manifest, names),
        topic_boxes("granularity", frames["granularity_by_topic"], manifest, names),
    )


def _diversity(drawn: Figure, frames: Frames, manifest: Manifest, names: Names) -> Folded:
    boxes = country_boxes("diversity", frames["diversity"], manifest, names)
    return boxes, (topic_boxes("diversity", frames["diversity_by_topic"], manifest, names), drawn)


def _specificity(drawn: Figure, frames: Frames, manifest: Manifest, names: Names) -> Folded:
    explicit = frames["specificity"].loc[lambda rows: rows["condition"] == "explicit"]
    shares, gains = (explicit[explicit["metric"] == metric] for metric in ("specificity", "specificity_gain"))
    return drawn, (
        trust(frames["specificity"], manifest, names),
        country_boxes("specificity", shares, manifest, names),
        country_boxes("specificity_gain", gains, manifest, names),
        topic_boxes("specificity", frames["specificity_by_topic"], manifest, names),
    )


def _consensus(drawn: Figure, frames: Frames, manifest: Manifest, names: Names) -> Folded:
    by_topic = consensus_by_topic(frames["consensus_by_topic"], manifest, names)
    return drawn, (by_topic, voices(frames["voices"], manifest, names))


def _origins(drawn: Figure, frames: Frames, manifest: Manifest, names: Names) -> Folded:
    return drawn, (naming(frames["naming"], manifest, names),)


_MORE: Mapping[str, Callable[[Figure, Frames, Manifest, Names], Folded]] = {
    "granularity": _granularity,
    "diversity": _diversity,
    "specificity": _specificity,
    "consensus": _consensus,
    "origins": _origins,
}
