"""The tables of attention to options, which of their rows count, and the views on them."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout, compose
from polyculture.instruments.probe.attention.rows import ATTENTION, ATTENTION_TESTS, WANTED_ATTENTION
from polyculture.instruments.questions.layout import LAYOUT as QUESTIONS

_OWN = Path(__file__).parent
LAYOUT = compose(
    QUESTIONS,
    Layout(
        (WANTED_ATTENTION, ATTENTION, ATTENTION_TESTS),
        Layer((_OWN / "wanted.sql",)),
        Layer((_OWN / "views.sql",)),
    ),
)
