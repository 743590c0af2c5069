"""The tables of attention to options, which of their rows count, and the views on them."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout, Measure, compose
from polyculture.cache.manifest import Manifest
from polyculture.cache.run_folder import RunFolder
from polyculture.instruments.probe.attention.rows import ATTENTION, WANTED_ATTENTION
from polyculture.instruments.questions.layout import LAYOUT as QUESTIONS
from polyculture.instruments.questions.layout import MEASURE as ANSWERED

_OWN = Path(__file__).parent
ASKED = "attention"  # how the names begin of what is asked of attention, among all that the instrument asks


def _settings(run: RunFolder, manifest: Manifest) -> object:
    """What decides which weights count, and which answers: attention stands beside what was chosen."""
    asked = {name: one for name, one in manifest.asked.get("probe", {}).items() if name.startswith(f"{ASKED} ")}
    models = {job.model for job in run.jobs(ATTENTION.name) if job.model in manifest.models}
    setups = {model: manifest.setups.get(f"attend {model}") for model in models}
    return asked, setups, ANSWERED.settings(run, manifest)


MEASURE = Measure("attention", (WANTED_ATTENTION, ATTENTION, *ANSWERED.tables), _settings)
LAYOUT = compose(
    QUESTIONS,
    Layout((WANTED_ATTENTION, ATTENTION), Layer((_OWN / "wanted.sql",)), Layer((_OWN / "views.sql",)), (MEASURE,)),
)
