"""The tables of representations, which of their rows count, and the views on them."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout, compose
from polyculture.instruments.datasets.layout import DATASETS
from polyculture.instruments.embeddings.rows import (
    ENTITY_POSITIONS,
    REPRESENTATIONS,
    SEPARATIONS,
    WANTED_REPRESENTATIONS,
)

_OWN = Path(__file__).parent
LAYOUT = compose(
    DATASETS,
    Layout(
        (WANTED_REPRESENTATIONS, REPRESENTATIONS, SEPARATIONS, ENTITY_POSITIONS),
        Layer((_OWN / "wanted.sql",)),
        Layer((_OWN / "views.sql",)),
    ),
)
