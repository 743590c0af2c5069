"""The report's sections on question sets and on attention to options, and their tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.instruments.questions.shown import SCORES, TEXTS
from polyculture.reports.section import ReportData, ReportTable, Section

if TYPE_CHECKING:
    from polyculture.instruments.questions.attention.maps import AttentionMaps
    from polyculture.instruments.questions.set_blocks import QuestionSets

_FOLDER = Path(__file__).parent


def _build(data: ReportData) -> QuestionSets | None:
    from polyculture.instruments.questions.set_blocks import build  # which loads what draws figures

    return build(data)


def _attention(data: ReportData) -> AttentionMaps | None:
    from polyculture.instruments.questions.attention.maps import attention_groups

    return attention_groups(data)


SECTIONS = (
    Section(
        "questions",
        _build,
        _FOLDER / "section.html.jinja",
        TEXTS,
        tables=(ReportTable(SCORES), ReportTable(_FOLDER / "question_differences.sql")),
    ),
    Section(
        "attention",
        _attention,
        _FOLDER / "attention" / "section.html.jinja",
        _FOLDER / "attention" / "section.toml",
        tables=tuple(ReportTable(_FOLDER / "attention" / f"attention_{one}.sql") for one in ("map", "tests")),
    ),
)
