"""The tables of cultural multiple choice, which of their rows count, and the views on them."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout, Measure
from polyculture.cache.manifest import Manifest
from polyculture.cache.run_folder import RunFolder
from polyculture.instruments.culture_mcq.attention_rows import MCQ_ATTENTION, MCQ_ATTENTION_TESTS
from polyculture.instruments.culture_mcq.rows import (
    MCQ_ANSWERS,
    MCQ_INTERVALS,
    MCQ_QUESTIONS,
    MCQ_READINGS,
    MCQ_TESTS,
)

_OWN = Path(__file__).parent


def _settings(_run: RunFolder, manifest: Manifest) -> object:
    """What decides which answers count: the wordings, the readers, and the setups of the models that answered."""
    return manifest.asked.get("culture_mcq"), manifest.models, manifest.setups


MEASURE = Measure("culture_mcq", (MCQ_QUESTIONS, MCQ_ANSWERS, MCQ_READINGS), _settings)
CULTURE_MCQ = Layout(
    (MCQ_QUESTIONS, MCQ_ANSWERS, MCQ_READINGS, MCQ_INTERVALS, MCQ_TESTS, MCQ_ATTENTION, MCQ_ATTENTION_TESTS),
    Layer(
        (_OWN / "current.sql", _OWN / "attention_current.sql"),
        {
            "bought": ("bought_culture_mcq_answers",),
            "failed": ("failed_culture_mcq_answers", "failed_culture_mcq_attention"),
        },
    ),
    Layer((_OWN / "views.sql", _OWN / "attention_views.sql")),
    (MEASURE,),
)
LAYOUT = CULTURE_MCQ
