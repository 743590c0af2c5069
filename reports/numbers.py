"""Formats numbers for people. A missing number is None here, and never 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from polyculture.reports.texts import texts

_SPACE = "\u00a0"  # does not break
_COUNTS = ("diversity", "hill_1", "hill_2", "rarefied", "at_coverage")
_SIGNED = ("specificity_gain", "difference")


@dataclass(frozen=True, slots=True)
class FormattedEstimate:
    """A number to print, with its interval; where one is missing, the reason why."""

    value: str | None
    interval: str | None
    missing: str | None
    p: str | None = None  # of a difference
    wordings: str | None = None  # the interval of other wordings and names, where there is one
    thin: str | None = None  # 'n = 6' where it rests on few linked items


def estimate(
    metric: str,
    value: float,
    low: float | None,
    high: float | None,
    p: float | None = None,
    without: str = "no_interval",
) -> FormattedEstimate:
    """A number with its interval; without one, `without` is the key of the reason in `texts().missing`.

    `metric` decides the digits and the sign (see `decimal`); 'difference' is the one for any signed share.
    """
    shown, said = decimal(value, metric), p_value(p)
    low, high = known(low), known(high)
    if low is None or high is None:
        return FormattedEstimate(shown, None, texts().missing[without], said)
    return FormattedEstimate(shown, f"{decimal(low, metric)} to {decimal(high, metric)}", None, said)


def wordings_interval(row: Mapping[str, Any], metric: str) -> str | None:
    """The interval of other wordings and names of a row of `numbers`; None where there is none."""
    low, high = known(row.get("wordings_low")), known(row.get("wordings_high"))
    return None if low is None or high is None else f"{decimal(low, metric)} to {decimal(high, metric)}"


def lacking(reason: str) -> FormattedEstimate:
    """No number; `reason` is a key of `texts().missing`."""
    return FormattedEstimate(None, None, texts().missing[reason])


def known(value: Any) -> Any:
    """The value, or None for the missing values of pandas and numpy."""
    return None if value is None or pd.isna(value) else value


def count(number: float) -> str:
    """1,234"""
    return f"{int(number):,}"


def decimal(value: float, metric: str) -> str:
    """A metric's value: counts with one decimal, shares with two, differences with their sign."""
    return _written(value, 1 if metric in _COUNTS else 2, signed=metric in _SIGNED)


def difference(value: float, metric: str) -> str:
    """A difference of two values of a metric, with its sign."""
    return _written(value, 1 if metric in _COUNTS else 2, signed=True)


def _written(value: float, digits: int, *, signed: bool) -> str:
    rounded = round(value, digits) or 0.0  # no sign before 0
    text = f"{rounded:+,.{digits}f}" if signed and rounded else f"{rounded:,.{digits}f}"
    return text.replace("-", "−")


def p_value(p: float | None, letter: str = "p") -> str | None:
    """p = 0.012; None where there is no p."""
    if p is None or pd.isna(p):
        return None
    said = probability(p)
    return f"{letter} {said}" if said.startswith("<") else f"{letter} = {said}"


def probability(p: float) -> str:
    """0.012; a smaller probability is shown as < 0.001, never as 0.000."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def share(part: float, whole: float) -> str | None:
    """12 %; None where `whole` is 0. Only an exact 0 is shown as 0 %, only an exact 1 as 100 %."""
    if not whole:
        return None
    percent = 100 * part / whole
    if 0 < percent < 1:
        return f"<{_SPACE}1{_SPACE}%"
    if 99 < percent < 100:
        return f">{_SPACE}99{_SPACE}%"
    return f"{percent:.0f}{_SPACE}%"
