"""The tables of multiple choice, which of their rows count, and the views on them."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout, Measure
from polyculture.cache.manifest import Manifest
from polyculture.cache.run_folder import RunFolder
from polyculture.instruments.bbq.question_rows import BBQ_QUESTIONS
from polyculture.instruments.bbq.rows import BBQ_ANSWERS, BBQ_INTERVALS, BBQ_READINGS

_OWN = Path(__file__).parent


def _settings(_run: RunFolder, manifest: Manifest) -> object:
    """What decides which answers count: the prompts, the readers, and the setups of the models that answered."""
    return manifest.asked.get("bbq"), manifest.models, manifest.setups


MEASURE = Measure("bbq", (BBQ_QUESTIONS, BBQ_ANSWERS, BBQ_READINGS), _settings)
BBQ = Layout(
    (BBQ_QUESTIONS, BBQ_ANSWERS, BBQ_READINGS, BBQ_INTERVALS),
    Layer((_OWN / "current.sql",), {"bought": ("bought_bbq_answers",), "failed": ("failed_bbq_answers",)}),
    Layer((_OWN / "views.sql", _OWN / "order_views.sql")),
    (MEASURE,),
)
LAYOUT = BBQ
