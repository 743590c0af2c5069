"""The report's section on the Cultural Bias Score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.reports.section import ReportData, ReportTable, Section

if TYPE_CHECKING:
    from polyculture.reports.table_section import PageTable

RULE = "sum"  # the likelihood that the page shows: Camellia's; the table that it offers has all
_FOLDER = Path(__file__).parent
_MISSING = """
SELECT model, sum(missing)::BIGINT AS missing, sum(asked)::BIGINT AS asked
FROM missing_scores
WHERE language IS NULL
GROUP BY model
HAVING missing > 0
ORDER BY model
"""
_SCORES, _SCORED = _FOLDER / "bias.sql", _FOLDER / "scored.sql"


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
    incomplete: tuple[str, ...]  # the models of which scores are missing that were asked, with how many


def _build(data: ReportData) -> CulturalBias | None:
    from polyculture.instruments.cbs.score_tables import contrast_tables, score_tables

    scored = ScoreCounts(**data.reading.rows(_SCORED)[0])
    if not scored.scores:
        return None
    rows = [row for row in data.reading.lines(_SCORES) if row["rule"] == RULE]
    missing = data.reading.connection.sql(_MISSING).fetchall()
    incomplete = tuple(
        f"{data.names.model(model)}, {missing:,} of {asked:,} scores" for model, missing, asked in missing
    )
    return CulturalBias(scored, score_tables(data, rows), contrast_tables(data, rows), incomplete)


SECTIONS = (
    Section(
        "probable",
        _build,
        _FOLDER / "section.html.jinja",
        _FOLDER / "section.toml",
        tables=(ReportTable(_SCORES),),
    ),
)
