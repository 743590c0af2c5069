"""The tables of probes, which of their rows count, and the views on them."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout, Measure, compose
from polyculture.cache.manifest import Manifest
from polyculture.cache.run_folder import RunFolder
from polyculture.instruments.cbs.layout import CBS
from polyculture.instruments.probe.attention.layout import LAYOUT as ATTENTION
from polyculture.instruments.probe.rows import (
    PROBE_HUMAN_ANSWERS,
    PROBE_ITEMS,
    PROBE_LINKS,
    PROBE_QUESTIONS,
    PROBE_READINGS,
    PROBE_SIMILARITIES,
    PROBES,
    WANTED_PROBES,
)
from polyculture.metrics import METRICS

_OWN = Path(__file__).parent
ASKED = "probe"  # how the names begin of the rules that probes are made by, among all that the instrument asks


def _settings(run: RunFolder, manifest: Manifest) -> object:
    """The rules and the setups under which probes count; attention has others of its own."""
    asked = {name: one for name, one in manifest.asked.get("probe", {}).items() if name.startswith(f"{ASKED} ")}
    models = {job.model for job in run.jobs(PROBES.name) if job.model in manifest.models}
    return asked, {model: manifest.setups.get(f"patch {model}") for model in models}


MEASURE = Measure("probe", (PROBE_QUESTIONS, WANTED_PROBES, PROBES, PROBE_ITEMS, PROBE_SIMILARITIES), _settings)
PROBE = Layout(
    (
        PROBE_QUESTIONS,
        PROBE_HUMAN_ANSWERS,
        PROBE_READINGS,
        PROBE_ITEMS,
        WANTED_PROBES,
        PROBES,
        PROBE_SIMILARITIES,
        PROBE_LINKS,
    ),
    Layer((_OWN / "wanted.sql", _OWN / "counted.sql")),
    Layer((_OWN / "views.sql",)),
    (MEASURE,),
)
# What is generated and scored stands beside: views over texts and Cultural Bias Scores, too.
LAYOUT = compose(METRICS, CBS, PROBE, Layout(views=Layer((_OWN / "together.sql",))), ATTENTION)
