"""Simulations: few data sets in every run of the tests, as many as `docs/evidence.md` rests on in `make test-full`."""

from __future__ import annotations

import pytest
from scipy.stats import binom


def data_sets(few: int, many: int) -> pytest.MarkDecorator:
    """Runs a test with `count` data sets: few of them everywhere, many in `make test-full`."""
    return pytest.mark.parametrize("count", [few, pytest.param(many, marks=pytest.mark.full)])


def least(count: int, share: float = 0.95) -> float:
    """The part of `count` data sets that intervals which cover a `share` miss in one simulation of a hundred."""
    return float(binom.ppf(0.01, count, share)) / count


def most(count: int, share: float = 0.05) -> float:
    """The part of `count` data sets that findings by chance exceed in one simulation of a hundred."""
    return 1 - least(count, 1 - share)
