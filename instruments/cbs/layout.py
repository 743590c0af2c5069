"""The tables of the Cultural Bias Score, which of their rows count, and the views on them."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout, Measure, compose
from polyculture.cache.manifest import Manifest
from polyculture.cache.run_folder import RunFolder
from polyculture.instruments.cbs.rows import CULTURAL_LINKS, SCORES, WANTED_SCORES
from polyculture.instruments.datasets.layout import DATASETS

_OWN = Path(__file__).parent


def _settings(run: RunFolder, manifest: Manifest) -> object:
    """The models that were scored, and the setups under which their scores count; other instruments score, too."""
    scored = {job.model for job in run.jobs(SCORES.name)}
    counted = {model for model in scored if model in manifest.models or model.startswith("ngram:")}
    return {model: manifest.setups.get(f"score {model}") for model in counted}


MEASURE = Measure("cbs", (SCORES,), _settings)
CBS = compose(
    DATASETS,
    Layout(
        (WANTED_SCORES, SCORES, CULTURAL_LINKS),
        Layer((_OWN / "wanted.sql",)),
        Layer(
            (_OWN / "views.sql", _OWN / "entity_tokens.sql"),
            {
                "board_entries": ("cbs_board_entries",),
                "board_orders": ("cbs_board_orders",),
                "board_failures": ("cbs_board_failures",),
            },
        ),
        (MEASURE,),
    ),
)
LAYOUT = CBS
