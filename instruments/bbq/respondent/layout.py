"""The tables of models as respondents of the survey, which of their rows count, and the views on them."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout
from polyculture.instruments.bbq.respondent.rows import (
    SURVEY_ANSWERS,
    SURVEY_NUMBERS,
    SURVEY_QUESTIONS,
    SURVEY_READINGS,
)

_OWN = Path(__file__).parent
SURVEY = Layout(
    (SURVEY_QUESTIONS, SURVEY_ANSWERS, SURVEY_READINGS, SURVEY_NUMBERS),
    Layer(
        (_OWN / "current.sql",),
        {"bought": ("bought_bbq_survey_answers",), "failed": ("failed_bbq_survey_answers",)},
    ),
    Layer((_OWN / "views.sql",)),
)
