"""The tables of probes, which of their rows count, and the views on them."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout
from polyculture.instruments.probe.rows import (
    PROBE_FLATTENING,
    PROBE_HUMAN_ANSWERS,
    PROBE_ITEMS,
    PROBE_QUESTIONS,
    PROBE_READINGS,
    PROBE_SIMILARITIES,
    PROBES,
)

_OWN = Path(__file__).parent
PROBE = Layout(
    (PROBE_QUESTIONS, PROBE_HUMAN_ANSWERS, PROBE_READINGS, PROBE_ITEMS, PROBES, PROBE_SIMILARITIES, PROBE_FLATTENING),
    Layer((_OWN / "current.sql",), {"failed": ("failed_probes",)}),
    Layer((_OWN / "views.sql", _OWN / "flattening.sql", _OWN / "groups.sql")),
)
