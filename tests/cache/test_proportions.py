"""The interval of a share of independent cases."""

from __future__ import annotations

import math

import pytest

from polyculture.cache.proportions import wilson_interval


@pytest.mark.parametrize(("hits", "n"), [(0, 7), (3, 10), (58, 60), (9, 9)])
def test_the_interval_is_wilsons_formula(hits: int, n: int) -> None:
    z, share = 1.959963984540054, hits / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    assert wilson_interval(hits, n) == pytest.approx((middle - half, middle + half), abs=1e-12)


def test_a_share_of_nothing_has_no_interval() -> None:
    assert wilson_interval(0, 0) is None
