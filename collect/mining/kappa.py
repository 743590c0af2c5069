"""Agreement of two annotators beyond chance: Cohen's kappa with its interval.

Cohen (1960), doi:10.1177/001316446002000104; the variance is the large-sample one of Fleiss, Cohen & Everitt (1969),
doi:10.1037/h0028106, equation 13, which holds for any true kappa, not only under the hypothesis of no agreement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

CONFIDENCE_95 = 1.959964  # standard errors on each side


@dataclass(frozen=True, slots=True)
class Kappa:
    """The agreement of two annotators on `n` items that both judged.

    `kappa` and the interval are None where kappa is undefined: no common items, or all used one and the same label
    throughout, so that the expected agreement is 1.
    """

    n: int
    observed: float | None
    expected: float | None
    kappa: float | None
    low: float | None
    high: float | None


def cohens_kappa(pairs: Sequence[tuple[str, str]]) -> Kappa:
    """Kappa of the labels that two annotators gave to the same items, with a 95 % interval cut at -1 and 1."""
    n = len(pairs)
    if not n:
        return Kappa(0, None, None, None, None, None)
    joint = {pair: count / n for pair, count in Counter(pairs).items()}
    first = {label: count / n for label, count in Counter(one for one, _ in pairs).items()}
    second = {label: count / n for label, count in Counter(other for _, other in pairs).items()}
    observed = sum(share for (one, other), share in joint.items() if one == other)
    expected = sum(share * second.get(label, 0.0) for label, share in first.items())
    if len({label for pair in pairs for label in pair}) == 1:
        return Kappa(n, observed, expected, None, None, None)
    kappa = (observed - expected) / (1 - expected)
    error = CONFIDENCE_95 * sqrt(_variance(joint, first, second, observed, expected) / n)
    return Kappa(n, observed, expected, kappa, max(-1.0, kappa - error), min(1.0, kappa + error))


def _variance(
    joint: dict[tuple[str, str], float],
    first: dict[str, float],
    second: dict[str, float],
    observed: float,
    expected: float,
) -> float:
    """The variance of kappa times the number of items."""
    total = 0.0
    for (one, other), share in joint.items():
        if one == other:
            total += share * ((1 - expected) - (first[one] + second[one]) * (1 - observed)) ** 2
        else:
            # Each annotator's label is weighted by its frequency with the other annotator.
            weight = second.get(one, 0.0) + first.get(other, 0.0)
            total += share * ((1 - observed) * weight) ** 2
    return max(0.0, total - (observed * expected - 2 * expected + observed) ** 2) / (1 - expected) ** 4
