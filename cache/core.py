"""The tables of the core, which of their rows count, and the views on them."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout
from polyculture.cache.schema import TABLES

_OWN = Path(__file__).parent
# The tables that every room knows, and which of their rows count.
CORE = Layout(
    TABLES,
    Layer(
        (_OWN / "wanted.sql", _OWN / "store.sql"),
        {"bought": ("bought_responses", "bought_extractions"), "failed": ("failed_responses", "failed_extractions")},
        (_OWN / "purchases.sql", _OWN / "failures.sql"),
    ),
)
