"""The jackknife: a number's variance from what it is without each response."""

from __future__ import annotations

from dataclasses import replace

from polyculture.metrics.intervals.estimate import ONE_RESPONSE, Estimate, no_narrower, symmetric
from polyculture.metrics.intervals.incidence import Numbers


def jackknife(value: float, without_one: Numbers, with_one_more: float) -> Estimate:
    """`value`, from what it is without each response; the limits leave room for items so rare that none was seen.

    `with_one_more` is the value if one response named one more item, that no other does. A single response is taken to
    name as many items as a Poisson number would be.
    """
    size = len(without_one)
    if size < 2:
        return replace(symmetric(value, value, 1), lacking=ONE_RESPONSE)
    changes, rare = without_one.mean() - without_one, with_one_more - value
    variance, third = (size - 1) / size * float((changes**2).sum()), float((changes**3).sum())
    return no_narrower(symmetric(value, variance, size - 1), (third + rare**3) / (variance + rare**2))
