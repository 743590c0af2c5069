"""Formats numbers for people. A missing number is None here, and never 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from polyculture.metrics.declared import is_count, is_gain
from polyculture.reports.texts import texts

_SPACE = "\u00a0"  # does not break
FEWEST = 10  # linked items, each counted once per response: a share of fewer moves by a tenth and more with each

Row = Mapping[Any, Any]  # of a query or a data frame, by column
Rows = Sequence[Row]


@dataclass(frozen=True, slots=True)
class FormattedEstimate:
    """A number to print, with its interval; where one is missing, the reason why."""

    value: str | None
    interval: str | None
    missing: str | None
    p: str | None = None  # of a difference
    others: str | None = None  # the interval of new prompts like these, where there is one
    cells: str | None = None  # '96 of 120 cells' where others lack some of them, or it does
    thin: str | None = None  # 'n = 6' where it rests on few linked items

    @property
    def says(self) -> str:
        """'0.42, 0.35 to 0.50; new prompts: 0.30 to 0.55; n = 6'"""
        others = f"new prompts: {self.others}" if self.others else None
        return "; ".join(filter(None, (f"{self.value}, {self.interval or self.missing}", others, self.thin)))


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


def estimate_of(row: Row, metric: str = "", *, thin: bool = True) -> FormattedEstimate:
    """The estimate of a row of `numbers` with its interval, and that of new prompts where the row has one.

    `metric` is the row's own unless it is given. Without `thin`, few linked items are not told.
    """
    metric = metric or row["metric"]
    without = known(row.get("no_interval")) or "no_interval"
    found = estimate(metric, row["estimate"], row["low"], row["high"], without=without)
    low, high = known(row.get("wide_low")), known(row.get("wide_high"))
    others = None if low is None or high is None else f"{decimal(low, metric)} to {decimal(high, metric)}"
    return replace(found, others=others, thin=rests_on(row.get("incidences")) if thin else None)


def rests_on(incidences: Any) -> str | None:
    """'n = 6' where a number rests on fewer than `FEWEST` linked items; None where it rests on more, or on unknown."""
    found = known(incidences)
    return f"n = {count(found)}" if found is not None and found < FEWEST else None


def lacking(reason: str) -> FormattedEstimate:
    """No number; `reason` is a key of `texts().missing`."""
    return FormattedEstimate(None, None, texts().missing[reason])


def known(value: Any) -> Any:
    """The value, or None for the missing values of pandas and numpy; without pandas, which takes long to load."""
    try:
        return None if value is None or value != value else value
    except TypeError:  # pandas' NA is neither true nor false
        return None


def count(number: float) -> str:
    """1,234"""
    return f"{int(number):,}"


def decimal(value: float, metric: str, more: int = 0) -> str:
    """A metric's value: counts with one decimal, shares with two, differences with their sign; and `more` decimals."""
    return _written(value, _decimals(metric) + more, signed=metric == "difference" or is_gain(metric))


def difference(value: float, metric: str, more: int = 0) -> str:
    """A difference of two values of a metric, with its sign."""
    return _written(value, _decimals(metric) + more, signed=True)


def more_decimals(metric: str, *values: float) -> int:
    """How many decimals more than usual, at most three, are needed to write none of the values as 0 that is not."""
    least = _decimals(metric)
    return next((more for more in range(3) if all(round(one, least + more) for one in values if one)), 3)


def _decimals(metric: str) -> int:
    return 1 if is_count(metric) else 2


def _written(value: float, digits: int, *, signed: bool) -> str:
    rounded = round(value, digits) or 0.0  # no sign before 0
    text = f"{rounded:+,.{digits}f}" if signed and rounded else f"{rounded:,.{digits}f}"
    return text.replace("-", "−")


def p_value(p: float | None, letter: str = "p") -> str | None:
    """p = 0.012; None where there is no p."""
    if p is None or known(p) is None:
        return None
    said = probability(p)
    return f"{letter} {said}" if said.startswith("<") else f"{letter} = {said}"


def probability(p: float) -> str:
    """0.012; a smaller probability is shown as < 0.001, never as 0.000."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def bound(value: float) -> str:
    """A share that a user has set, as it was written: 5 %, 0.5 %."""
    return f"{100 * value:g} %"


def share_beyond(value: float, most: float) -> str:
    """A share that is above the bound `most`, with as many decimals as show that: 5.3 % above 5 %."""
    digits = next((digits for digits in range(6) if round(100 * value, digits) > 100 * most), 6)
    return f"{100 * value:.{digits}f} %"


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
