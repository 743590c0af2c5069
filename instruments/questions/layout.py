"""The tables of question sets, which of their rows count, and the views on them."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout, Measure
from polyculture.cache.manifest import Manifest
from polyculture.cache.run_folder import RunFolder
from polyculture.instruments.questions.rows import ANSWERS, LIKELIHOODS, QUESTIONS, READINGS, WANTED_ANSWERS

_OWN = Path(__file__).parent


def _settings(run: RunFolder, manifest: Manifest) -> object:
    """What decides which answers count: prompts and readers, and the setups of the models that answered.

    Other instruments have setups of their own for the same models: they hide no number of these.
    """
    asked = {
        f"{'score' if job.topic.rpartition('-')[2] in LIKELIHOODS else 'answer'} {job.model}"
        for job in run.jobs(ANSWERS.name)
        if job.model in manifest.models
    }
    return manifest.asked.get("questions"), {use: manifest.setups.get(use) for use in asked}


MEASURE = Measure("questions", (QUESTIONS, WANTED_ANSWERS, ANSWERS, READINGS), _settings)
LAYOUT = Layout(
    (QUESTIONS, WANTED_ANSWERS, ANSWERS, READINGS),
    Layer((_OWN / "wanted.sql", _OWN / "readings.sql")),
    Layer(
        (_OWN / "views.sql", _OWN / "board_views.sql"),
        {
            "board_entries": ("question_board_entries",),
            "board_orders": ("question_board_orders",),
            "board_failures": ("question_board_failures",),
        },
    ),
    (MEASURE,),
)
