"""The report's section that puts models, cultures and types beside one another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.instruments.cbs.section import SCORES
from polyculture.instruments.swaps.section import RATES
from polyculture.reports.section import ReportData, ReportTable, Section

if TYPE_CHECKING:
    from polyculture.instruments.papers.culture_figures import PanelRow
    from polyculture.reports.figures.figure import Key, Panel

_FOLDER = Path(__file__).parent
_VOCABULARIES = _FOLDER / "culture_vocabularies.sql"

_AS_PUBLISHED = "SELECT DISTINCT dataset FROM dataset_contexts WHERE as_published ORDER BY ALL"


@dataclass(frozen=True, slots=True)
class CulturesBeside:
    """The context of the section."""

    maps: tuple[tuple[Panel, ...], ...]  # those of a row stand side by side
    slopes: tuple[Panel, ...]
    vocabularies: tuple[Panel, ...]
    sentiments: tuple[PanelRow, ...]
    models: tuple[Key, ...]
    sides: tuple[Key, ...]
    as_published: tuple[str, ...]  # data sets that were last read so


def _build(data: ReportData) -> CulturesBeside | None:
    from polyculture.instruments.papers.culture_figures import (
        model_keys,
        plain_scores,
        score_maps,
        sentiment_panels,
        sentiment_rates,
        side_keys,
        slope_panels,
        vocabulary_panels,
    )

    scores, sentiments = plain_scores(data.reading.frame(SCORES)), sentiment_rates(data.reading.frame(RATES))
    if scores.empty and sentiments.empty:
        return None
    return CulturesBeside(
        score_maps(scores, data.manifest, data.names),
        slope_panels(scores, data.manifest, data.names),
        vocabulary_panels(data.reading.frame(_VOCABULARIES), scores, data.manifest, data.names),
        sentiment_panels(sentiments, data.manifest, data.names),
        model_keys(scores, data.manifest),
        side_keys(),
        tuple(name for (name,) in data.reading.store.sql(_AS_PUBLISHED).fetchall()),
    )


SECTIONS = (
    Section(
        "cultures",
        _build,
        _FOLDER / "section.html.jinja",
        _FOLDER / "section.toml",
        tables=(ReportTable(_VOCABULARIES),),
    ),
)
