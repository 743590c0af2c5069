"""The command `compare`: reads the sides and prints the result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polyculture.cli.options import Format
from polyculture.cli.tables import print_table, write_rows
from polyculture.console import say
from polyculture.metrics.comparison.compare import Sides
from polyculture.metrics.comparison.lines import Compared, Terms, as_table, lines_of, remarks_of


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
    from polyculture.cache.database import connect

    with connect() as connection:
        write_rows(connection.from_arrow(as_table(lines)), format, output)
