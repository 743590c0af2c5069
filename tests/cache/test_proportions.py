"""The interval of a share of independent cases."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest

from polyculture.cache.proportions import wilson_interval


@pytest.mark.parametrize(("hits", "n"), [(0, 7), (3, 10), (58, 60), (9, 9), (123_456, 1_000_000)])
def test_the_interval_is_wilsons_as_scipy_has_it(hits: int, n: int) -> None:
    expected = binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert wilson_interval(hits, n) == pytest.approx(tuple(expected), abs=1e-14)


def test_a_share_of_nothing_has_no_interval() -> None:
    assert wilson_interval(0, 0) is None
