"""The jackknife: a number's variance from what it is without each response."""

from __future__ import annotations

from metrics.intervals.estimate import Estimate, no_narrower, symmetric
from metrics.intervals.incidence import Numbers


def jackknife(value: float, without_one: Numbers, with_one_more: float) -> Estimate:
    """`value`, from what it is without each response; the limits leave room for items so rare that none was seen.

    `with_one_more` is the value if one response named one more item, that no other does.
    """
    size = len(without_one)
    if size < 2:
        return symmetric(value, 0.0, 0)
    changes, rare = without_one.mean() - without_one, with_one_more - value
    variance, third = (size - 1) / size * float((changes**2).sum()), float((changes**3).sum())
    return no_narrower(symmetric(value, variance, size - 1), (third + rare**3) / (variance + rare**2))
