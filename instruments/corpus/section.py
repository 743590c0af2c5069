"""The report's section on corpora: which entity of a pair they make the more probable."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.reports.section import ReportData, ReportTable, Section

if TYPE_CHECKING:
    from polyculture.instruments.corpus.outcome_lines import OutcomeLine
    from polyculture.reports.groups import Group

_FOLDER = Path(__file__).parent
_OUTCOMES = _FOLDER / "corpus_outcomes.sql"


@dataclass(frozen=True, slots=True)
class CorpusOutcomes:
    """The context of the section: a group of lines per corpus."""

    groups: tuple[Group[OutcomeLine], ...]


def _build(data: ReportData) -> CorpusOutcomes | None:
    from polyculture.instruments.corpus.outcome_lines import outcome_groups

    rows = data.reading.lines(_OUTCOMES)
    return CorpusOutcomes(outcome_groups(rows, data.manifest, data.names)) if rows else None


SECTIONS = (
    Section(
        "corpora", _build, _FOLDER / "section.html.jinja", _FOLDER / "section.toml", tables=(ReportTable(_OUTCOMES),)
    ),
)
