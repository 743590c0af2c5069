"""The tables of the Cultural Bias Score, which of their rows count, and the views on them."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout, Measure, compose
from polyculture.cache.manifest import Manifest
from polyculture.instruments.cbs.rows import BIAS_CONTRASTS, BIAS_VARIANTS, CULTURAL_LINKS, MATCHED_BIAS, SCORES
from polyculture.instruments.datasets.layout import DATASETS

_OWN = Path(__file__).parent


def _settings(manifest: Manifest) -> object:
    """The models of the run, and the setups under which their scores count."""
    return manifest.models, {key: setup for key, setup in manifest.setups.items() if key.startswith("score ")}


MEASURE = Measure("cbs", (SCORES,), _settings)
CBS = compose(
    DATASETS,
    Layout(
        (SCORES, CULTURAL_LINKS, BIAS_CONTRASTS, BIAS_VARIANTS, MATCHED_BIAS),
        Layer((_OWN / "current.sql",), {"bought": ("bought_scores",), "failed": ("failed_scores",)}),
        Layer(
            (_OWN / "views.sql", _OWN / "entity_tokens.sql"),
            {"board_entries": ("cbs_board_entries",), "board_failures": ("cbs_board_failures",)},
        ),
        (MEASURE,),
    ),
)
