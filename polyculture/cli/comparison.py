"""The command `compare`: reads the sides and prints the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from polyculture.cache.database import connect
from polyculture.cache.errors import ConditionHeldError, StoreError, UndecidedError
from polyculture.cli.options import Format
from polyculture.cli.tables import print_table, write_rows
from polyculture.console import say
from polyculture.metrics.comparison.compare import ComparisonRow, Sides
from polyculture.metrics.comparison.conditions import Condition, Decision, Verdict, decide, family
from polyculture.metrics.comparison.lines import Compared, Terms, as_table, lines_of, remarks_of

_WORDS = {Verdict.RULED_OUT: "does not hold", Verdict.UNDECIDED: "not shown, and not ruled out"}


def write_comparison(
    compared: Compared,
    sides: Sequence[Sides],
    terms: Terms,
    format: Format,
    output: Path | None,
    verdicts: Sequence[str] | None = None,
) -> None:
    """Prints the rows with remarks on their interpretation, or writes them as `format`.

    `verdicts`: what the conditions of `--fail-if` come to, a text for each row.
    """
    lines = lines_of(compared, sides, terms)
    if verdicts is not None:
        lines = [{**line, "fail_if": verdict} for line, verdict in zip(lines, verdicts, strict=True)]
    if format is not Format.TABLE or output is not None:
        write_lines(lines, format, output)
    elif lines:
        print_table(list(lines[0]), [list(line.values()) for line in lines], title=_title(sides))
    for remark in remarks_of(sides, [row for _, row in compared], terms):
        say(remark)


def _title(sides: Sequence[Sides]) -> str:
    titles = [f"a: {_named(each.a, each.of_a)}   b: {_named(each.b, each.of_b)}" for each in sides]
    return "\n".join(titles)


def _named(side: str, values: Sequence[str]) -> str:
    """A side with its values, where it is not one value."""
    return side if not values or tuple(values) == (side,) else f"{side} ({', '.join(values)})"


def write_lines(lines: Sequence[dict[str, Any]], format: Format, output: Path | None) -> None:
    """Writes the lines of a comparison as `format`."""
    with connect() as connection:
        write_rows(connection.from_arrow(as_table(lines)), format, output)


def decisions_of(
    conditions: Sequence[Condition], rows: Sequence[ComparisonRow], withheld: Mapping[str, str]
) -> list[Decision]:
    """What each condition comes to. Raises `StoreError` for one whose metric has no number: it would always pass."""
    for condition in conditions:
        if all(row.metric != condition.metric or row.effect is None for row in rows):
            what = f"--fail-if '{condition}': the comparison has no number of {condition.metric}"
            raise StoreError(what, remedy="Compare what both sides were asked, or leave this condition out.")
    everywhere = withheld.get("")
    reasons = {row.metric: everywhere or withheld.get(row.metric, "") for row in rows}
    return decide(conditions, rows, reasons)


def verdicts_of(decisions: Sequence[Decision], rows: Sequence[ComparisonRow]) -> list[str]:
    """The verdicts of each row, for a column of the table."""
    return ["; ".join(f"{one.condition}: {one.verdict}" for one in decisions if one.row is row) for row in rows]


def tell_decisions(
    decisions: Sequence[Decision], conditions: Sequence[Condition], rows: Sequence[ComparisonRow]
) -> None:
    """A line per condition and row, and one of the family."""
    for one in decisions:
        say(f"fail-if {_where(one)}: {_numbers(one)}{_said(one)}")
    tests = len(family(conditions, rows))
    say(
        f"family of these conditions: {tests} tests; q is p adjusted over them (Benjamini and Hochberg), and a "
        "condition holds where q is below 0.05 on its side"
    )


def end_by(decisions: Sequence[Decision], undecided_fails: bool) -> None:
    """Raises `ConditionHeldError` where a condition holds, and `UndecidedError` where that is asked for."""
    held = [one for one in decisions if one.verdict is Verdict.HOLDS]
    if held:
        raise ConditionHeldError(f"--fail-if holds: {_list(held)}")
    opened = [one for one in decisions if one.verdict in (Verdict.UNDECIDED, Verdict.WITHHELD)]
    if opened and undecided_fails:
        raise UndecidedError(f"--fail-if is not decided: {_list(opened)}")


def _list(decisions: Sequence[Decision]) -> str:
    shown = "; ".join(_where(one) for one in decisions[:5])
    return shown + (f"; and {len(decisions) - 5} more" if len(decisions) > 5 else "")


def _where(one: Decision) -> str:
    group = ", ".join(value for value in one.row.group.values() if value)
    return f"'{one.condition}'" + (f" ({group})" if group else "")


def _numbers(one: Decision) -> str:
    effect = one.row.effect
    if effect is None:
        return ""
    interval = "" if effect.low is None else f" [{effect.low:+.4g}, {effect.high:+.4g}]"
    q = "" if one.q is None else f", q = {one.q:.2g}"
    return f"{effect.difference:+.4g}{interval}{q}: "


def _said(one: Decision) -> str:
    words = _WORDS.get(one.verdict, str(one.verdict))
    return f"{words} ({one.reason})" if one.reason else words
