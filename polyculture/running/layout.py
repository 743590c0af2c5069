"""The whole store: what every room and every instrument keeps, in the order in which they read one another."""

from __future__ import annotations

from functools import cache

from polyculture.cache.layout import Layout, compose
from polyculture.instruments import INSTRUMENTS
from polyculture.instruments.contract import loaded
from polyculture.metrics import METRICS


@cache
def store_layout() -> Layout:
    """Tables and views of the rooms, then those of each instrument."""
    return compose(METRICS, *(instrument.layout for instrument in loaded(INSTRUMENTS)))
