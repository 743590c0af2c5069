"""The report's section on the Cultural Bias Score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.reports.section import ReportData, ReportTable, Section

if TYPE_CHECKING:
    from polyculture.instruments.cbs.matched_tables import MatchedTable
    from polyculture.reports.table_section import PageTable

_FOLDER = Path(__file__).parent
_SCORES, _SCORED = _FOLDER / "bias.sql", _FOLDER / "scored.sql"
_MATCHED = _FOLDER / "matched_pairs.sql"


@dataclass(frozen=True, slots=True)
class ScoreCounts:
    """The numbers of scores, entities and contexts."""

    scores: int
    entities: int
    contexts: int


@dataclass(frozen=True, slots=True)
class CulturalBias:
    """The context of the section; without tables, the scores were not yet turned into numbers."""

    scored: ScoreCounts
    scores: Mapping[str, PageTable]  # by rule
    contrasts: Mapping[str, PageTable]
    matched: tuple[MatchedTable, ...]


def _build(data: ReportData) -> CulturalBias | None:
    from polyculture.instruments.cbs.contrast_tables import contrast_tables
    from polyculture.instruments.cbs.matched_tables import matched_tables
    from polyculture.instruments.cbs.score_tables import score_tables

    scored = ScoreCounts(**data.reading.rows(_SCORED)[0])
    if not scored.scores:
        return None
    rows = data.reading.lines(_SCORES)
    return CulturalBias(
        scored,
        score_tables(data, rows),
        contrast_tables(data, rows),
        matched_tables(data, data.reading.lines(_MATCHED)),
    )


SECTIONS = (
    Section(
        "probable",
        _build,
        _FOLDER / "section.html.jinja",
        _FOLDER / "section.toml",
        tables=(ReportTable(_SCORES), ReportTable(_MATCHED)),
        stands_alone=True,
    ),
)
