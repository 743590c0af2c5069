"""The tables of relevance, which of their rows count, and the views on them."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout
from polyculture.instruments.relevance.rows import (
    RELEVANCE_ANSWERS,
    RELEVANCE_CONTEXTS,
    RELEVANCE_GAINS,
    RELEVANCE_INTERVALS,
    RELEVANCE_READINGS,
)

_OWN = Path(__file__).parent
RELEVANCE = Layout(
    (RELEVANCE_CONTEXTS, RELEVANCE_ANSWERS, RELEVANCE_READINGS, RELEVANCE_INTERVALS, RELEVANCE_GAINS),
    Layer(
        (_OWN / "current.sql",),
        {"bought": ("bought_relevance_answers",), "failed": ("failed_relevance_answers",)},
    ),
    Layer((_OWN / "views.sql",)),
)
LAYOUT = RELEVANCE
