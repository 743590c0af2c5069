"""The jackknife: a number's variance from its values without each response."""

from __future__ import annotations

from dataclasses import replace

from polyculture.metrics.intervals.estimate import ONE_RESPONSE, Estimate, no_narrower, symmetric
from polyculture.metrics.intervals.incidence import Numbers


def jackknife(value: float, without_one: Numbers, with_one_more: float) -> Estimate:
    """`value` with its jackknife variance; the limits leave room for items too rare to be seen.

    `with_one_more` is the value if one response named one more item that no other names. The number of items in a
    single response is assumed to have a Poisson distribution.
    """
    size = len(without_one)
    if size < 2:
        return replace(symmetric(value, value, 1), lacking=ONE_RESPONSE)
    changes, rare = without_one.mean() - without_one, with_one_more - value
    variance, third = (size - 1) / size * float((changes**2).sum()), float((changes**3).sum())
    return no_narrower(symmetric(value, variance, size - 1), (third + rare**3) / (variance + rare**2))
