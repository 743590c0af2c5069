"""The report's section on question sets, and their tables; `set_blocks` builds it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.instruments.questions.shown import SCORES, TEXTS
from polyculture.reports.section import ReportData, ReportTable, Section

if TYPE_CHECKING:
    from polyculture.instruments.questions.set_blocks import QuestionSets

_FOLDER = Path(__file__).parent


def _build(data: ReportData) -> QuestionSets | None:
    from polyculture.instruments.questions.set_blocks import build  # which loads what draws figures

    return build(data)


SECTIONS = (
    Section(
        "questions",
        _build,
        _FOLDER / "section.html.jinja",
        TEXTS,
        tables=(ReportTable(SCORES), ReportTable(_FOLDER / "question_differences.sql")),
    ),
)
