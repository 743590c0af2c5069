"""The section's table of arms beside the probe: what controls make of the scores, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polyculture.instruments.probe.arms import CONTROLS, PATCHED, TEXT, missing_controls
from polyculture.reports.names import ordered
from polyculture.reports.numbers import decimal, known

Row = Mapping[str, Any]  # of arms_beside.sql
_NONE = "–"


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its interval; where one is missing, the reason."""

    value: str
    interval: str = ""
    why: str = ""  # there is no interval


@dataclass(frozen=True, slots=True)
class ArmLine:
    """An arm beside the probe. `not_compared` says why there is no number."""

    arm: str
    score: str  # F of the probe and of the arm
    difference: Number
    share: str
    share_difference: Number
    spearman: Number
    similarity: str  # of the arm's items with their questions, mean ± SD; none without an encoder
    not_compared: str


def arm_lines(rows: Sequence[Row], words: Mapping[str, str]) -> tuple[ArmLine, ...]:
    """The arms of one model, language and filter, in the order of `words`."""
    by_arm = {row["arm"]: row for row in rows}
    return tuple(_line(by_arm[arm], words.get(arm, arm)) for arm in ordered(tuple(words), by_arm))


def probe_similarity(rows: Sequence[Row]) -> str:
    """How similar the probe's own items are to their questions, mean ± SD; none without an encoder."""
    return _spread(rows[0], "patched_similarity") if rows else _NONE


def controls_missing(arms: Sequence[str]) -> str:
    """What is to be said of controls that were not run beside a score; empty where all were."""
    missing = missing_controls(arms)
    if len(missing) == len(CONTROLS):
        return "No control was run beside it."
    return f"Controls not run beside it: {', '.join(missing)}." if missing else ""


def _line(row: Row, name: str) -> ArmLine:
    volume = row["arm"] != TEXT  # F grows with it: one text a question is compared by shares alone
    return ArmLine(
        name,
        _two(row, "score", 1),
        _number(row, "difference", 1) if volume else Number(_NONE, why="compare shares"),
        _two(row, "share", 2),
        _number(row, "share_difference", 2),
        _number(row, "spearman", 2),
        _spread(row, "similarity"),
        row["not_compared"] or "",
    )


def _two(row: Row, name: str, digits: int) -> str:
    told = [known(row[one]) for one in (f"{PATCHED}_{name}", name)]
    return " / ".join(_NONE if one is None else f"{one:.{digits}f}" for one in told)


def _number(row: Row, name: str, digits: int) -> Number:
    value, low, high = (known(row[one]) for one in (name, f"{name}_low", f"{name}_high"))
    if value is None:
        return Number(_NONE)
    if low is None or high is None:
        return Number(_signed(value, digits), why=row["no_interval"] or "")
    return Number(_signed(value, digits), f"{_signed(low, digits)} to {_signed(high, digits)}")


def _signed(value: float, digits: int) -> str:
    return decimal(value, "difference") if digits == 2 else f"{value:+.{digits}f}".replace("-", "−")


def _spread(row: Row, name: str) -> str:
    mean, sd = known(row[name]), known(row[f"{name}_sd"])
    return _NONE if mean is None else f"{mean:.2f}" + ("" if sd is None else f" ± {sd:.2f}")
