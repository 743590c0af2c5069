"""The figures of a metric's section: the one that stands first, and others in folds below it."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.by_country import country_boxes, topic_boxes
from polyculture.reports.figures.by_model import consensus_by_topic, granularity, saturation, voices
from polyculture.reports.figures.figure import Figure
from polyculture.reports.figures.maps import consensus, country_map, specificity, trust
from polyculture.reports.figures.origins import naming, origins
from polyculture.reports.names import Names


def figures_of(name: str, frames: Mapping[str, pd.DataFrame], manifest: Manifest, names: Names) -> list[Figure]:
    """The figures of a section, from its tables by name; the first, and others that have something to show."""
    of = (manifest, names)
    frame = frames[name]
    if name == "granularity":
        by_country = frames["granularity_by_country"]
        found = [
            granularity(frame, *of),
            country_boxes(name, by_country, *of),
            country_map(name, by_country, *of),
            topic_boxes(name, frames["granularity_by_topic"], *of),
        ]
    elif name == "diversity":
        found = [country_boxes(name, frame, *of), topic_boxes(name, frames["diversity_by_topic"], *of)]
    elif name == "specificity":
        explicit = frame[frame["condition"] == "explicit"]
        found = [
            specificity(frame, *of),
            trust(frame, *of),
            *(country_boxes(one, explicit[explicit["metric"] == one], *of) for one in (name, "specificity_gain")),
            topic_boxes(name, frames["specificity_by_topic"], *of),
        ]
    elif name == "consensus":
        found = [
            consensus(frame, *of),
            consensus_by_topic(frames["consensus_by_topic"], *of),
            voices(frames["voices"], *of),
        ]
    elif name == "origins":
        found = [origins(frame, *of), naming(frames["naming"], *of)]
    else:
        found = [saturation(frame, *of)]
    return [figure for number, figure in enumerate(found) if not number or figure.rows]
