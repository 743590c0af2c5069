"""Equivalence: a difference that is smaller than a margin, as a result of its own and not the lack of one.

A line is 'same within' its margin where two one-sided tests (Schuirmann 1987) reject that the true difference is the
margin or more, in either direction; both come from the procedure of the interval (`BlockMean.p_beyond`). It is
'different' where the difference is not 0. Both are decided by q: p adjusted over the lines of the table. A difference
that is small and not 0 is 'same within' the margin: that is the question that was asked.

Source: Schuirmann 1987, J. Pharmacokinet. Biopharm. 15, 657-680.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from polyculture.cache.errors import ExperimentError, did_you_mean
from polyculture.metrics.comparison.compare import ComparisonRow
from polyculture.metrics.intervals.estimate import METHODS

LEVEL = 0.05
DIFFERENT, UNDECIDED = "different", "undecided"
_REMEDY = "Write, for example, --equivalent .05, or --equivalent diversity=5."


def read_margins(words: Iterable[str], metrics: Sequence[str]) -> dict[str, float]:
    """The margin of each metric: '.05' is of all shares, 'diversity=5' of one metric.

    A number alone is no margin of a count (diversity, Hill numbers), which has no greatest value. Raises
    `ExperimentError` for what is neither, and for a margin that no difference could exceed.
    """
    margins: dict[str, float] = {}
    for word in sorted(words, key=lambda word: "=" in word):  # what is said of one metric goes before
        name, named, number = word.rpartition("=")
        if named and name not in metrics:
            raise ExperimentError(f"--equivalent {word}: {name!r} is not compared", remedy=did_you_mean(name, metrics))
        for metric in [name] if named else [metric for metric in metrics if not math.isinf(_range(metric))]:
            margins[metric] = _margin(word, number, _range(metric))
    return margins


def result(row: ComparisonRow) -> str | None:
    """'same within ±margin', 'different' or 'undecided'; None without a difference or a margin."""
    if row.effect is None or row.margin is None:
        return None
    if row.q_beyond is not None and row.q_beyond < LEVEL:
        return f"same within ±{row.margin:g}"
    return DIFFERENT if row.q is not None and row.q < LEVEL else UNDECIDED


def remarks(rows: Sequence[ComparisonRow], margins: Mapping[str, float]) -> list[str]:
    """What a reader of the results must know."""
    if not margins:
        return []
    said = [
        "same within ±margin: q_beyond is below 0.05, by two one-sided tests that the 95 % interval inverts; "
        "different: q is; undecided: neither, and no evidence for the one or the other"
    ]
    without = sorted({row.metric for row in rows} - margins.keys())
    if without:
        said.append(f"no margin for {', '.join(without)}, which has no greatest value: {_REMEDY}")
    return said


def _range(metric: str) -> float:
    _, lowest, highest = METHODS[metric]
    return highest - lowest


def _margin(word: str, number: str, most: float) -> float:
    try:
        margin = float(number)
    except ValueError:
        margin = math.nan
    if not 0 < margin < most:
        limit = "a number above 0" if math.isinf(most) else f"a number between 0 and {most:g}"
        raise ExperimentError(f"--equivalent {word}: the margin is not {limit}", remedy=_REMEDY)
    return margin
