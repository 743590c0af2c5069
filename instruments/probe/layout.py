"""The tables of probes, which of their rows count, and the views on them."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout, compose
from polyculture.instruments.cbs.layout import CBS
from polyculture.instruments.probe.attention.layout import LAYOUT as ATTENTION
from polyculture.instruments.probe.rows import (
    PROBE_ARMS,
    PROBE_FLATTENING,
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
PROBE = Layout(
    (
        PROBE_QUESTIONS,
        PROBE_HUMAN_ANSWERS,
        PROBE_READINGS,
        PROBE_ITEMS,
        WANTED_PROBES,
        PROBES,
        PROBE_SIMILARITIES,
        PROBE_FLATTENING,
        PROBE_LINKS,
        PROBE_ARMS,
    ),
    Layer((_OWN / "wanted.sql", _OWN / "counted.sql")),
    Layer((_OWN / "views.sql", _OWN / "flattening.sql")),
)
# What is generated and scored stands beside: views over texts and Cultural Bias Scores, too.
LAYOUT = compose(METRICS, CBS, PROBE, Layout(views=Layer((_OWN / "together.sql",))), ATTENTION)
