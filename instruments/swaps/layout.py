"""The tables of swapped entities, which of their rows count, and the views on them."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout, compose
from polyculture.instruments.datasets.layout import DATASETS
from polyculture.instruments.swaps.rows import SWAP_ANSWERS, SWAP_INTERVALS, SWAP_READINGS

_OWN = Path(__file__).parent
SWAPS = compose(
    DATASETS,
    Layout(
        (SWAP_ANSWERS, SWAP_READINGS, SWAP_INTERVALS),
        Layer((_OWN / "current.sql",), {"bought": ("bought_swap_answers",), "failed": ("failed_swap_answers",)}),
        Layer(
            (_OWN / "views.sql",),
            {"board_entries": ("swap_board_entries",), "board_failures": ("swap_board_failures",)},
        ),
    ),
)
LAYOUT = SWAPS
