"""The whole store: the tables of all packages and instruments, in the order of their dependencies."""

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
