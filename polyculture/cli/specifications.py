"""The command `compare --specifications`: prints a comparison under every way to count."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polyculture.cli.comparison import write_lines
from polyculture.cli.options import Format
from polyculture.cli.tables import print_table
from polyculture.console import say
from polyculture.metrics.comparison.compare import Sides
from polyculture.metrics.comparison.lines import Terms, nothing
from polyculture.metrics.comparison.specifications import Agreement, SpecifiedRow, agreements


def write_specifications(
    sides: Sides, rows: Sequence[SpecifiedRow], terms: Terms, format: Format, output: Path | None
) -> None:
    """Prints the rows, and in how many of them the sign is that of the headline, or writes them as `format`."""
    lines = [_line(row) for row in rows]
    if format is not Format.TABLE or output is not None:
        write_lines(lines, format, output)
    elif lines:
        print_table(list(lines[0]), [list(line.values()) for line in lines], title=f"a: {sides.a}   b: {sides.b}")
    if not lines:
        say(nothing(sides, terms.metrics))
        return
    say(terms.blocks.sampled)
    say("a dash: the metric has no such choice. Pooled numbers have no interval and no p: blocks are no part of them")
    for agreement in agreements(rows):
        say(_sentence(agreement, sides))


def _line(row: SpecifiedRow) -> dict[str, Any]:
    effect, way = row.effect, row.specification
    return {
        "metric": row.metric,
        "condition": row.condition,
        "multiplicity": way.multiplicity,
        "entities": way.entities,
        "denominator": way.denominator,
        "averaging": way.averaging,
        "headline": "yes" if row.headline else "",
        "a": effect and effect.a,
        "b": effect and effect.b,
        "difference": effect and effect.difference,
        "low": effect and effect.low,
        "high": effect and effect.high,
        "p": effect and effect.p,
        "no_interval": effect and effect.no_interval,
    }


def _sentence(found: Agreement, sides: Sides) -> str:
    """granularity: A above B in 11 of 12 specifications, with p < 0.05 in 5 of the 6 that have a p."""
    metric = f"{found.metric}, {found.condition}" if found.condition else found.metric
    order = "above" if found.above else "below"
    equal = f" (equal in {found.equal})" if found.equal else ""
    holds = f"{metric}: {sides.a} {order} {sides.b} in {found.alike} of {found.specifications} specifications{equal}"
    if not found.tested:
        return f"{holds}; none has a p"
    return f"{holds}, with p < 0.05 in {found.significant} of the {found.tested} that have a p"
