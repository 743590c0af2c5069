"""The report's section on question sets, and their tables; `set_blocks` builds it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.reports.section import ReportData, ReportTable, Section

if TYPE_CHECKING:
    from polyculture.instruments.questions.set_blocks import QuestionSets

_FOLDER = Path(__file__).parent
SCORES, COVERAGE, SETTINGS, TEXTS = (
    _FOLDER / "question_scores.sql", _FOLDER / "question_coverage.sql", _FOLDER / "question_settings.sql",
    _FOLDER / "section.toml",
)  # fmt: skip
# What is shown when answers have come; `section.toml` has what the report shows.
MAIN = (
    "accuracy", "chance", "acc_a", "diff_bias_a", "acc_d", "diff_bias_d", "s_amb", "s_dis", "biased", "others",
    "out_of_choice", "first_preferred", "ranked_first", "golds_found", "exact_match", "soft_match", "weighted_match",
    "f1", "all_right", "overlap", "refused", "empty", "alike_samples", "alike_questions",
    "out_of_choice_ratio",  # the one number of a model none of whose answers can be read
)  # fmt: skip


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
