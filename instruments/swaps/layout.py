"""The tables of swapped entities, which of their rows count, and the views on them."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout, Measure, compose
from polyculture.cache.manifest import Manifest
from polyculture.cache.run_folder import RunFolder
from polyculture.instruments.datasets.layout import DATASETS
from polyculture.instruments.swaps.rows import (
    SWAP_QUESTIONS,
    SWAP_READINGS,
    SWAP_RESPONSES,
    WANTED_SWAPS,
)

_OWN = Path(__file__).parent


def _settings(run: RunFolder, manifest: Manifest) -> object:
    """The models and setups that were asked, and under which ids and readers their answers count."""
    asked = {job.model for job in run.jobs(SWAP_RESPONSES.name)}
    return {model: manifest.setups.get(f"answer {model}") for model in asked}, manifest.asked.get("swaps")


MEASURES = tuple(
    Measure(task, (WANTED_SWAPS, SWAP_RESPONSES, SWAP_READINGS), _settings) for task in ("sentiment", "qa", "ner")
)
SWAPS = compose(
    DATASETS,
    Layout(
        (SWAP_QUESTIONS, WANTED_SWAPS, SWAP_RESPONSES, SWAP_READINGS),
        Layer((_OWN / "wanted.sql", _OWN / "answers.sql"), {"failed": ("failed_swap_readings",)}),
        Layer(
            (_OWN / "views.sql",),
            {
                "board_entries": ("swap_board_entries",),
                "board_orders": ("swap_board_orders",),
                "board_failures": ("swap_board_failures",),
            },
        ),
        MEASURES,
    ),
)
LAYOUT = SWAPS
