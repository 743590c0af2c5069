"""The command `compare`: prints the result, and ends as the conditions of a pipeline ask."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from polyculture.cache.database import memory_database
from polyculture.cache.errors import ConditionHeldError, StoreError, UntestableError
from polyculture.cli.options import Format
from polyculture.cli.tables import print_table, write_rows
from polyculture.console import say
from polyculture.metrics import MEASURE
from polyculture.metrics.comparison.gate import Condition, Decision
from polyculture.metrics.comparison.reasons import with_remedy
from polyculture.metrics.comparison.table import as_table, lines_of, named, remarks_of
from polyculture.metrics.inference.family import NO_SAMPLING
from polyculture.running.comparing import Compared

_SHOWN = 5
_VERDICTS = {True: "holds", False: "does not hold", None: "untestable"}


def write_comparison(found: Compared, decisions: Sequence[Decision], format: Format, output: Path | None) -> None:
    """Prints the rows with remarks on their interpretation, or writes them as `format`.

    With conditions, a column `fail_if` has what these come to.
    """
    if format is not Format.TABLE or output is not None:
        table = as_table(found.rows)
        if found.conditions:
            verdicts = [
                "; ".join(f"{one.condition}: {_VERDICTS[one.holds]}" for one in decisions if one.row is row)
                for row in found.rows
            ]
            table = table.append_column("fail_if", pa.array(verdicts, pa.string()))
        with memory_database() as connection:
            write_rows(connection.from_arrow(table), format, output)
    else:
        titles = {
            (each.a, each.b): f"a: {_named(each.a, each.of_a)}   b: {_named(each.b, each.of_b)}" for each in found.sides
        }
        for sides, title in titles.items():
            of_pair = [row for row in found.rows if (row.difference.a, row.difference.b) == sides]
            for of_texts in (True, False):
                own = [row for row in of_pair if (row.difference.measure == MEASURE.name) == of_texts]
                if lines := lines_of(own):
                    print_table(list(lines[0]), [list(line.values()) for line in lines], title)
    for remark in remarks_of(found.rows):
        say(remark)


def _named(side: str, values: Sequence[str]) -> str:
    """A side with its values, where it is not one value."""
    return side if not values or tuple(values) == (side,) else f"{side} ({', '.join(values)})"


def tell_decisions(conditions: Sequence[Condition], decisions: Sequence[Decision], allow_untestable: bool) -> None:
    """A line for each condition and row. Raises `ConditionHeldError` where one holds, and `UntestableError` where one
    cannot be tested; `StoreError` for a condition that is asked of no row."""
    for condition in conditions:
        if not any(one.condition is condition for one in decisions):
            what = f"--fail-if '{condition}': the comparison has no row of it"
            raise StoreError(what, remedy="Compare what both sides were asked, or leave this condition out.")
    for one in decisions:
        say(f"fail-if '{one.condition}', {named(one.row.difference)}: {_said(one)}")
    if any(one.q is not None for one in decisions):
        say("q is p adjusted over all tests of this command; a condition holds where it is below 0.05 on its side")
    if held := [one for one in decisions if one.holds]:
        raise ConditionHeldError(f"--fail-if holds: {_listed(held)}")
    untestable = [one for one in decisions if one.holds is None]
    if untestable and not allow_untestable:
        raise UntestableError(f"--fail-if cannot be tested: {_listed(untestable)}; --allow-untestable passes over it")


def _listed(decisions: Sequence[Decision]) -> str:
    shown = "; ".join(f"'{one.condition}' ({named(one.row.difference)})" for one in decisions[:_SHOWN])
    return shown + (f"; and {len(decisions) - _SHOWN} more" if len(decisions) > _SHOWN else "")


def _said(one: Decision) -> str:
    told = one.row.difference
    if one.holds is None:
        return f"untestable: {with_remedy(told.reason or 'no interval')}"
    exact = " exactly" if told.reason == NO_SAMPLING else ""
    interval = "" if told.low is None else f" [{told.low:+.4g}, {told.high:+.4g}]"
    on_its_side = told.difference is not None and one.condition.is_met_by(told.difference)
    q = f", q = {one.q:.2g}" if one.q is not None and on_its_side else ""  # else it is that of the other side
    return f"{_VERDICTS[one.holds]}: {told.difference:+.4g}{exact}{interval}{q}"
