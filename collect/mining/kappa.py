"""Agreement of annotators beyond chance: Cohen's kappa of two, Fleiss' of more, with their intervals.

Cohen (1960), doi:10.1177/001316446002000104; the variance is the large-sample one of Fleiss, Cohen & Everitt (1969),
doi:10.1037/h0028106, equation 13, which holds for any true kappa, not only under the hypothesis of no agreement.
Fleiss (1971), doi:10.1037/h0031619; its interval is the jackknife's over items, with Student's quantile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from scipy.special import stdtrit

CONFIDENCE_95 = 1.959964  # standard errors on each side


@dataclass(frozen=True, slots=True)
class Kappa:
    """The agreement of annotators on `n` items that all of them judged.

    `kappa` and the interval are None where kappa is undefined: no common items, or all used one and the same label
    throughout, so that the expected agreement is 1. Fleiss' kappa also lacks the interval where it is undefined
    without one of the items.
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


def fleiss_kappa(items: Sequence[Sequence[str]]) -> Kappa:
    """Kappa of the labels that the same number of annotators, two or more, gave to each item."""
    n = len(items)
    if not n:
        return Kappa(0, None, None, None, None, None)
    observed, expected, kappa = _fleiss([Counter(labels) for labels in items])
    if kappa is None:
        return Kappa(n, observed, expected, None, None, None)
    kappas = [_fleiss([Counter(labels) for labels in (*items[:left], *items[left + 1 :])])[2] for left in range(n)]
    without = [one for one in kappas if one is not None]
    if n < 2 or len(without) < n:
        return Kappa(n, observed, expected, kappa, None, None)
    mean = sum(without) / n
    error = float(stdtrit(n - 1, 0.975)) * sqrt((n - 1) / n * sum((one - mean) ** 2 for one in without))
    return Kappa(n, observed, expected, kappa, max(-1.0, kappa - error), min(1.0, kappa + error))


def _fleiss(items: Sequence[Counter[str]]) -> tuple[float | None, float | None, float | None]:
    """The observed and the expected agreement of pairs of annotators, and kappa, where there is one."""
    if not items:
        return None, None, None
    annotators = items[0].total()
    pairs = annotators * (annotators - 1)
    observed = sum(sum(count * (count - 1) for count in item.values()) / pairs for item in items) / len(items)
    labels: Counter[str] = sum(items, Counter())
    expected = sum((count / labels.total()) ** 2 for count in labels.values())
    return observed, expected, None if len(labels) == 1 else (observed - expected) / (1 - expected)


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
